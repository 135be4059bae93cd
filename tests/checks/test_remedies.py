"""What to do about a finding, typed as it is printed: the suite takes it, and the finding is gone.

Each row plants a fault as a small world: trials that follow from the options of a suite. The
command that the report prints is read by the suite's own reader; then the same world with its
options is asked again. Real programs of some families are in validity/test_validity_remedies.py.
"""

import shlex
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from benchforge_reporters.document.explanations import REMEDIES, remedy
from made import plain, quiet_trial
from made.quiet_trial import LIMITS, header, observation, parts, reading, usage
from made.turns import other_slices, probed_slices, turns
from suite_texts.files import suite_text

from benchforge.checks import ask
from benchforge.checks.statistics.repetitions import of_bridge
from benchforge.checks.statistics.turns import of_comparison as of_turns
from benchforge.checks.statistics.turns import position_effect
from benchforge.cli.console.named_file import loaded
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.summary.cause import FoldedFinding
from benchforge.model.summary.summary import FailedTrial
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Load, Schedule, Series
from benchforge.model.trial.trial import Failure, StartedProcess, Trial
from benchforge.parts.registry import Registry
from benchforge.stats.turns import order


class Run(NamedTuple):
    """Trials of a suite, and what the checks say of them."""

    trials: Sequence[Trial]
    checks: Sequence[Check]


World = Callable[..., Run]
"A run, by the options of its suite."

ONE, KINDS = 'request = { path = "/" }', 'kinds.add = { request = { path = "/" } }'
ENDED = Failure(stage="start", message="it ended")
FAILED = FailedTrial(trial=1, block=1, attempt=1, failure=ENDED)
PROGRAMS = {
    "gunicorn": ("python", "gunicorn_main.py", "--worker-class=sync", "--threads=1"),
    "uwsgi": ("python", "-c", "import pyuwsgi; pyuwsgi.run()", "--http-socket=:1"),
    "waitress": ("python", "waitress_main.py"),
    "pace": ("python", "pace_main.py"),
}
UNTYPED = tomllib.loads(Path(__file__).with_name("untyped.toml").read_text())


def made(server: str = "flask", *, runs: str = "gunicorn", tool: str = "wrk", **more: Any) -> Trial:
    """Return a quiet trial of a server and a load tool, by the programs that they are."""
    names = {f"server-{server}": PROGRAMS[runs], "loader-closed": PROGRAMS.get(tool, (tool, "-c"))}
    fields: dict[str, Any] = {"exit_code": None, "environment": {}}
    started = tuple(
        StartedProcess(label=name, argv=argv, stdout=f"{name}.out", stderr=f"{name}.err", **fields)
        for name, argv in names.items()
    )
    case = plain.named(server, scenario="s", driver="closed")
    return quiet_trial.trial(case=case, processes=started, **more)


def load(connections: int = 16, duration: float = 10, **more: Any) -> Load:
    fields = {"connections": connections, "concurrency": connections, "declared_s": duration}
    return Load.model_validate({"keep_alive": True, **fields, **more})


def checked(trial: Trial) -> Run:
    return Run([trial], ask.of_trial(trial, LIMITS))


def compared(*sides: Sequence[Trial]) -> Run:
    return Run([item for side in sides for item in side], ask.of_comparison(sides, LIMITS))


def session(trial: Trial, ceilings: Sequence[Ceiling] = (), **changed: Any) -> Run:
    result = header().model_copy(update=changed)
    return Run([trial], ask.of_session(result, [trial], LIMITS, ceilings))


def server_of(**used: Any) -> Any:
    return observation(usage=(usage("server-flask", "server", **used), *parts()[1:]))


# --- worlds: the options of a suite, as keywords, to the checks of its run -----------------------


def mode(name: str) -> World:
    right = "production" if name == "NODE_ENV" else ""

    def world(**options: Any) -> Run:
        signs = () if options.get(name) == right else (f"debug: {name}=1",)
        return checked(made(observation=server_of(development_signs=signs, open_files_limit=9999)))

    return world


