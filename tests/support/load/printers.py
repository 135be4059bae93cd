"""What each run tool prints of a simulated load, with its own rounding and its own estimators."""

import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from load.queues import Simulated

Number = TypeVar("Number", int, float)


def wrk(run: Simulated) -> str:
    corrected = _corrected(run)
    spread = "".join(f"     {item}%  {_us(_rank(corrected, item))}\n" for item in (50, 75, 90, 99))
    late = f"  Socket errors: connect 0, read 0, write 0, timeout {run.late}\n" if run.late else ""
    failed = f"  Non-2xx or 3xx responses: {run.failed}\n" if run.failed else ""
    return (
        f"{_wrk_head(run, corrected)}  Latency Distribution\n{spread}"
        f"  {_counted(run)}\n{late}{failed}{_rates(run)}"
    )


def _wrk_head(run: Simulated, times: list[float]) -> str:
    mean = "   ".join(map(_us, (_mean(times), _sd(times), max(times, default=0.0))))
    return f"""Running {round(run.setup.duration_s)}s test @ http://127.0.0.1:8080/
  1 threads and {run.setup.connections} connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   {mean}   70.00%
    Req/Sec     1.00k     0.10k     1.10k    70.00%
"""


def _counted(run: Simulated) -> str:
    return f"{run.requests} requests in {run.duration_s:.2f}s, {_bytes(run.bytes)} read"


def _rates(run: Simulated) -> str:
    rate, size = run.requests / run.duration_s, _bytes(run.bytes / run.duration_s)
    return f"Requests/sec: {rate:.2f}\nTransfer/sec: {size}\n"


def _corrected(run: Simulated) -> list[float]:
    """Return the times as wrk has them: it adds those that it thinks are missing."""
    each = run.requests // run.setup.connections
    if not each:
        return run.times
    interval = run.duration_s / each
    times = list(run.times)
    for time in run.times:
        if time > 2 * interval:
            made_up = time - interval
            while made_up > interval:
                times.append(made_up)
                made_up -= interval
    return times


