"""What each run tool prints of a simulated load, with its own rounding and its own estimators."""

import json
import math
import statistics
from collections.abc import Callable, Mapping

from load.queues import Simulated


def wrk(run: Simulated) -> str:
    corrected = _corrected(run)
    lines = [
        f"Running {_s(run.setup.duration_s)} test @ http://127.0.0.1:8080/",
        f"  1 threads and {run.setup.connections} connections",
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
        _latency(corrected),
        "    Req/Sec     1.00k     0.10k     1.10k    70.00%",
        "  Latency Distribution",
        *(f"     {percent}%  {_us(_rank(corrected, percent))}" for percent in (50, 75, 90, 99)),
        f"  {run.requests} requests in {run.duration_s:.2f}s, {_bytes(run.bytes)} read",
    ]
    if run.late:
        lines.append(f"  Socket errors: connect 0, read 0, write 0, timeout {run.late}")
    if run.failed:
        lines.append(f"  Non-2xx or 3xx responses: {run.failed}")
    lines += [
        f"Requests/sec: {run.requests / run.duration_s:.2f}",
        f"Transfer/sec: {_bytes(run.bytes / run.duration_s)}",
    ]
    return "\n".join(lines) + "\n"


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
    shares = [0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0]
    rows = [
        f"  {_hdr(_rank(run.times, 100 * share)) * 1e3:10.3f} {share:.12f} "
        f"{math.ceil(share * len(run.times))} {1 / (1 - share):.2f}"
        for share in shares[:-1]
    ]
    top = max(run.times, default=0.0)
    rows.append(f"  {_hdr(top) * 1e3:10.3f} 1.000000000000 {len(run.times)} inf")
    return "\n".join(
        [
            f"Running {_s(run.setup.duration_s)} test @ http://127.0.0.1:8080/",
            f"  1 threads and {run.setup.connections} connections",
            "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
            _latency(run.times),
            "    Req/Sec     1.00k     0.10k     1.10k    70.00%",
            "  Latency Distribution (HdrHistogram - Recorded Latency)",
            "  Detailed Percentile spectrum:",
            "       Value   Percentile   TotalCount 1/(1-Percentile)",
            "",
            *rows,
            (
                f"#[Mean    = {_mean(run.times) * 1e3:.3f}, "
                f"StdDeviation   = {_sd(run.times) * 1e3:.3f}]"
            ),
            f"#[Max     = {top * 1e3:.3f}, Total count    = {len(run.times)}]",
            "#[Buckets =           27, SubBuckets     =         2048]",
            "-" * 58,
            f"  {run.requests} requests in {run.duration_s:.2f}s, {_bytes(run.bytes)} read",
            f"Requests/sec: {run.requests / run.duration_s:.2f}",
            f"Transfer/sec: {_bytes(run.bytes / run.duration_s)}",
            "",
        ]
    )


def ab(run: Simulated) -> str:
    ms = [round(time * 1e3) for time in run.times]
    percents = (50, 66, 75, 80, 90, 95, 98, 99)
    total = f"{min(ms):5d} {round(_mean(run.times) * 1e3):4d} {_sd(run.times) * 1e3:5.1f} "
    rate = run.requests / run.duration_s
    return "\n".join(
        [
            "This is ApacheBench, Version 2.3",
            "Server Software:        run",
            "Document Path:          /",
            f"Document Length:        {run.setup.body} bytes",
            f"Concurrency Level:      {run.setup.connections}",
            f"Time taken for tests:   {run.duration_s:.3f} seconds",
            f"Complete requests:      {run.requests}",
            "Failed requests:        0",
            *([f"Non-2xx responses:      {run.failed}"] if run.failed else []),
            f"Total transferred:      {run.bytes} bytes",
            f"HTML transferred:       {run.requests * run.setup.body} bytes",
            f"Requests per second:    {rate:.2f} [#/sec] (mean)",
            f"Time per request:       {run.setup.connections / rate * 1e3:.3f} [ms] (mean)",
            (
                f"Transfer rate:          {run.bytes / run.duration_s / 1024:.2f} "
                "[Kbytes/sec] received"
            ),
            "",
            "Connection Times (ms)",
            "              min  mean[+/-sd] median   max",
            f"Total:      {total} {round(_rank(run.times, 50) * 1e3):4d} {max(ms):5d}",
            "",
            "Percentage of the requests served within a certain time (ms)",
            *(f"  {percent}%  {round(_rank(run.times, percent) * 1e3):5d}" for percent in percents),
            f" 100%  {max(ms):5d} (longest request)",
            "",
        ]
    )