def queue(threads: int = 4, **_: Any) -> Run:
    printed = 40 * 536_000 if threads < 16 else 0
    line = "WARNING:waitress.queue:Task queue depth is 8"
    observed = server_of(printed_bytes=printed, printed_line=line)
    return checked(made(load=load(), observation=observed))


def errors(connections: int = 16, **_: Any) -> Run:
    bad = 1000 * (connections > 4)
    failing = reading(unanswered=bad, errors={"timeout": bad})
    return checked(made(load=load(connections), reading=failing))


def lengths(kind: str = "") -> World:
    def world(length: Any = None, **_: Any) -> Run:
        bad = 0 if length == "any" else 1000
        mine = {"good_at_least": 536_000 - bad, "good_at_most": 536_000 - bad}
        wrong = reading(**mine, errors={"length": bad})
        kinds = {kind: wrong} if kind else {}
        return checked(made(reading=wrong.model_copy(update={"kinds": kinds})))

    return world


def in_flight(rate: int) -> World:
    def world(duration: str = "1s", connections: int = 16, **_: Any) -> Run:
        seconds = float(duration.rstrip("s"))
        mine = reading(seconds=seconds, latency=Histogram.of({500: int(rate * seconds)}))
        return checked(made(load=load(connections, seconds), reading=mine))

    return world


def asked_alike(requests: Any = None, **_: Any) -> Run:
    path = "/" if requests == {} else "/other"
    return compared([made()], [made("other", request=Request(path=path))])


def measured_anew(*, anew: bool = False, **_: Any) -> Run:
    later = load(options_digest="a" if anew else "b")
    return compared([made(load=load(options_digest="a"))], [made("other", load=later)])


def same_machine(*, anew: bool = False, **_: Any) -> Run:
    trial = made(fingerprint="a" if anew else "b", changed_facts=("governor",))
    return session(trial, fingerprint="a")


def several_starts(duration: str = "10s", **_: Any) -> Run:
    seconds = float(duration.rstrip("s"))
    hosts = {
        label: {"address": "10.0.0.1", "parts": (), "reading": reading(), "started_s": start_s}
        | {"clock_bound_s": 0.0, "clock_moved_s": 0.0, "observation": observation(usage=())}
        for label, start_s in (("a", 0.0), ("b", 0.2))
    }
    trial = made(load=load(duration=seconds), reading=reading(seconds=seconds))
    return checked(Trial.model_validate({**trial.model_dump(), "hosts": hosts}))


def taking_turns(fault: str) -> World:
    """Turns with a fault, which the first of eleven blocks has, and only with turns."""
    steady = turns(*[40] * 20)
    faulty = {
        "idle": steady.model_copy(update={"frozen_cpu_s": 1.0}),
        "empty": turns(*[0] * 10, *[40] * 10),
        "noise": other_slices(steady, foreign_cpu_s=0.04),
        "drift": turns(*range(100, 300, 10)),
        "wait": steady.model_copy(update={"probed": probed_slices(0.01, 0.01)}),
    }[fault]

    def world(interleave: str = "100ms", blocks: int = 1, warmup: str = "", **_: Any) -> Run:
        if interleave == "off":
            return compared([made()], [made("other")])
        took = [steady if warmup else faulty, *[steady] * (blocks - 1)]
        sides = [
            [made(server, turns=item, number=n, block=n) for n, item in enumerate(subject, 1)]
            for server, subject in (("flask", took), ("other", [steady] * blocks))
        ]
        run = compared(*sides)
        return run._replace(checks=[*checked(sides[0][0]).checks, *of_turns(sides, LIMITS)])

    return world


def late_ends(interleave: str = "100ms", **_: Any) -> Run:
    slice_s = float(interleave.removesuffix("ms")) / 1000
    steady = turns(*[200] * 20, slice_s=slice_s)
    slices = (
        replace(slice_, end_s=slice_.start_s + slice_s, drained_s=0.02) for slice_ in steady.slices
    )
    return checked(made(turns=steady.model_copy(update={"slices": tuple(slices)})))