def wrk2(run: Simulated) -> str:
    """Of an open loop: each time counts from when its request was due."""
    rows = "".join(
        f"  {_hdr(_rank(run.times, 100 * share)) * 1e3:10.3f} {share:.12f} "
        f"{math.ceil(share * len(run.times))} {1 / (1 - share):.2f}\n"
        for share in (0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
    )
    top = max(run.times, default=0.0)
    mean, sd = _mean(run.times) * 1e3, _sd(run.times) * 1e3
    return f"""{_wrk_head(run, run.times)}  Latency Distribution (HdrHistogram - Recorded Latency)
  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

{rows}  {_hdr(top) * 1e3:10.3f} 1.000000000000 {len(run.times)} inf
#[Mean    = {mean:.3f}, StdDeviation   = {sd:.3f}]
#[Max     = {top * 1e3:.3f}, Total count    = {len(run.times)}]
#[Buckets =           27, SubBuckets     =         2048]
{"-" * 58}
  {_counted(run)}
{_rates(run)}"""


def ab(run: Simulated) -> str:
    ms = [round(time * 1e3) for time in run.times]
    total = f"{min(ms):5d} {round(_mean(run.times) * 1e3):4d} {_sd(run.times) * 1e3:5.1f} "
    total += f" {round(_rank(run.times, 50) * 1e3):4d} {max(ms):5d}"
    rate = run.requests / run.duration_s
    failed = f"\nNon-2xx responses:      {run.failed}" if run.failed else ""
    ranks = ((item, _rank(ms, item)) for item in (50, 66, 75, 80, 90, 95, 98, 99))
    spread = "".join(f"  {item}%  {rank:5d}\n" for item, rank in ranks)
    return f"""This is ApacheBench, Version 2.3
Server Software:        run
Document Path:          /
Document Length:        {run.setup.body} bytes
Concurrency Level:      {run.setup.connections}
Time taken for tests:   {run.duration_s:.3f} seconds
Complete requests:      {run.requests}
Failed requests:        0{failed}
Total transferred:      {run.bytes} bytes
HTML transferred:       {run.requests * run.setup.body} bytes
Requests per second:    {rate:.2f} [#/sec] (mean)
Time per request:       {run.setup.connections / rate * 1e3:.3f} [ms] (mean)
Transfer rate:          {run.bytes / run.duration_s / 1024:.2f} [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Total:      {total}

Percentage of the requests served within a certain time (ms)
{spread} 100%  {max(ms):5d} (longest request)
"""


def hey(run: Simulated) -> str:
    ranks = ((item, _rank(run.times, item)) for item in (10, 25, 50, 75, 90, 95, 99))
    spread = "".join(f"  {item}%% in {rank:.4f} secs\n" for item, rank in ranks)
    bad = f"  [500]\t{_bad(run)} responses\n" if _bad(run) else ""
    late = f"\nError distribution:\n  [{run.late}]\tGet: Timeout exceeded\n" if run.late else ""
    return f"""
Summary:
  Total:\t{run.duration_s:.4f} secs
  Slowest:\t{max(run.times):.4f} secs
  Fastest:\t{min(run.times):.4f} secs
  Average:\t{_mean(run.times):.4f} secs
  Requests/sec:\t{run.requests / run.duration_s:.4f}

Latency distribution:
{spread}
Status code distribution:
  [200]\t{len(run.times) - _bad(run)} responses
{bad}{late}"""


def oha(run: Simulated) -> str:
    summary = {"successRate": 1.0, "total": run.duration_s, "slowest": max(run.times)}
    summary |= {"fastest": min(run.times), "average": _mean(run.times)}
    summary["requestsPerSec"] = run.requests / run.duration_s
    summary["totalData"] = run.requests * run.setup.body
    percents = (10, 25, 50, 75, 90, 95, 99, 99.9, 99.99)
    bad = {"500": _bad(run)} if _bad(run) else {}
    return json.dumps(
        {
            "summary": summary,
            "latencyPercentiles": {f"p{item:g}": _rank(run.times, item) for item in percents},
            "statusCodeDistribution": {"200": len(run.times) - _bad(run), **bad},
            "errorDistribution": {"timeout": run.late} if run.late else {},
        }
    )


def bombardier(run: Simulated) -> str:
    us = [round(time * 1e6) for time in run.times]
    spec = {"numberOfConnections": run.setup.connections, "url": "http://127.0.0.1:8080/"}
    counts = {"req1xx": 0, "req2xx": run.requests - run.failed, "req3xx": 0, "req4xx": 0}
    counts |= {"req5xx": run.failed, "others": 0, "bytesRead": run.bytes}
    latency: dict[str, object] = {"mean": statistics.fmean(us), "max": max(us)}
    latency["stddev"] = statistics.pstdev(us)
    latency["percentiles"] = {str(item): _rank(us, item) for item in (50, 75, 90, 95, 99)}
    result = {"timeTakenSeconds": run.duration_s, "latency": latency}
    return json.dumps(
        {"spec": {"testDurationSeconds": run.setup.duration_s, **spec}, "result": counts | result}
    )


def vegeta(run: Simulated) -> str:
    """Of an open loop, whose last request ends after the attack."""
    wait = 0.003
    ns = [round(time * 1e9) for time in run.times]
    good = (len(ns) - run.failed) / len(ns)
    latencies = {"total": sum(ns), "mean": round(statistics.fmean(ns)), "max": max(ns)}
    latencies |= {f"{item}th": round(_rank(ns, item) * 1.01) for item in (50, 90, 95, 99)}
    rates = {"rate": len(ns) / run.duration_s, "success": good}
    rates |= {"throughput": good * len(ns) / (run.duration_s + wait), "requests": len(ns)}
    return json.dumps(
        {
            "latencies": {**latencies, "min": min(ns)},
            "bytes_in": {"total": len(ns) * run.setup.body, "mean": run.setup.body},
            "bytes_out": {"total": 0, "mean": 0},
            "duration": round(run.duration_s * 1e9),
            "wait": round(wait * 1e9),
            **rates,
            "status_codes": {"200": len(ns) - run.failed, "500": run.failed},
            "errors": [],
        }
    )


def autocannon(run: Simulated) -> str:
    ms = [math.floor(time * 1e3) for time in run.times]
    mean = round(statistics.fmean(ms), 2)
    latency = {"average": mean, "mean": mean, "stddev": round(statistics.pstdev(ms), 2)}
    latency |= {"min": min(ms), "max": max(ms), "p50": _rank(ms, 50), "p97_5": _rank(ms, 97.5)}
    latency |= {"p99": _rank(ms, 99), "totalCount": len(ms)}
    return json.dumps(
        {
            "url": "http://127.0.0.1:8080/",
            "connections": run.setup.connections,
            "pipelining": run.setup.pipeline,
            "duration": round(run.duration_s, 2),
            "errors": run.late,
            "timeouts": run.late,
            "non2xx": run.failed,
            "latency": latency,
            "requests": {"total": run.requests},
            "throughput": {"total": run.bytes},
        }
    )


def h2load(run: Simulated) -> str:
    rate, per = run.requests / run.duration_s, _bytes(run.bytes / run.duration_s)
    good, total = run.requests - run.failed, run.requests
    spread = (min(run.times), max(run.times), _mean(run.times), _sd(run.times))
    times = "     ".join(map(_us, spread))
    return f"""starting benchmark...
spawning thread #0: {run.setup.connections} total client(s). 1 total requests
Application protocol: h2

finished in {run.duration_s:.2f}s, {rate:.2f} req/s, {per}/s
requests: {total} total, {total} started, {total} done, {good} succeeded, {run.failed} failed, \
0 errored, 0 timeout
status codes: {good} 2xx, 0 3xx, 0 4xx, {run.failed} 5xx
traffic: {_bytes(run.bytes)} ({run.bytes}) total, 1B (1) headers, 1B (1) data
                     min         max         mean         sd        +/- sd
time for request:    {times}    70.00%
"""


def k6(run: Simulated) -> str:
    ms = [time * 1e3 for time in run.times]
    rate = {"count": run.requests, "rate": run.requests / run.duration_s}
    duration = {"avg": statistics.fmean(ms), "min": min(ms), "max": max(ms), "med": _rank(ms, 50)}
    duration |= {f"p({percent})": _rank(ms, percent) for percent in (90, 95)}
    return json.dumps(
        {
            "metrics": {
                "http_reqs": rate,
                "iterations": rate,
                "iteration_duration": {"avg": statistics.fmean(ms)},
                "vus_max": {"value": run.setup.connections},
                "http_req_failed": {"passes": run.failed, "fails": run.requests - run.failed},
                "http_req_duration": duration,
            }
        }
    )


def k6_text(run: Simulated) -> str:
    times = run.times
    trend = (
        f"avg={_go(_mean(times))} min={_go(min(times))} med={_go(_rank(times, 50))} "
        f"max={_go(max(times))} p(90)={_go(_rank(times, 90))} p(95)={_go(_rank(times, 95))}"
    )
    rate = f"{run.requests}   {run.requests / run.duration_s:.6f}/s"
    failed = f"{100 * run.failed / run.requests:.2f}% {run.failed} out of {run.requests}"
    return f"""     http_req_duration..............: {trend}
     http_req_failed................: {failed}
     http_reqs......................: {rate}
     iteration_duration.............: {trend}
     iterations.....................: {rate}
     vus_max........................: {run.setup.connections}   min=1 max=1
"""


def locust(run: Simulated) -> str:
    percents = (50, 66, 75, 80, 90, 95, 98, 99, 99.9, 99.99, 100)
    head = (
        "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,"
        "Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s,"
    )
    head += ",".join(f"{percent:g}%" for percent in percents)

    def row(kind: str, name: str, times: list[float], failed: int) -> str:
        ms = [time * 1e3 for time in times]
        listed = ",".join(str(_two_digits(_rank(ms, percent))) for percent in percents)
        return (
            f"{kind},{name},{len(ms)},{failed},{_two_digits(_rank(ms, 50))},{statistics.fmean(ms)},"
            f"{min(ms)},{max(ms)},{run.setup.body},{len(ms) / run.duration_s},0.0,{listed}"
        )

    half = max(1, len(run.times) // 2)
    first, second = run.times[:half], run.times[half:] or run.times[:1]
    failed = min(run.failed, len(first))
    rows = [row("GET", "/a", first, failed), row("GET", "/b", second, 0)]
    rows.append(row("", "Aggregated", [*first, *second], failed))
    return "\n".join([head, *rows, ""])


def jmeter(run: Simulated) -> str:
    titles = (
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,"
        "failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect"
    )
    began = [1_700_000_000_000] * run.setup.connections
    lines = [titles]
    for number, time in enumerate(run.times):
        thread = number % run.setup.connections
        elapsed = round(time * 1e3)
        bad = number < run.failed
        lines.append(
            f"{began[thread]},{elapsed},home,{500 if bad else 200},OK,Group 1-{thread},text,"
            f"{'false' if bad else 'true'},,{run.setup.body},100,{run.setup.connections},"
            f"{run.setup.connections},http://127.0.0.1/,{elapsed},0,{min(1, elapsed)}"
        )
        began[thread] += elapsed
    return "\n".join([*lines, ""])


def hyperfine(run: Simulated) -> str:
    times = run.times[:20]
    stats = {"mean": statistics.fmean(times), "median": statistics.median(times)}
    stats |= {"user": 0.001, "system": 0.001, "min": min(times), "max": max(times)}
    sd = statistics.stdev(times) if len(times) > 1 else None
    lists = {"times": times, "exit_codes": [0] * len(times)}
    return json.dumps({"results": [{"command": "sleep", "stddev": sd, **stats, **lists}]})


def pytest_benchmark(run: Simulated) -> str:
    times = run.times[:30]
    quarters = statistics.quantiles(times, method="inclusive") if len(times) > 1 else times * 3
    mean = statistics.fmean(times)
    stats = {"min": min(times), "max": max(times), "mean": mean, "stddev": _sd(times)}
    stats |= {"rounds": len(times), "median": statistics.median(times), "q1": quarters[0]}
    stats |= {"q3": quarters[2], "ops": 1 / mean, "total": sum(times), "stddev_outliers": 0}
    stats["ld15iqr"] = min(times)
    names = {"name": "test_it", "fullname": "test.py::test_it"}
    benchmark = names | {"stats": {**stats, "data": times}}
    return json.dumps({"machine_info": {}, "commit_info": {}, "benchmarks": [benchmark]})


def pyperf(run: Simulated) -> str:
    runs = [{"values": run.times[n : n + 3], "metadata": {"loops": 4}} for n in range(0, 30, 3)]
    return json.dumps({"benchmarks": [{"metadata": {"name": "it"}, "runs": runs}]})


_CLOSED = (wrk, ab, hey, oha, bombardier, autocannon, h2load, k6, k6_text, locust, jmeter)
_FEW = (hyperfine, pytest_benchmark, pyperf)
CLOSED = {printer.__name__: printer for printer in (*_CLOSED, *_FEW)}
OPEN: Mapping[str, Callable[[Simulated], str]] = {"wrk2": wrk2, "vegeta": vegeta}
PIPELINES = ("wrk", "autocannon", "h2load")
TIMES_OUT = ("wrk", "hey", "oha", "autocannon")


def _bad(run: Simulated) -> int:
    """Return how many of the answers in time failed: the others have no status."""
    return min(run.failed, len(run.times))


def _mean(times: list[float]) -> float:
    return statistics.fmean(times) if times else 0.0


def _sd(times: list[float]) -> float:
    return statistics.stdev(times) if len(times) > 1 else 0.0


def _rank(times: list[Number], percent: float) -> Number:
    ordered = sorted(times) or [0]
    return ordered[min(len(ordered) - 1, int(percent / 100 * len(ordered)))]


def _scaled(units: Sequence[tuple[str, float]], value: float) -> str:
    """Return a value in the first unit of which it is one or more, or in the last."""
    unit, size = next((item for item in units if value >= item[1]), units[-1])
    return f"{value / size:.2f}{unit}"


_us = partial(_scaled, (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)))
_go = partial(_scaled, (("s", 1.0), ("ms", 1e-3), ("\N{MICRO SIGN}s", 1e-6), ("ns", 1e-9)))
_bytes = partial(_scaled, (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)))


def _hdr(seconds: float) -> float:
    """Return the highest value of the bucket of an HdrHistogram with three digits."""
    us = int(seconds * 1e6)
    width = 1 << max(0, us.bit_length() - 11)
    return (us // width * width + width - 1) / 1e6


def _two_digits(ms: float) -> int:
    full = round(ms)
    return round(full, 2 - len(str(full))) if full >= 100 else full
