"""What the causes of findings mean to a reader, and what to do: one entry a check.

`brief` is a line of at most 72 characters, `effect` what to think of, `remedy` a line of TOML or a
command. Names in braces are numbers and names that `causes.py` computes over all trials.
"""

from typing import Final, NamedTuple


class Explanation(NamedTuple):
    """The words of one cause."""

    brief: str
    effect: str
    remedy: str = ""


EXPLANATIONS: Final = {
    "D1": Explanation(
        "{servers} ran in a development mode",
        "Such a mode does more for each request: the numbers are not those of a deployed server.",
        "switch debugging off: DEBUG = False, FLASK_DEBUG = 0, without --reload and --debug",
    ),
    "D2": Explanation(
        "{servers} ran below a debugger, profiler or coverage",
        "The instrument is part of each response time.",
        "start it without the instrument",
    ),
    "D3": Explanation(
        "{servers} wrote {range} bytes to logs and files for each request",
        "Writing is part of the work here; a comparison is fair where all write alike.",
        "see server-*.err of a trial; turn that log off for all; SQLite's file is the app's work",
    ),
    "E1": Explanation(
        "{servers}: {range} of the requests failed",
        "An error is usually faster than an answer: throughput and latency flatter the server.",
        "benchforge report --why E1, then fewer connections",
    ),
    "E2": Explanation(
        "some requests of {servers} timed out, or had no answer at the end",
        "They are in no response time, so high percentiles are too low.",
        "a longer duration, or fewer connections",
    ),
    "E3": Explanation(
        "{servers}: answers were not all the same",
        "Servers that answer differently do different work.",
        "benchforge report --why E3",
    ),
    "E4": Explanation(
        "headers or bodies of {servers} differ in size by {range}",
        "Headers are work and traffic: a part of the difference may be theirs.",
        "let all send the same headers; benchforge report --why E4 has their sizes",
    ),
    "I1": Explanation(
        "{servers} used CPU while others had their turn",
        "It worked where no load was put on it: the ratio is not one of rates.",
        'interleave = "off" in this scenario',
    ),
    "I2": Explanation(
        "noise did not meet all servers alike in their turns",
        "A part of the difference may be that of the noise.",
        "blocks = 20, or stop other programs",
    ),
    "I3": Explanation(
        "{servers}: the ends of slices took much of their time",
        "At the end of a slice fewer requests are under way than in the rest of it.",
        "fewer connections, or an interleave twice as long",
    ),
    "I4": Explanation(
        "the place in a round changed how fast servers are",
        "A server is slow after a rest, or feels what another left behind.",
        'interleave = "off" in this scenario',
    ),
    "I5": Explanation(
        "the ratio of two servers drifted from round to round",
        "One of them was warming up, or grew.",
        'repeat.warmup = "2s"',
    ),
    "I6": Explanation(
        "{servers} had no response in whole slices, in {trials}",
        "It stood still in these slices: turns cannot compare that.",
        'interleave = "off" in this scenario',
    ),
    "I8": Explanation(
        "servers in turns have another ratio than one after the other",
        "Freezing changes what they do, such as a timer that counts wall time.",
        'interleave = "off" in this scenario',
    ),
    "K1": Explanation(
        "{servers} closed connections, {others} kept them",
        "Each difference is also the price of opening a connection for each request.",
        'worker_class = "gthread" (gunicorn -k gthread), or keep_alive = false for all',
    ),
    "K2": Explanation(
        "{servers}: the queue of connections was full in {trials}",
        "Some clients waited for seconds; the throughput says nothing of them.",
        "backlog = 2048, or fewer connections",
    ),
    "L1": Explanation(
        "the load tool used {range} of a CPU: it may be the limit",
        "Servers may be faster than the tool that asks them: no difference means nothing.",
        "threads = 2 in [loaders], or fewer connections",
    ),
    "L2": Explanation(
        "the load tool was at {range} of its own highest rate",
        "Servers may be faster than the tool that asks them: ratios are too small.",
        "more threads for the load tool, or a faster one",
    ),
    "M1": Explanation(
        "memory ran short in {trials}: pages came from a disk",
        "Response times hold the time of the disk.",
        "close other programs, or fewer workers",
    ),
    "M2": Explanation(
        "the kernel killed processes for memory in {trials}",
        "What was measured afterwards is another server.",
        "fewer workers, or more memory",
    ),
    "N1": Explanation(
        "others used {range} of the CPUs in {trials}{programs}",
        "The numbers are those of a busy machine.",
        "stop other programs, and run the suite again",
    ),
    "N4": Explanation(
        "the hypervisor took {range} of the CPUs in {trials}",
        "The numbers are those of a machine that others share.",
        "measure on a machine of its own",
    ),
    "N5": Explanation(
        "a CPU quota stopped the trial {range} times",
        "Servers stood still while the quota was used up.",
        "docker run without --cpus, or a larger cpu.max",
    ),
    "N6": Explanation(
        "the machine was at work in the minute before the first trial",
        "Other programs may have gone on. An earlier run that ended just before does no harm.",
        "stop other programs before a run, or wait a minute after another run",
    ),
    "O1": Explanation(
        "{servers} stood still: times of slow requests are too good",
        "A closed loop sends nothing while a server stands still, so that p99 hides it.",
        'use = "pace" with a rate: it counts from when a request was due',
    ),
    "P1": Explanation(
        "the load tool shared CPUs with what it measures ({cpus} CPUs)",
        "Ratios hold for such a machine; rates and times are those of all together.",
        '[placement] with server = "0" and loader = "1", or a machine with more CPUs',
    ),
    "S1": Explanation(
        "{servers} did not settle",
        "The level depends on when one looks.",
        'repeat.warmup = "10s", and a longer duration',
    ),
    "S2": Explanation(
        "few responses beyond {parts} of {scenarios}: {range} a trial",
        "So few responses place a percentile badly; 100 beyond it are wanted.",
        "{longer}",
    ),
    "S3": Explanation(
        "{scenarios}: too few blocks have values of all sides",
        "Below three blocks there is no interval, and below five a wide one.",
        "repeat.blocks = 10",
    ),
    "S4": Explanation(
        "the same server measured twice differs from itself",
        "Something else than the servers makes differences here: no ratio counts.",
        "benchforge doctor, then measure again on a quiet machine",
    ),
    "S6": Explanation(
        "{parts} behaves in two ways",
        "A level between both is one that it rarely has.",
        "benchforge report --why S6",
    ),
    "S7": Explanation(
        "processes of {servers} ended or began in {trials}",
        "It crashed, begins anew after so many requests, or began its workers late.",
        "see its log in trials/; max_requests = 0",
    ),
    "T1": Explanation(
        "the clock of this machine is a slow one",
        "Each look at the clock takes longer: tools that look often are slower.",
        "clocksource=tsc on the kernel's command line",
    ),
    "W1": Explanation(
        "{servers}: workers had unequal work, or their numbers are not alike",
        "A server may be faster than measured, or had more workers than another.",
        "workers and threads in each server, or connections = {more_connections}",
    ),
    "W3": Explanation(
        "{parts} was used up ({range}): the backend was measured",
        "Servers that wait for the same backend cannot differ.",
        "give it CPUs of its own ([placement]), or ask less of it",
    ),
    "W4": Explanation(
        "servers speak to the backend with and without encryption",
        "A part of the difference is that of TLS.",
        "the same sslmode in the URL for all",
    ),
    "quiet": Explanation(
        "others used CPUs just before {trials}",
        "benchforge waited for quiet, and measured all the same.",
        'repeat.quiet = "30s"',
    ),
}