def few_responses(interleave: str = "100ms", **_: Any) -> Run:
    slice_s = float(interleave.removesuffix("ms")) / 1000
    return checked(made(turns=turns(*[int(250 * slice_s)] * 20, slice_s=slice_s)))


def placed(interleave: str = "100ms", **_: Any) -> Run:
    if interleave == "off":
        return Run([], [])
    rates = (2000 + 100 * item.index(0) + n % 3 for n, item in enumerate(order(1, 2, 20)))
    trial = made(turns=turns(*rates, trials=(1, 99), seed=1))
    return Run([trial], [position_effect([trial], LIMITS)])


def bridged(interleave: str = "100ms", **_: Any) -> Run:
    if interleave == "off":
        return Run([], [])
    noise = (1000, 1005, 995, 1000)

    def sides(rate: int) -> list[list[Trial]]:
        rows = {"flask": [rate * item for item in noise], "other": [10**6] * 4}
        return [
            [made(server, block=n, reading=plain.reading(item)) for n, item in enumerate(row, 1)]
            for server, row in rows.items()
        ]

    return Run(sides(1)[0], [*of_bridge(sides(1), sides(2), "s", LIMITS)])


def kept(runs: str, tool: str) -> World:
    """A server that closes: until it is told to keep, or the load is to close all."""

    def world(keep_alive: Any = None, worker_class: str = "sync", **_: Any) -> Run:
        keeps = worker_class == "gthread" or (runs == "uwsgi" and keep_alive is True)
        closing = keep_alive is False
        opened = 17 if keeps else 536_001
        observed = observation(counters={"TcpPassiveOpens": opened, "TcpOutSegs": 9})
        carried = load(keep_alive=not closing)
        return checked(made(runs=runs, tool=tool, load=carried, observation=observed))

    return world


def backlog(connections: int = 16, **_: Any) -> Run:
    counters = {"TcpOutSegs": 9, "TcpExtListenOverflows": max(0, connections - 5)}
    return checked(made(load=load(connections), observation=observation(counters=counters)))


def ports(keep_alive: bool = False, **_: Any) -> Run:
    machine = quiet_trial.machine(time_wait_sockets=16 if keep_alive else 950, ephemeral_ports=1000)
    return checked(made(observation=observation(machine=machine)))


def descriptors(nofile: int = 64, **_: Any) -> Run:
    return checked(made(load=load(), observation=server_of(open_files_limit=nofile)))


def busy_tool(tool: str) -> World:
    def world(use: str = tool, **options: Any) -> Run:
        many = max(options.get("threads", 1), options.get("processes", 1), 2 * (use != tool))
        used = {"loader": {"busiest_thread_cpu_s": 9.9 / many}}
        return checked(made(tool=tool, load=load(), observation=observation(usage=parts(**used))))

    return world


def near(tool: str) -> World:
    def world(use: str = tool, **options: Any) -> Run:
        many = max(options.get("threads", 1), options.get("processes", 1), 2 * (use != tool))
        one = {"tool": tool, "driver_digest": "d"}
        trial = made(**one)
        full = observation(usage=parts(loader={"busiest_thread_cpu_s": 9.9}))
        idle = made(**one, reading=reading(seconds=9.2 / many), observation=full)
        ceiling = Ceiling(number=1, body_bytes=0, processes=1, trial=idle)
        return session(trial, [ceiling], cases=(trial.case,))

    return world


def too_fast(rate: str = "60000/s", **_: Any) -> Run:
    number = float(rate.removesuffix("/s"))
    answered = reading(responses=min(536_000, int(number * 10)))
    return checked(made(load=load(rate=number), reading=answered))


def late(processes: int = 1, **_: Any) -> Run:
    behind = Histogram.of({1000 if processes == 1 else 10: 536_000})
    schedule = Schedule(rate=53_600, intended=536_000, sent=536_000, lateness=behind)
    return checked(made(tool="pace", load=load(rate=53_600), reading=reading(schedule=schedule)))


