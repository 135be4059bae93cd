-- What wrk runs for benchforge: it sets the request, and at the end it writes every latency.
--
-- `request`, `response` and `delay` are not defined on purpose: with any of them wrk calls Lua for
-- each request, and measures that.

local ffi_found, ffi = pcall(require, "ffi")

-- The slow way looks at every value of the range once for each distinct value: some seconds here.
local SLOW_LIMIT = 2e9

local function content(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

-- The request's first line and headers: everybody on the machine can read arguments.
local head = os.getenv("BENCHFORGE_WRK_HEAD")
if head then
  for line in content(head):gmatch("[^\n]+") do
    local name, value = line:match("^([^:%s]+): ?(.*)$")
    if name then
      -- wrk adds a Host of its own unless it finds exactly this spelling.
      wrk.headers[name:lower() == "host" and "Host" or name] = value
    else
      wrk.method, wrk.path = line:match("^(%S+) (.*)$")
    end
  end
end
local body = os.getenv("BENCHFORGE_WRK_BODY")
if body then
  wrk.body = content(body)
elseif wrk.headers["Content-Length"] == "0" then
  wrk.body = "" -- without a body, wrk sends no length
end

-- wrk hands over a pointer to its own counts, of which it lets Lua see one value a call. The
-- layout is that of src/stats.h in wrk 4.0 to 4.2.
local function fast(latency)
  ffi.cdef("typedef struct { uint64_t count, limit, min, max; uint64_t data[]; } wrk_stats;")
  local stats = ffi.cast("wrk_stats **", latency)[0]
  if tonumber(stats.min) ~= latency.min or tonumber(stats.max) ~= latency.max
    or stats.max >= stats.limit then
    return nil
  end
  local found, total = {}, 0
  -- From 0, not from the minimum: the samples that wrk makes up may lie below it.
  for value = 0, tonumber(stats.max) do
    local count = stats.data[value]
    if count ~= 0 then
      found[#found + 1] = string.format("[%d,%.0f]", value, tonumber(count))
      total = total + tonumber(count)
    end
  end
  return total == tonumber(stats.count) and found or nil
end

local function slow(latency)
  local distinct = #latency
  if distinct * latency.max > SLOW_LIMIT then
    return nil
  end
  local found = {}
  for index = 1, distinct do
    local value, count = latency(index)
    found[index] = string.format("[%.0f,%.0f]", value, count)
  end
  return found
end

local function number(name, value)
  return string.format('"%s":%.0f', name, value)
end

local out = os.getenv("BENCHFORGE_WRK_OUT")

local function write(summary, latency, requests)
  local values = ffi_found and fast(latency) or slow(latency)
  local parts = {
    number("duration_us", summary.duration),
    number("requests", summary.requests),
    number("bytes", summary.bytes),
  }
  for _, name in ipairs({ "connect", "read", "write", "status", "timeout" }) do
    parts[#parts + 1] = number(name, summary.errors[name])
  end
  parts[#parts + 1] = string.format('"mean_us":%.3f,"stdev_us":%.3f', latency.mean, latency.stdev)
  if values then
    parts[#parts + 1] = '"latency_us":[' .. table.concat(values, ",") .. "]"
  else
    parts[#parts + 1] = '"error":"this wrk keeps its latencies in another layout"'
  end
  local file = assert(io.open(out, "w"))
  assert(file:write("{", table.concat(parts, ","), "}\n"))
  assert(file:close())
end

if out then -- wrk2 has another histogram, and prints it
  function done(summary, latency, requests)
    write(summary, latency, requests)
  end
end