def hey(run: Simulated) -> str:
    percents = (10, 25, 50, 75, 90, 95, 99)
    return "\n".join(
        [
            "",
            "Summary:",
            f"  Total:\t{run.duration_s:.4f} secs",
            f"  Slowest:\t{max(run.times):.4f} secs",
            f"  Fastest:\t{min(run.times):.4f} secs",
            f"  Average:\t{_mean(run.times):.4f} secs",
            f"  Requests/sec:\t{run.requests / run.duration_s:.4f}",
            "",
            "Latency distribution:",
            *(f"  {percent}%% in {_rank(run.times, percent):.4f} secs" for percent in percents),
            "",
            "Status code distribution:",
            f"  [200]\t{len(run.times) - _bad(run)} responses",
            *([f"  [500]\t{_bad(run)} responses"] if _bad(run) else []),
            *(
                ["", "Error distribution:", f"  [{run.late}]\tGet: Timeout exceeded"]
                if run.late
                else []
            ),
            "",
        ]
    )


def oha(run: Simulated) -> str:
    percents = (10, 25, 50, 75, 90, 95, 99, 99.9, 99.99)
    return json.dumps(
        {
            "summary": {
                "successRate": 1.0,
                "total": run.duration_s,
                "slowest": max(run.times),
                "fastest": min(run.times),
                "average": _mean(run.times),
                "requestsPerSec": run.requests / run.duration_s,
                "totalData": run.requests * run.setup.body,
            },
            "latencyPercentiles": {
                f"p{percent:g}": _rank(run.times, percent) for percent in percents
            },
            "statusCodeDistribution": {
                "200": len(run.times) - _bad(run),
                **({"500": _bad(run)} if _bad(run) else {}),
            },
            "errorDistribution": {"timeout": run.late} if run.late else {},
        }
    )


def bombardier(run: Simulated) -> str:
    us = [round(time * 1e6) for time in run.times]
    return json.dumps(
        {
            "spec": {
                "numberOfConnections": run.setup.connections,
                "testDurationSeconds": run.setup.duration_s,
                "url": "http://127.0.0.1:8080/",
            },
            "result": {
                "bytesRead": run.bytes,
                "timeTakenSeconds": run.duration_s,
                "req1xx": 0,
                "req2xx": run.requests - run.failed,
                "req3xx": 0,
                "req4xx": 0,
                "req5xx": run.failed,
                "others": 0,
                "latency": {
                    "mean": statistics.fmean(us),
                    "stddev": statistics.pstdev(us),
                    "max": max(us),
                    "percentiles": {str(item): _rank(us, item) for item in (50, 75, 90, 95, 99)},
                },
            },
        }
    )


def vegeta(run: Simulated) -> str:
    """Of an open loop, whose last request ends after the attack."""
    wait = 0.003
    ns = [round(time * 1e9) for time in run.times]
    good = (len(ns) - run.failed) / len(ns)
    return json.dumps(
        {
            "latencies": {
                "total": sum(ns),
                "mean": round(statistics.fmean(ns)),
                **{f"{item}th": round(_rank(ns, item) * 1.01) for item in (50, 90, 95, 99)},
                "max": max(ns),
                "min": min(ns),
            },
            "bytes_in": {"total": len(ns) * run.setup.body, "mean": run.setup.body},
            "bytes_out": {"total": 0, "mean": 0},
            "duration": round(run.duration_s * 1e9),
            "wait": round(wait * 1e9),
            "requests": len(ns),
            "rate": len(ns) / run.duration_s,
            "throughput": good * len(ns) / (run.duration_s + wait),
            "success": good,
            "status_codes": {"200": len(ns) - run.failed, "500": run.failed},
            "errors": [],
        }
    )