def stalls(use: str = "wrk", rate: str = "", **_: Any) -> Run:
    times = Histogram.of({280: 500_000, 4_000_000: 4})
    number = float(rate.removesuffix("/s")) if use == "pace" else None
    return checked(made(load=load(rate=number), reading=reading(latency=times)))


def coarse(use: str = "wrk2", **_: Any) -> Run:
    mine = {"percentiles_us": {"50": 2000.0}, "printed": {"uncorrected_p50_us": 500}}
    return checked(made(reading=reading(defects=("wrk2:1ms-timer",) * (use == "wrk2"), **mine)))


def shared(placement: str = "", **_: Any) -> Run:
    return checked(made(placement=quiet_trial.APART if placement == "auto" else None))


def unsettled(warmup: str = "0s", **_: Any) -> Run:
    slow = 0 if warmup == "10s" else 40
    counts = (*(100 + 9 * n for n in range(slow)), *[500] * (100 - slow))
    mine = reading(series=Series(bin_s=0.1, completed=counts, errors=(0,) * 100))
    return compared([made(reading=mine)], [made("other", reading=mine)])


def others_end(quiet: str = "10s", **_: Any) -> Run:
    """Other programs end after 45 s: who waits for as long meets none."""
    says = "others used 50 % of the CPUs just before"
    status: Status = "warn" if float(quiet.rstrip("s")) < 45 else "pass"
    return Run([made()], [LIMITS.check("quiet", "apparatus", 0.5, says, status=status)])


def samples(duration: str = "1s", **_: Any) -> Run:
    seconds = float(duration.rstrip("s"))
    times = Histogram.of({500: int(5000 * seconds)})
    return checked(made(load=load(duration=seconds), reading=reading(latency=times)))


def blocks(blocks: int = 2, **_: Any) -> Run:
    numbers = range(1, blocks + 1)
    return compared([made(block=n) for n in numbers], [made("other", block=n) for n in numbers])


def one_fails(servers: Sequence[str] = ("flask", "other"), **_: Any) -> Run:
    sides = (
        [made(server, block=n) for n in range(1, 11) if server != "other"] for server in servers
    )
    return compared(*sides)


def late_workers(warmup: str = "0s", **_: Any) -> Run:
    begun = 0 if warmup == "10s" else 1
    return checked(made(observation=server_of(new_processes=begun, ended_processes=0)))


def uneven(connections: int = 16, **_: Any) -> Run:
    times = (4.0, 1.0) if connections < 64 else (2.6, 2.4)
    observed = server_of(process_cpu_s=times)
    return checked(made(load=load(connections), workers={"flask": 2}, observation=observed))


def at_work(slept_s: float = 0, **_: Any) -> Run:
    average = [0.0 if slept_s >= 60 else 4.0, 1, 1]
    return session(made(), facts=header(load_average=average).facts)


# --- the rows ------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A remedy, the world in which it helps, and the suite that takes it."""

    remedy: str
    world: World
    server: str = "gunicorn"
    tool: str = "wrk"
    request: str = ONE


