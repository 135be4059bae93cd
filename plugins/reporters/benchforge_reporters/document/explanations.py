"""Briefs, effects and remedies of the causes of findings: an entry a check.

Names in braces are numbers and names of all trials, which `causes.py` computes, and in remedies of
the trials of the cause. E1.length is the remedy of a variant. A remedy that begins with `--set`
becomes the command that measures so: once for each scenario, server and load tool that it names.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from benchforge.plugin import FoldedFinding, Summary, Trial, readable
from benchforge_reporters.document.next_step import again, blocks_by_scenario, settings_of_blocks

BRIEFS: Final = {
    "D1": "{servers} ran in a development mode",
    "D2": "{servers} had a debugger, profiler or coverage loaded",
    "D3": "{servers} wrote {range} bytes to logs and files for each request",
    "E1": "{servers}: {range} of the requests failed",
    "E2": "some requests of {servers} timed out, or had no answer at the end",
    "E3": "{servers}: answers were not all the same",
    "E4": "response headers of {servers} differ{size}",
    "I1": "{servers} used CPU while others had their turn",
    "I2": "noise did not meet all servers alike in their turns",
    "I3": "{servers}: the ends of turns took much of their time",
    "I4": "the place in a round changed how fast servers are",
    "I5": "the ratio of two servers drifted from round to round",
    "I6": "{servers} had no response in whole turns, in {trials}",
    "I8": "alternated servers have another ratio than one after the other",
    "I9": "what {parts} wait for goes on while they are paused",
    "K1": "{servers} closed connections{others}",
    "K2": "{servers}: the queue of connections was full in {trials}",
    "L1": "the load tool used {range} of a CPU: it may be the limit",
    "L2": "the load tool was at {range} of its own highest rate",
    "M1": "memory ran short in {trials}: pages came from a disk",
    "M2": "the kernel killed processes for memory in {trials}",
    "N1": "others used {range} of the CPUs in {trials}{programs}",
    "N4": "the hypervisor took {range} of the CPUs in {trials}",
    "N5": "a CPU quota stopped the trial {range} times",
    "N6": "the machine was at work in the minute before the first trial",
    "O1": "{servers} stood still: times of slow requests are too good",
    "P1": "the load tool shared CPUs with what it measures ({cpus} CPUs)",
    "S1": "{servers} did not settle",
    "S2": "few responses beyond {parts} of {scenarios}: {range} a trial",
    "S3": "{scenarios}: too few rounds have values of all sides",
    "S4": "the same server measured twice differs from itself",
    "S6": "{parts} behaves in two ways",
    "S7": "processes of {servers} ended or began in {trials}",
    "S8": "the ratio of {parts} drifted from round to round",
    "T1": "reading the clock of this machine is slow",
    "W1": "{servers}: workers had unequal work, or their numbers are not alike",
    "W2": "{servers}, {range} busy, waited, maybe for the load tool",
    "W3": "{parts} was used up ({range}): the backend was measured",
    "W4": "servers speak to the backend with and without encryption",
    "W5": "{parts} work on after the load: CPU per response leaves that out",
    "quiet": "others used CPUs just before {trials}",
}
EFFECTS: Final = {
    "D1": "Such a mode does more for each request: the numbers are not those of a deployed server.",
    "D2": "Where it is in use, the instrument is part of each response time.",
    "D3": "Writing is part of the work here; a comparison is fair where all write alike.",
    "E1": "An error is usually faster than an answer: throughput and latency flatter the server.",
    "E2": "No response time includes them, so high percentiles are too low.",
    "E3": "Servers that answer differently do different work.",
    "E4": "Headers are work and traffic: a part of the difference may be theirs.",
    "I1": "It worked without load: the ratio is not that of the rates.",
    "I2": "Noise may be a part of the difference.",
    "I3": "At the end of a slice, fewer requests are in flight than before.",
    "I4": "A server is slow after a rest, or feels what another left behind.",
    "I5": "One of them was warming up, or grew.",
    "I6": "It stood still in these turns: alternation cannot compare that.",
    "I8": "Freezing changes what they do, such as a timer that counts wall time.",
    "I9": "Turns show a rate that is too high: what waited is due at once in the next slice.",
    "K1": "Each difference includes the cost of a new connection for each request.",
    "K2": "Some clients waited for seconds; the throughput does not show that.",
    "L1": "Servers may be faster than the load tool: a missing difference proves nothing.",
    "L2": "Servers may be faster than the load tool: ratios are too small.",
    "M1": "Response times include the time of the disk.",
    "M2": "After that, the trial may have measured another server.",
    "N1": "The numbers are those of a busy machine.",
    "N4": "The numbers are those of a machine that others share.",
    "N5": "Servers stood still while the quota was used up.",
    "N6": "Other programs may have gone on. An earlier run that ended just before does no harm.",
    "O1": "A closed loop sends nothing while a server stands still, so that p99 hides it.",
    "P1": "Ratios hold for such a machine; rates and times are those of all together.",
    "S1": "The level depends on the time of the measurement.",
    "S2": "So few responses give a poor percentile; 100 beyond it are enough.",
    "S3": "Below three rounds there is no interval, and below five a wide one.",
    "S4": "Something else than the servers makes differences here: no ratio counts.",
    "S6": "It rarely has a level between the two.",
    "S7": "It crashed, restarts after a number of requests, or started its workers late.",
    "S8": "Its interval is too narrow: it takes rounds as independent of each other.",
    "T1": "Reading the clock takes longer: tools that read it often are slower.",
    "W1": "A server may be faster than measured, or had more workers than another.",
    "W2": "The rate depends on what it waited for: another load tool may give another ratio.",
    "W3": "Servers that wait for the same backend cannot differ.",
    "W4": "A part of the difference is that of TLS.",
    "W5": "A response costs more CPU time than it took during the load.",
    "quiet": "benchforge waited for quiet, and measured all the same.",
}
_PACE = 'use="pace",connections={connections},duration="{seconds}s"'
_PACED = f"--set '{{loaders}}.{{loader}}={{{{{_PACE},rate=\"{{half}}/s\"}}}}'"
_WRK = "--set '{loaders}.{loader}={{"
_WRK += 'use="wrk",connections={connections},duration="{seconds}s"}}\''
REMEDIES: Final = {
    **dict.fromkeys(("E1", "K2"), "--set {loaders}.{loader}.connections={fewer}"),
    **dict.fromkeys(("E2", "H6", "S2"), "--set {loaders}.{loader}.duration={longer}s"),
    **dict.fromkeys(("E5", "G1"), "{run}"),
    **dict.fromkeys(("I1", "I4", "I6", "I8", "I9"), "--set scenarios.{scenario}.interleave=off"),
    **dict.fromkeys(("I2", "S3"), "{blocks}"),
    **dict.fromkeys(("L1", "L2"), _WRK),
    **dict.fromkeys(
        ("L1.threads", "L2.threads", "L4.lateness"), "--set {loaders}.{loader}.{threads}"
    ),
    **dict.fromkeys(("O1", "O2"), _PACED),
    **dict.fromkeys(("S1", "S7"), "--set repeat.warmup=10s"),
    "D1": "switch debugging off: DEBUG = False, without --reload and --debug",
    "D1.variable": "--set servers.{server}.environment.{variable}={deployed}",
    "D2": "start it without the instrument, or without importing it",
    "D3": "see server-*.err of a trial; turn that log off for all",
    "D3.queue": "waitress-serve --threads={connections}",
    "E1.length": "--set scenarios.{scenario}.expect.length=any",
    "E1.kinds": "--set scenarios.{scenario}.kinds.{kind}.expect.length=any",
    "E1.status": "correct the app or the request: benchforge report --why E1",
    "E3": "benchforge report --why E3",
    "E4": "have all servers send the same headers; benchforge report --why E4",
    "E5.unlike": "--set 'scenarios.{scenario}.requests={{}}'",
    "I3": "--set scenarios.{scenario}.interleave={slice}ms",
    "I5": "--set repeat.warmup=2s",
    "K1": f"--set '{{loaders}}.{{loader}}={{{{{_PACE},keep_alive=false}}}}'",
    "K1.closes": "--set {loaders}.{loader}.keep_alive=false",
    "K1.gunicorn": "--set servers.{server}.worker_class=gthread",
    "K1.uwsgi": "--set servers.{server}.keep_alive=true",
    "K5": "--set {loaders}.{loader}.keep_alive=true",
    "K6": "--set tuning.limits.nofile=65536",
    "L4": "--set {loaders}.{loader}.rate={slower}/s",
    "M1": "close other programs, or fewer workers",
    "M2": "fewer workers, or more memory",
    "N1": "stop other programs, and run the suite again",
    "N4": "measure on a machine of its own",
    "N5": "docker run without --cpus, or a larger cpu.max",
    "N6": "sleep 60; {run}",
    "P1": "--set placement=auto",
    "S2.long": "a lower percentile",
    "S3.failed": "correct what made all trials of {failed} fail: report.md has the reasons",
    "S3.others": "correct what made all trials of {failed} fail, or leave it out: "
    "{run} --set 'scenarios.{scenario}.servers={others}'",
    "S4": "benchforge doctor, then measure again on a quiet machine",
    "S6": "benchforge report --why S6",
    "S7.ended": "see its log in trials/; max_requests = 0",
    "T1": "clocksource=tsc on the kernel's command line",
    "W1": "--set {loaders}.{loader}.connections={more}",
    "W1.told": "workers and threads in each server",
    "W3": "give it CPUs of its own ([placement]), or put less load on it",
    "W4": "the same sslmode in the URL for all",
    "W5": "quote requests/s, or load for as long as the work lasts",
    "quiet": "--set repeat.quiet=60s",
}
_LONG_S = 120  # a load that nobody waits for in each trial
_BLOCKS = {"S3": 10, "I2": 20}
_CLOSERS = {"ab", "hey", "k6", "oha", "siege", "weighttp", "pace_main.py"}
_THREADED: dict[str, str] = dict.fromkeys(("h2load", "weighttp", "wrk", "wrk2"), "threads")
_THREADED["pace_main.py"] = "processes"
_WAITS = "Task queue depth is "  # of waitress, for each request that has no thread yet
_MODE = re.compile("debug: ([A-Z_]+)")


def remedy(
    id_: str, roots: Sequence[FoldedFinding], summary: Summary, trials: Sequence[Trial]
) -> str:
    """Return what to do about the cause `id_`; empty where nothing is known to help."""
    scenarios = {root.scenario for root in roots if root.scenario}
    numbers = {number for root in roots for number in root.trials}
    about = [trial for trial in trials if trial.number in numbers]
    about = about or [each for each in trials if each.case.scenario in scenarios or not scenarios]
    cases = [case for case in summary.cases if case.case.scenario in scenarios or not scenarios]
    failed = {case.case.server: None for case in cases if case.failed and not case.trials}
    others = {case.case.server: None for case in cases if case.case.server not in failed}
    names = _numbers(id_, roots, about) | {"run": again(summary), "others": json.dumps([*others])}
    names["failed"] = readable.conjoined(failed) if failed else ""
    if id_ in _BLOCKS:
        names["blocks"] = _blocks(id_, roots, [case.case.scenario for case in cases], summary)
    text = REMEDIES.get(f"{id_}.{_variant(id_, roots, about, names)}", REMEDIES.get(id_, ""))
    labels = [trial.case for trial in about] or [case.case for case in cases]
    rows = ({"scenario": it.scenario, "server": it.server, "loader": it.driver} for it in labels)
    texts = dict.fromkeys(text.format_map(names | row) for row in rows)
    if text.startswith("--set") or (id_ in _BLOCKS and text == REMEDIES[id_]):
        return again(summary, *texts)
    return "; ".join(texts)


def _variant(
    id_: str, roots: Sequence[FoldedFinding], trials: Sequence[Trial], names: dict[str, str]
) -> str:
    program, servers = names["program"], [{*_words(trial, "server")} for trial in trials]
    unlike = len({trial.request.model_dump_json() for trial in trials}) > 1
    closes = program in _CLOSERS and names["keeps"]
    options = {"gunicorn": {"--worker-class=sync", "--threads=1"}}
    options["uwsgi"] = {"import pyuwsgi; pyuwsgi.run()"}
    fits = (name for name, words in options.items() if all(words <= argv for argv in servers))
    variants = {
        "D1": "variable" if names["variable"] else "",
        "D3": "queue" if names["waits"] else "",
        "E1": "kinds" if names["class"] == "length" and names["kind"] else names["class"],
        "E2": "long" if float(names["longer"]) > _LONG_S else "",
        "E5": "unlike" if unlike else "",
        "K1": (next(fits, "") if servers else "") or ("closes" if closes else ""),
        "L1": "threads" if program in _THREADED else "",
        "S3": ("others" if names["others"] != "[]" else "failed") if names["failed"] else "",
        "S7": "ended" if names["ended"] else "",
    }
    variants |= {"L2": variants["L1"], "S2": variants["E2"]}
    return variants.get(id_, next((root.check.component for root in roots), ""))


def _numbers(id_: str, roots: Sequence[FoldedFinding], trials: Sequence[Trial]) -> dict[str, str]:
    """Return what the trials tell: numbers, and what decides about the variant."""
    loads = [trial.load for trial in trials if trial.load is not None]
    readings = [trial.reading for trial in trials if trial.reading is not None]
    observed = [trial.observation for trial in trials if trial.observation is not None]
    usages = [usage for item in observed for usage in item.usage]
    ends = [end for root in roots for end in root.values or ()] or [0.0]
    connections = max((load.connections or 1 for load in loads), default=1)
    seconds = max((load.declared_s for load in loads), default=0.0)
    factor = 100 / min(ends) if id_ == "S2" and min(ends) else 101 * max(ends)
    rate = min((reading.responses / reading.seconds for reading in readings), default=2.0)
    slice_s = max((trial.turns.slice_s for trial in trials if trial.turns), default=0.1)
    few = min(ends) if any(root.check.component == "requests" for root in roots) else 0.0
    signs = (_MODE.match(sign) for usage in usages for sign in usage.development_signs)
    variable = next((sign[1] for sign in signs if sign), "")
    classes, kinds = Counter[str](), list[str]()
    for reading in readings:
        classes.update(reading.errors)
        kinds += (label for label, part in reading.kinds.items() if part.errors.get("length"))
    argvs = {(*_words(trial, "loader")[:2],) for trial in trials}
    tools = {PurePath(word).name for argv in argvs for word in argv}
    programs = [name for name in tools if name in _CLOSERS or name in _THREADED]
    program = programs[0] if len(programs) == 1 else ""
    threads = 2 * max((load.processes or 1 for load in loads), default=1)
    step = 10 if seconds * factor > 10 else 1  # noqa: PLR2004 - seconds
    return {
        "class": next((name for name, count in classes.most_common(1) if count), ""),
        "connections": str(connections),
        "deployed": "production" if variable == "NODE_ENV" else "",
        "ended": "yes" * any(usage.ended_processes for usage in usages),
        "fewer": str(max(1, connections // 4)),
        "half": str(max(1, int(rate / 2))),
        "keeps": "yes" * any(load.keep_alive for load in loads),
        "kind": next(iter(kinds), ""),
        "loaders": "clients" if any(load.kind == "client" for load in loads) else "loaders",
        "longer": str(step * math.ceil(seconds * factor / step) or 60),
        "more": str(4 * connections),
        "program": program,
        "seconds": str(math.ceil(seconds) or 10),
        "slice": str(math.ceil(1000 * slice_s * max(2.0, 50 / few if few else 0.0))),
        "slower": str(max(1, int(0.9 * rate))),
        "threads": f"{_THREADED.get(program, 'threads')}={threads}",
        "variable": variable,
        "waits": "yes" * any(_WAITS in usage.printed_line for usage in usages),
    }


def _blocks(
    id_: str, roots: Sequence[FoldedFinding], scenarios: Sequence[str], summary: Summary
) -> str:
    """Return the settings for as many blocks as are enough, if as many of them count."""
    had, least = blocks_by_scenario(summary), _BLOCKS[id_]
    counted = min((end for root in roots for end in root.values or ()), default=0.0)
    factor = least / counted if id_ == "S3" and counted else 2
    wanted = {item: math.ceil(max(least, had.get(item, 0) * factor)) for item in scenarios}
    return " ".join(settings_of_blocks(wanted, had | wanted, summary))


def _words(trial: Trial, role: str) -> Sequence[str]:
    label = trial.case.server if role == "server" else trial.case.driver
    return next((item.argv for item in trial.processes if item.label == f"{role}-{label}"), ())