def autocannon(run: Simulated) -> str:
    ms = [math.floor(time * 1e3) for time in run.times]
    return json.dumps(
        {
            "url": "http://127.0.0.1:8080/",
            "connections": run.setup.connections,
            "pipelining": run.setup.pipeline,
            "duration": round(run.duration_s, 2),
            "errors": run.late,
            "timeouts": run.late,
            "non2xx": run.failed,
            "latency": {
                "average": round(statistics.fmean(ms), 2),
                "mean": round(statistics.fmean(ms), 2),
                "stddev": round(statistics.pstdev(ms), 2),
                "min": min(ms),
                "max": max(ms),
                "p50": _rank(ms, 50),
                "p97_5": _rank(ms, 97.5),
                "p99": _rank(ms, 99),
                "totalCount": len(ms),
            },
            "requests": {"total": run.requests},
            "throughput": {"total": run.bytes},
        }
    )


def h2load(run: Simulated) -> str:
    rate, per = (
        f"{run.requests / run.duration_s:.2f}",
        _bytes(run.bytes / run.duration_s),
    )
    good, all_ = run.requests - run.failed, run.requests
    counts = f"{all_} total, {all_} started, {all_} done, {good}"
    output = (
        min(run.times),
        max(run.times),
        _mean(run.times),
        _sd(run.times),
    )
    times = "     ".join(map(_us, output))
    return "\n".join(
        [
            "starting benchmark...",
            f"spawning thread #0: {run.setup.connections} total client(s). 1 total requests",
            "Application protocol: h2",
            "",
            f"finished in {run.duration_s:.2f}s, {rate} req/s, {per}/s",
            f"requests: {counts} succeeded, {run.failed} failed, 0 errored, 0 timeout",
            f"status codes: {run.requests - run.failed} 2xx, 0 3xx, 0 4xx, {run.failed} 5xx",
            f"traffic: {_bytes(run.bytes)} ({run.bytes}) total, 1B (1) headers, 1B (1) data",
            "                     min         max         mean         sd        +/- sd",
            f"time for request:    {times}    70.00%",
            "",
        ]
    )


def k6(run: Simulated) -> str:
    ms = [time * 1e3 for time in run.times]
    return json.dumps(
        {
            "metrics": {
                "http_reqs": {
                    "count": run.requests,
                    "rate": run.requests / run.duration_s,
                },
                "iterations": {
                    "count": run.requests,
                    "rate": run.requests / run.duration_s,
                },
                "iteration_duration": {"avg": statistics.fmean(ms)},
                "vus_max": {"value": run.setup.connections},
                "http_req_failed": {
                    "passes": run.failed,
                    "fails": run.requests - run.failed,
                },
                "http_req_duration": {
                    "avg": statistics.fmean(ms),
                    "min": min(ms),
                    "med": _rank(ms, 50),
                    "max": max(ms),
                    "p(90)": _rank(ms, 90),
                    "p(95)": _rank(ms, 95),
                },
            }
        }
    )


def k6_text(run: Simulated) -> str:
    times = run.times
    trend = (
        f"avg={_go(_mean(times))} min={_go(min(times))} med={_go(_rank(times, 50))} "
        f"max={_go(max(times))} p(90)={_go(_rank(times, 90))} p(95)={_go(_rank(times, 95))}"
    )
    rate = run.requests / run.duration_s
    share = 100 * run.failed / run.requests
    return "\n".join(
        [
            f"     http_req_duration..............: {trend}",
            (
                f"     http_req_failed................: {share:.2f}% "
                f"{run.failed} out of {run.requests}"
            ),
            f"     http_reqs......................: {run.requests}   {rate:.6f}/s",
            f"     iteration_duration.............: {trend}",
            f"     iterations.....................: {run.requests}   {rate:.6f}/s",
            f"     vus_max........................: {run.setup.connections}   min=1 max=1",
            "",
        ]
    )


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
    return json.dumps(
        {
            "results": [
                {
                    "command": "sleep",
                    "mean": statistics.fmean(times),
                    "stddev": statistics.stdev(times) if len(times) > 1 else None,
                    "median": statistics.median(times),
                    "user": 0.001,
                    "system": 0.001,
                    "min": min(times),
                    "max": max(times),
                    "times": times,
                    "exit_codes": [0] * len(times),
                }
            ]
        }
    )