TURN = {"I1": "idle", "I2": "noise", "I5": "drift", "I6": "empty", "I9": "wait"}
ROWS = [
    Row("D1.variable", mode("NODE_ENV")),
    Row("D1.variable", mode("FLASK_DEBUG")),
    Row("D3.queue", queue),
    Row("E1", errors),
    Row("E1.length", lengths()),
    Row("E1.kinds", lengths("add"), request=KINDS),
    Row("E2", in_flight(1000)),
    Row("E5", measured_anew),
    Row("E5.unlike", asked_alike),
    Row("G1", same_machine),
    Row("H6", several_starts),
    *(Row(id_, taking_turns(fault)) for id_, fault in TURN.items()),
    Row("I3", late_ends),
    Row("I3", few_responses),
    Row("I4", placed),
    Row("I8", bridged),
    Row("K1", kept("waitress", "wrk"), "waitress"),
    Row("K1.closes", kept("waitress", "ab"), "waitress", "ab"),
    Row("K1.gunicorn", kept("gunicorn", "wrk")),
    Row("K1.uwsgi", kept("uwsgi", "wrk"), "uwsgi"),
    Row("K2", backlog),
    Row("K5", ports, tool="ab"),
    Row("K6", descriptors),
    *(Row(id_, world("ab"), tool="ab") for id_, world in (("L1", busy_tool), ("L2", near))),
    *(
        Row(f"{id_}.threads", world(tool), tool=tool)
        for id_, world in (("L1", busy_tool), ("L2", near))
        for tool in ("wrk", "pace")
    ),
    Row("L4", too_fast, tool="pace"),
    Row("L4.lateness", late, tool="pace"),
    Row("N6", at_work),
    Row("O1", stalls),
    Row("O2", coarse, tool="wrk2"),
    Row("P1", shared),
    Row("S1", unsettled),
    Row("S2", samples),
    Row("S3", blocks),
    Row("S3.others", one_fails),
    Row("S7", late_workers),
    Row("W1", uneven),
    Row("quiet", others_end),
]


def findings(checks: Sequence[Check], id_: str) -> list[FoldedFinding]:
    return [
        FoldedFinding(
            check=check,
            count=1,
            scenario="s" if check.scope == "comparison" else "",
            server="flask",
            values=None if check.value is None else (check.value, check.value),
        )
        for check in checks
        if check.id == id_ and check.status in {"warn", "fail"}
    ]


def printed(row: Row, run: Run) -> str:
    """Return the remedy as a report prints it."""
    id_ = row.remedy.partition(".")[0]
    servers = {trial.case.server for trial in run.trials} | {"other"}
    cases = [
        plain.case(
            plain.named(server, scenario="s", driver="closed"),
            trials=any(trial.case.server == server for trial in run.trials),
            failed=() if row.remedy != "S3.others" or server != "other" else (FAILED,),
        )
        for server in sorted(servers)
    ]
    return remedy(id_, findings(run.checks, id_), plain.summary(*cases), run.trials)


def typed(row: Row, text: str, folder: Path) -> dict[str, Any]:
    """Return the options that a command sets, after the suite's own reader took them."""
    words = shlex.split(text.replace(";", " ; "))
    pairs = [words[n + 1].partition("=") for n, word in enumerate(words) if word == "--set"]
    settings = [(path, value) for path, _, value in pairs]
    tool = 'connections = 16\nduration = "10s"\n'
    suite = suite_text(
        "checks/remedies", server=row.server, tool=row.tool, load=tool, request=row.request
    )
    loaded(folder / "suite.toml", Registry(), settings=settings, text=suite)
    options: dict[str, Any] = {"anew": "run" in words}
    for path, value in settings:
        try:
            read = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            read = value
        options |= read if isinstance(read, dict) and read else {path.rpartition(".")[2]: read}
    if words[0] == "sleep":
        options["slept_s"] = float(words[1])
    if words[0] == "waitress-serve":
        options["threads"] = int(words[1].removeprefix("--threads="))
    return options


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.remedy)
def test_a_printed_remedy_removes_its_finding(row: Row, tmp_path: Path) -> None:
    id_ = row.remedy.partition(".")[0]
    faulty = row.world()
    assert findings(faulty.checks, id_), [check for check in faulty.checks if check.id == id_]
    text = printed(row, faulty)
    begins = ("benchforge run SUITE", "sleep 60; benchforge run SUITE", "waitress-serve")
    assert text.startswith(begins) or "or leave it out: benchforge run SUITE" in text
    assert not findings(row.world(**typed(row, text, tmp_path)).checks, id_), text


def test_each_remedy_is_proved_or_has_a_reason_for_not_being_a_command() -> None:
    assert {row.remedy for row in ROWS} | UNTYPED.keys() == REMEDIES.keys()
    assert not {row.remedy for row in ROWS} & UNTYPED.keys()
    assert 3 * len(UNTYPED) <= len(REMEDIES)
