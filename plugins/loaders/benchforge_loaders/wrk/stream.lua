-- A mix of requests in wrk: thread number i of k sends the records i, i + k, and so on of a file.
--
-- wrk calls `request` of its first thread once to look at it, and throws that request away: so the
-- first record of this thread is given twice, and taken once.

dofile(os.getenv("BENCHFORGE_WRK_HOOK"))

local ENTRY = 16 -- bytes of an index entry: offset (8), length (4), kind (2), 0 (2)
local threads = {}

function setup(thread)
  thread:set("part", #threads)
  threads[#threads + 1] = thread
end

local own, at = {}, 0
taken, again = 0, 0 -- global: `done` reads them

local looked_at

function init()
  local parts = tonumber(os.getenv("BENCHFORGE_WRK_THREADS"))
  local file = assert(io.open(os.getenv("BENCHFORGE_WRK_INDEX"), "rb"))
  local index = file:read("*a")
  file:close()
  local stream = assert(io.open(os.getenv("BENCHFORGE_WRK_STREAM"), "rb"))
  for number = 0, #index / ENTRY - 1 do
    local a, b, c, d = index:byte(number * ENTRY + 9, number * ENTRY + 12)
    local record = stream:read(a + 256 * (b + 256 * (c + 256 * d)))
    if number % parts == part then
      own[#own + 1] = record
    end
  end
  stream:close()
  looked_at = part ~= 0
end

function request()
  if not looked_at then
    looked_at = true
    return own[1]
  end
  if at == #own then
    at, again = 0, again + 1
  end
  at, taken = at + 1, taken + 1
  return own[at]
end

local counted = done -- wrk2 has none

function done(summary, latency, requests)
  if counted then
    counted(summary, latency, requests)
  end
  local file = assert(io.open(os.getenv("BENCHFORGE_WRK_TAKEN"), "w"))
  for _, thread in ipairs(threads) do
    assert(file:write(string.format("%.0f %.0f\n", thread:get("taken"), thread:get("again"))))
  end
  assert(file:close())
end