def pytest_benchmark(run: Simulated) -> str:
    times = run.times[:30]
    quarters = statistics.quantiles(times, method="inclusive") if len(times) > 1 else times * 3
    return json.dumps(
        {
            "machine_info": {},
            "commit_info": {},
            "benchmarks": [
                {
                    "name": "test_it",
                    "fullname": "test.py::test_it",
                    "stats": {
                        "min": min(times),
                        "max": max(times),
                        "mean": statistics.fmean(times),
                        "stddev": statistics.stdev(times) if len(times) > 1 else 0,
                        "rounds": len(times),
                        "median": statistics.median(times),
                        "q1": quarters[0],
                        "q3": quarters[2],
                        "ops": 1 / statistics.fmean(times),
                        "total": sum(times),
                        "stddev_outliers": 0,
                        "ld15iqr": min(times),
                        "data": times,
                    },
                }
            ],
        }
    )


def pyperf(run: Simulated) -> str:
    runs = [
        {"values": run.times[index : index + 3], "metadata": {"loops": 4}}
        for index in range(0, 30, 3)
    ]
    return json.dumps({"benchmarks": [{"metadata": {"name": "it"}, "runs": runs}]})


CLOSED: Mapping[str, Callable[[Simulated], str]] = {
    "wrk": wrk,
    "ab": ab,
    "hey": hey,
    "oha": oha,
    "bombardier": bombardier,
    "autocannon": autocannon,
    "h2load": h2load,
    "k6": k6,
    "k6_text": k6_text,
    "locust": locust,
    "jmeter": jmeter,
    "hyperfine": hyperfine,
    "pytest_benchmark": pytest_benchmark,
    "pyperf": pyperf,
}
OPEN: Mapping[str, Callable[[Simulated], str]] = {"wrk2": wrk2, "vegeta": vegeta}
PIPELINES = ("wrk", "autocannon", "h2load")
TIMES_OUT = ("wrk", "hey", "oha", "autocannon")


def _latency(times: list[float]) -> str:
    mean = (_mean(times), _sd(times), max(times, default=0.0))
    return f"    Latency   {'   '.join(map(_us, mean))}   70.00%"


def _bad(run: Simulated) -> int:
    """Return how many of the answers in time failed: the others have no status."""
    return min(run.failed, len(run.times))


def _mean(times: list[float]) -> float:
    return statistics.fmean(times) if times else 0.0


def _sd(times: list[float]) -> float:
    return statistics.stdev(times) if len(times) > 1 else 0.0


def _rank(times: list[float] | list[int], percent: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(percent / 100 * len(ordered)))] if ordered else 0.0


def _us(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.2f}{unit}"
    return f"{seconds * 1e6:.2f}us"


def _go(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("\N{MICRO SIGN}s", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.2f}{unit}"
    return f"{seconds * 1e9:.0f}ns"


def _s(seconds: float) -> str:
    return f"{round(seconds)}s"


def _bytes(count: float) -> str:
    for unit in ("B", "KB", "MB"):
        if count < 1024:
            return f"{count:.2f}{unit}"
        count /= 1024
    return f"{count:.2f}GB"


def _hdr(seconds: float) -> float:
    """Return the highest value of the bucket of an HdrHistogram with three digits."""
    us = int(seconds * 1e6)
    width = 1 << max(0, us.bit_length() - 11)
    return (us // width * width + width - 1) / 1e6


def _two_digits(ms: float) -> int:
    full = round(ms)
    return round(full, 2 - len(str(full))) if full >= 100 else full
