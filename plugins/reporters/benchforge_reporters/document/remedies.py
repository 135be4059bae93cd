"""What to do about each cause: a command that can be typed as it is printed, where there is one.

`REMEDIES` has a text for each check, and for a variant of its cause, such as E1.length. One that
begins with `--set` becomes the command that measures the suite so: once for each scenario, server
and load tool that it names. Other names in braces are computed over the trials of the cause.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from benchforge.plugin import CaseSummary, FoldedFinding, Summary, Trial, readable
from benchforge_reporters.document.next_step import again, blocks_by_scenario, settings_of_blocks

_FEWER = "--set {loaders}.{loader}.connections={fewer}"
_LONGER = "--set {loaders}.{loader}.duration={longer}s"
_OFF = "--set scenarios.{scenario}.interleave=off"
_PACE = 'use="pace",connections={connections},duration="{seconds}s"'
_PACED = f"--set '{{loaders}}.{{loader}}={{{{{_PACE},rate=\"{{half}}/s\"}}}}'"
_WRK = "--set '{loaders}.{loader}={{"
_WRK += 'use="wrk",connections={connections},duration="{seconds}s"}}\''
_THREADS = "--set {loaders}.{loader}.{threads}"
REMEDIES: Final = {
    "D1": "switch debugging off: DEBUG = False, without --reload and --debug",
    "D1.variable": "--set servers.{server}.environment.{variable}={deployed}",
    "D2": "start it without the instrument, or without importing it",
    "D3": "see server-*.err of a trial; turn that log off for all",
    "D3.queue": "waitress-serve --threads={connections}",
    "E1": _FEWER,
    "E1.length": "--set scenarios.{scenario}.expect.length=any",
    "E1.kinds": "--set scenarios.{scenario}.kinds.{kind}.expect.length=any",
    "E1.status": "correct the app or the request: benchforge report --why E1",
    "E2": _LONGER,
    "E3": "benchforge report --why E3",
    "E4": "let all send the same headers; benchforge report --why E4 has their sizes",
    "E5": "{run}",
    "E5.unlike": "--set 'scenarios.{scenario}.requests={{}}'",
    "G1": "{run}",
    "H6": _LONGER,
    "I1": _OFF,
    "I2": "{blocks}",
    "I3": "--set scenarios.{scenario}.interleave={slice}ms",
    "I4": _OFF,
    "I5": "--set repeat.warmup=2s",
    "I6": _OFF,
    "I8": _OFF,
    "K1": f"--set '{{loaders}}.{{loader}}={{{{{_PACE},keep_alive=false}}}}'",
    "K1.closes": "--set {loaders}.{loader}.keep_alive=false",
    "K1.gunicorn": "--set servers.{server}.worker_class=gthread",
    "K1.uwsgi": "--set servers.{server}.keep_alive=true",
    "K2": _FEWER,
    "K5": "--set {loaders}.{loader}.keep_alive=true",
    "K6": "--set tuning.limits.nofile=65536",
    "L1": _WRK,
    "L1.threads": _THREADS,
    "L2": _WRK,
    "L2.threads": _THREADS,
    "L4": "--set {loaders}.{loader}.rate={slower}/s",
    "L4.lateness": _THREADS,
    "M1": "close other programs, or fewer workers",
    "M2": "fewer workers, or more memory",
    "N1": "stop other programs, and run the suite again",
    "N4": "measure on a machine of its own",
    "N5": "docker run without --cpus, or a larger cpu.max",
    "N6": "sleep 60; {run}",
    "O1": _PACED,
    "O2": _PACED,
    "P1": "--set placement=auto",
    "S1": "--set repeat.warmup=10s",
    "S2": _LONGER,
    "S2.long": "a lower percentile",
    "S3": "{blocks}",
    "S3.failed": "correct what made all trials of {failed} fail: report.md has the reasons",
    "S3.others": "correct what made all trials of {failed} fail, or leave it out: "
    "{run} --set 'scenarios.{scenario}.servers={others}'",
    "S4": "benchforge doctor, then measure again on a quiet machine",
    "S6": "benchforge report --why S6",
    "S7": "--set repeat.warmup=10s",
    "S7.ended": "see its log in trials/; max_requests = 0",
    "T1": "clocksource=tsc on the kernel's command line",
    "W1": "--set {loaders}.{loader}.connections={more}",
    "W1.told": "workers and threads in each server",
    "W3": "give it CPUs of its own ([placement]), or ask less of it",
    "W4": "the same sslmode in the URL for all",
    "quiet": "--set repeat.quiet=60s",
}
_LONG_S = 120  # a load that nobody waits for in each trial
_BLOCKS = {"S3": 10, "I2": 20}
_CLOSERS = {"ab", "hey", "k6", "oha", "siege", "weighttp", "pace_main.py"}
_THREADED = {
    **dict.fromkeys(("h2load", "weighttp", "wrk", "wrk2"), "threads"),
    "pace_main.py": "processes",
}
_WAITS = "Task queue depth is "  # of waitress, for each request that has no thread yet
_MODE = re.compile("debug: ([A-Z_]+)")


def remedy(
    id_: str, roots: Sequence[FoldedFinding], summary: Summary, trials: Sequence[Trial]
) -> str:
    """Return what to do about the cause `id_`; empty where nothing is known to help."""
    scenarios = {one.scenario for one in roots if one.scenario}
    numbers = {number for one in roots for number in one.trials}
    own = [trial for trial in trials if trial.number in numbers]
    own = own or [trial for trial in trials if trial.case.scenario in scenarios or not scenarios]
    cases = [one for one in summary.cases if one.case.scenario in scenarios or not scenarios]
    names = _numbers(id_, roots, own) | {"run": again(summary), **_servers(cases)}
    if id_ in _BLOCKS:
        names["blocks"] = _blocks(id_, roots, [one.case.scenario for one in cases], summary)
    text = REMEDIES.get(f"{id_}.{_variant(id_, roots, own, names)}", REMEDIES.get(id_, ""))
    labels = [one.case for one in own] or [one.case for one in cases]
    texts = dict.fromkeys(
        text.format_map(
            names | {"scenario": one.scenario, "server": one.server, "loader": one.driver}
        )
        for one in labels
    )
    if text.startswith("--set") or (id_ in _BLOCKS and text == REMEDIES[id_]):
        return again(summary, *texts)
    return "; ".join(texts)


def _variant(
    id_: str, roots: Sequence[FoldedFinding], trials: Sequence[Trial], names: dict[str, str]
) -> str:
    """Return which remedy of a check fits."""
    program, server = names["program"], names["words"]
    unlike = len({one.request.model_dump_json() for one in trials}) > 1
    closes = program in _CLOSERS and names["keeps"]
    kept = {"gunicorn": "gunicorn_main --worker-class=sync", "uwsgi": "pyuwsgi --http-socket"}
    keeps = next((of for of, words in kept.items() if all(w in server for w in words.split())), "")
    variants = {
        "D1": "variable" if names["variable"] else "",
        "D3": "queue" if names["waits"] else "",
        "E1": "kinds" if names["class"] == "length" and names["kind"] else names["class"],
        "E2": "long" if float(names["longer"]) > _LONG_S else "",
        "E5": "unlike" if unlike else "",
        "K1": keeps or ("closes" if closes else ""),
        "L1": "threads" if program in _THREADED else "",
        "S3": ("others" if names["others"] != "[]" else "failed") if names["failed"] else "",
        "S7": "ended" if names["ended"] else "",
    }
    variants |= {"L2": variants["L1"], "S2": variants["E2"]}
    return variants.get(id_, next((one.check.component for one in roots), ""))


def _numbers(id_: str, roots: Sequence[FoldedFinding], trials: Sequence[Trial]) -> dict[str, str]:
    """Return what the trials tell: numbers, and what decides about the variant."""
    loads = [one.load for one in trials if one.load is not None]
    readings = [one.reading for one in trials if one.reading is not None]
    seen = [one.observation for one in trials if one.observation is not None]
    usages = [usage for one in seen for usage in one.usage]
    ends = [end for one in roots for end in one.values or ()] or [0.0]
    connections = max((one.connections or 1 for one in loads), default=1)
    seconds = max((one.declared_s for one in loads), default=0.0)
    factor = 100 / min(ends) if id_ == "S2" and min(ends) else 101 * max(ends)
    rate = min((one.responses / one.seconds for one in readings), default=2.0)
    slice_s = max((one.turns.slice_s for one in trials if one.turns), default=0.1)
    few = min(ends) if any(one.check.component == "requests" for one in roots) else 0.0
    signs = (_MODE.match(sign) for one in usages for sign in one.development_signs)
    variable = next((sign[1] for sign in signs if sign), "")
    classes, kinds = Counter[str](), list[str]()
    for reading in readings:
        classes.update(reading.errors)
        kinds += (label for label, of in reading.kinds.items() if of.errors.get("length"))
    tools = [PurePath(word).name for one in trials[:1] for word in _words(one, "loader")[:2]]
    program = next((name for name in tools if not name.startswith("python")), "")
    threads = 2 * max((one.processes or 1 for one in loads), default=1)
    step = 10 if seconds * factor > 10 else 1  # noqa: PLR2004 - seconds
    return {
        "class": next((name for name, count in classes.most_common(1) if count), ""),
        "connections": str(connections),
        "deployed": "production" if variable == "NODE_ENV" else "",
        "ended": "yes" * any(one.ended_processes for one in usages),
        "fewer": str(max(1, connections // 4)),
        "half": str(max(1, int(rate / 2))),
        "keeps": "yes" * any(one.keep_alive for one in loads),
        "kind": next(iter(kinds), ""),
        "loaders": "clients" if any(one.kind == "client" for one in loads) else "loaders",
        "longer": str(step * math.ceil(seconds * factor / step) or 60),
        "more": str(4 * connections),
        "program": program,
        "seconds": str(math.ceil(seconds) or 10),
        "slice": str(math.ceil(1000 * slice_s * max(2.0, 50 / few if few else 0.0))),
        "slower": str(max(1, int(0.9 * rate))),
        "threads": f"{_THREADED.get(program, 'threads')}={threads}",
        "variable": variable,
        "waits": "yes" * any(_WAITS in one.printed_line for one in usages),
        "words": " ".join(word for one in trials[:1] for word in _words(one, "server")),
    }


def _servers(cases: Sequence[CaseSummary]) -> dict[str, str]:
    """Return the servers of which all trials failed, and the others."""
    failed = {one.case.server: None for one in cases if one.failed and not one.trials}
    others = {one.case.server: None for one in cases if one.case.server not in failed}
    return {"failed": readable.conjoined(failed) if failed else "", "others": json.dumps([*others])}


def _blocks(
    id_: str, roots: Sequence[FoldedFinding], scenarios: Sequence[str], summary: Summary
) -> str:
    """Return the settings for as many blocks as are enough, if as many of them count."""
    had, least = blocks_by_scenario(summary), _BLOCKS[id_]
    counted = min((end for one in roots for end in one.values or ()), default=0.0)
    factor = least / counted if id_ == "S3" and counted else 2
    wanted = {one: math.ceil(max(least, had.get(one, 0) * factor)) for one in scenarios}
    return " ".join(settings_of_blocks(wanted, had | wanted, summary))


def _words(trial: Trial, role: str) -> Sequence[str]:
    label = trial.case.server if role == "server" else trial.case.driver
    return next((one.argv for one in trial.processes if one.label == f"{role}-{label}"), ())
