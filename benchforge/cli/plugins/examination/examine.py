"""Examination of a part: each question of a run, its answers, and the findings."""

import io
import json
import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from benchforge.cli.plugins.examination import hostile, inputs
from benchforge.cli.plugins.examination.hostile import PartFinding, Read, defect, warning
from benchforge.cli.plugins.examination.inputs import Crashed, PartRefusal, Recording, ask_part
from benchforge.cli.plugins.options import options as options_of
from benchforge.cli.plugins.wanted import made
from benchforge.errors import BenchforgeError
from benchforge.model.trial.reading import Reading
from benchforge.parts.command import Command, Need
from benchforge.parts.fault import in_a_line
from benchforge.parts.part import Driver, Part, RunsPython, Server, Service
from benchforge.parts.reader import Fact, Reader, Row, Source
from benchforge.parts.site import Target
from benchforge.text.readable import amount, exact, listed

WARM_UP_S = (2.0, 60.0)
FEW, MANY = 1, 64


@dataclass
class Examined:
    """Answers of a part, as lines for a person under a title each, and its faults."""

    answers: dict[str, list[str]] = field(default_factory=dict)
    readings: list[Read] = field(default_factory=list)
    findings: list[PartFinding] = field(default_factory=list)

    @property
    def defects(self) -> list[str]:
        """The defects: wrong numbers, and faults that end a run."""
        return [finding.text for finding in self.findings if finding.level == "defect"]


def examine(
    cls: type[Part],
    options: Mapping[str, JsonValue] | None = None,
    recordings: Sequence[Recording] = (),
) -> Examined:
    """Ask a part with these options all questions. Raises Unusable for wrong options."""
    wished = dict(options or {})
    options_ = {**_of_the_first(cls, recordings), **wished}
    part = made(cls, options_)
    notes = Examined(findings=[*_written(cls)])
    try:
        programs = inputs.programs(_needs(part, notes))
    except Crashed as error:
        notes.findings.append(defect(str(error)))
        return notes
    if isinstance(part, Driver):
        _of_driver(part, options_, programs, recordings[:1], notes)
        notes.readings += [_of_recording(part, wished, each, notes) for each in recordings]
    elif isinstance(part, Service):
        _of_service(part, options_, programs, notes)
    elif isinstance(part, Reader):
        for recording in recordings:
            read, faults = read_rows(part, recording)
            notes.readings.append(read)
            notes.findings += faults
    notes.findings[:] = dict.fromkeys(notes.findings)
    return notes


def _of_the_first(cls: type[Part], recordings: Sequence[Recording]) -> dict[str, JsonValue]:
    """Return the required options, as the first recording has them."""
    keys = {field.alias or name for name, field in cls.model_fields.items() if field.is_required()}
    options = recordings[0].options if recordings else {}
    return {name: value for name, value in options.items() if name in keys}


def _written(cls: type[Part]) -> Iterator[PartFinding]:
    """Yield which sentences the lists and pages of parts lack."""
    if not (cls.__doc__ or "").strip() or cls.__doc__ == getattr(cls.__base__, "__doc__", None):
        yield warning(f"{cls.__name__} has no docstring: its first line is in every list")
    if silent := [
        option.name for option in options_of(cls) if not option.doc and option.name not in _OBVIOUS
    ]:
        yield warning(f"options without a sentence below them: {', '.join(silent)}")


_OBVIOUS = ("connections", "duration", "threads", "workers", "users", "backlog")


def _needs(part: Part, notes: Examined) -> list[Any]:
    needs: list[Any] = ask_part("needs()", lambda: list(part.needs()))
    for need in needs:
        if not isinstance(need, Need):
            raise Crashed(f"needs(): {need!r} is no Need")
        if not need.install and not need.debian:
            notes.findings.append(defect(f"need {need.name!r} does not say how to install it"))
    return needs


def _of_driver(
    part: Driver,
    options: dict[str, JsonValue],
    programs: Mapping[str, Path],
    recordings: Sequence[Recording],
    notes: Examined,
) -> None:
    for title, target in inputs.targets(programs).items():
        try:
            inputs.of_driver(part, target)
            asks = _warm(part, WARM_UP_S[0]) if target.phase == "warm-up" else part
            notes.answers[title] = [shown(command) for command in asks.commands(target)]
        except (PartRefusal, Crashed) as error:
            word = "crashed" if (crashes := isinstance(error, Crashed)) else "refused"
            notes.answers[title] = [f"{word}: {error}"]
            if crashes or title == inputs.GET:
                fault = "" if crashes else "it refuses a plain "
                notes.findings.append(defect(f"{fault}{title}: {error}"))
            if title == inputs.GET:
                return
    notes.findings += _times(part, inputs.targets(programs)[inputs.GET])
    notes.findings += _dropped(part, programs)
    plain = inputs.targets(programs)
    recorded = {key: value for recording in recordings for key, value in recording.options.items()}
    notes.findings += hostile.deaf(
        made(type(part), {**recorded, **options}),
        {**recorded, **options},
        lambda variant: _answers(variant, plain, recordings),
        "" if recordings else " that is started; whether it does in what is read, --output shows",
    )
    for count in (FEW, MANY) if "connections" in type(part).model_fields else ():
        changed = made(type(part), {**options, "connections": count})
        try:
            inputs.of_driver(changed, plain[inputs.GET])
        except (Crashed, PartRefusal) as error:
            notes.findings.append(defect(f"connections = {count}: {error}"))


def _times(part: Driver, target: Target) -> Iterator[PartFinding]:
    try:
        seconds = ask_part("declared_s()", lambda: float(part.declared_s()))
        if not 0 < seconds < math.inf:
            yield defect(f"declared_s() is {seconds}: a load takes time, and ends")
        short, long = (inputs.of_driver(_warm(part, item), target) for item in WARM_UP_S)
        if short == long:
            yield warning("for_warm_up() ignores the seconds: every warm-up is the same load")
    except (Crashed, PartRefusal) as error:
        yield defect(str(error))


def _warm(part: Driver, seconds: float) -> Driver:
    warm: object = ask_part("for_warm_up()", lambda: part.for_warm_up(seconds))
    if not isinstance(warm, Driver):
        raise Crashed(f"for_warm_up(): {warm!r} is no load")
    return warm


def _dropped(part: Driver, programs: Mapping[str, Path]) -> Iterator[PartFinding]:
    """Yield which aspects of a target never reach the commands: wrong numbers, where needed."""
    for aspect in inputs.aspects(programs):
        try:
            base, other = (inputs.of_driver(part, each) for each in (aspect.base, aspect.other))
        except (PartRefusal, Crashed):  # a refusal is right; another check reports the crash
            continue
        if base == other:
            finding = defect if aspect.needed else warning
            yield finding(f"it ignores {aspect.name}: neither sent nor refused")


def _answers(
    part: Driver, targets: Mapping[str, Target], runs: Sequence[Recording]
) -> list[object]:
    return [
        _or_error(lambda: list(part.needs())),
        *(_or_error(partial(inputs.of_driver, part, target)) for target in targets.values()),
        *(_or_error(partial(hostile.reading_of, part, run)) for run in runs),
    ]


def _of_recording(
    part: Driver, options: dict[str, JsonValue], recording: Recording, notes: Examined
) -> Read:
    reads = made(type(part), {**recording.options, **options})
    undamaged: Reading | None = None
    refused = ""
    try:
        undamaged = hostile.reading_of(reads, recording)
    except BenchforgeError as error:
        refused = error.message
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code
        refused = in_a_line(error)
        notes.findings.append(defect(f"{recording.name}: read() crashes: {refused}"))
        return Read(recording.name, (), refused)  # each damage of it would say the same
    if (
        undamaged is not None
        and not undamaged.good_at_least <= undamaged.good_at_most <= undamaged.responses
    ):
        notes.findings.append(defect(f"{recording.name}: more good responses than responses"))
    findings, count, refusals = hostile.tried(reads, recording, undamaged)
    notes.findings += findings
    lines = () if undamaged is None else reading_lines(undamaged)
    return Read(recording.name, lines, refused, count, refusals, undamaged)


def _of_service(
    part: Service, options: dict[str, JsonValue], paths: Mapping[str, Path], notes: Examined
) -> None:
    site = inputs.site(part, paths)
    try:
        answer = inputs.of_service(part, site)
        command = part.command(site)
        notes.answers["command"] = [shown(command)] if command else ["none: it already runs"]
        for name in ("template", "prepare", "verify"):
            notes.answers[name] = [f"{says}: {shlex.join(run.argv)}" for says, run in answer[name]]
        notes.answers["ready"] = [answer["ready"]]
        notes.answers["gives"] = [f"{name} = {text}" for name, text in answer["gives"].items()]
        inputs.of_all(part, site)
    except (PartRefusal, Crashed) as error:
        notes.findings.append(defect(str(error)))
        return
    if isinstance(part, Server):
        notes.findings += _unheard(part, paths, answer)
    elif not answer["gives"]:
        notes.findings.append(defect("gives() is empty: no server can find it"))
    notes.findings += hostile.deaf(
        part, options, lambda variant: _or_error(lambda: _service_behaviour(variant, paths))
    )


def _unheard(
    part: Server, programs: Mapping[str, Path], answer: inputs.Answer
) -> Iterator[PartFinding]:
    """Yield what of its place a server ignores: a run would look for it elsewhere."""
    if answer["outside"] or answer["command"] is None:
        return
    site = inputs.site(part, programs)
    others = {
        "its port": (replace(site, ports={n: p + 1000 for n, p in site.ports.items()}), defect),
        "the address to listen on": (replace(site, address="127.0.0.2"), warning),
        "what backends give": (replace(site, backends={}), warning),
    }
    if isinstance(part, RunsPython) and part.starts_python():
        others["the interpreter of its runtime"] = (replace(site, python=Path("/other")), defect)
    started = ("command", "files", "prepare", "template")
    for change, (other, finding) in others.items():
        behind = change in {"its port", "the address to listen on"} and answer["behind_proxy_only"]
        again = _or_error(partial(inputs.of_service, part, other))
        heard = not isinstance(again, dict) or any(again[name] != answer[name] for name in started)
        if not heard and not behind:
            yield finding(f"it ignores {change}: nothing that is started changes with it")


def _service_behaviour(part: Service, programs: Mapping[str, Path]) -> object:
    site = inputs.site(part, {**programs, **inputs.programs(part.needs())})
    return {**inputs.of_all(part, site), **inputs.of_service(part, site)}


def _or_error(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - another answer, which is compared
        return in_a_line(error)


def shown(command: Command) -> str:
    """Return a command as a shell would take it."""
    set_ = [f"{name}={shlex.quote(value)}" for name, value in command.environment.items()]
    fed = [f"< {shlex.quote(str(command.stdin))}"] if command.stdin else []
    return " ".join([*set_, shlex.join(command.argv), *fed])


def reading_lines(reading: Reading) -> tuple[str, ...]:
    """Return the numbers of a reading for a person."""
    times = reading.percentiles_us or {}
    if reading.latency is not None and reading.latency.count:
        quantiles = {"50": 0.5, "99": 0.99}
        times = {name: reading.latency.quantile(q) or 0 for name, q in quantiles.items()}
    errors = ", ".join(f"{count} {name}" for name, count in reading.errors.items() if count)
    latency = ", ".join(f"{amount('us', times[p])} ({p} %)" for p in ("50", "99") if p in times)
    good = reading.bounds
    if not (reading.statuses or reading.bodies or reading.own_requests):
        good = f"at most {reading.good_at_most} good: no statuses, so a run compares their bytes"
    rows = {
        "responses": f"{reading.responses}; {good}",
        "errors": errors or "none",
        "unanswered": reading.unanswered,
        "duration": amount("s", reading.seconds),
        "latency": latency or "unknown",
        "connections": reading.connections,
        "defects": ", ".join(reading.defects) or "none known",
        "claims": json.dumps(reading.printed) if reading.printed else "none",
    }
    return tuple(f"{key:<12} {'unknown' if text is None else text}" for key, text in rows.items())


_UNITS = {"s", "1/s", "B", "B/s", "cores", "1"}
_SHOWN = 12


def read_rows(reader: Reader, recording: Recording) -> tuple[Read, list[PartFinding]]:
    """Return the rows of a recording, and the faults of the reader."""
    findings: list[PartFinding] = []
    lines: list[str] = []
    refused, tries, refusals = "", 0, 0
    contents = {
        file: content
        for file, content in recording.files.items()
        if file not in {inputs.FACTS, inputs.ERR} and content
    }
    for file, content in contents.items():
        head = Source(file, io.BytesIO(content)).head
        if not isinstance(reader.claims(head), bool):
            findings.append(defect(f"{file}: claims() returns no bool"))
        elif not reader.claims(head) and len(contents) == 1:
            findings.append(warning(f"{file}: the reader does not claim it: only --as reads it"))
        try:
            rows = list(reader.rows(Source(file, io.BytesIO(content))))
        except (BenchforgeError, ValueError) as error:
            refused = str(error)
            continue
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code
            refused = in_a_line(error)
            findings.append(defect(f"{recording.name}: {file}: rows() crashes: {refused}"))
            continue
        lines += [line for row in rows[:_SHOWN] for line in _lines(row)]
        findings += [defect(f"{file}: {fault}") for row in rows for fault in _faults(row)]
        for damage, damaged in hostile.damages(content):
            tries += 1
            try:
                list(reader.rows(Source(file, io.BytesIO(damaged))))
            except (BenchforgeError, ValueError):
                refusals += 1
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code
                fault = f"{recording.name}: {file} {damage}: crashes: {in_a_line(error)}"
                findings.append(defect(fault))
    if not lines:
        return Read(recording.name, (), refused or "no rows"), findings
    return Read(recording.name, tuple(lines), "", tries, refusals), findings


def _lines(row: Row) -> Iterator[str]:
    yield f"{row.name} ({row.where or 'no place'})"
    yield "  " + listed((f"{name} {_shown(fact)}" for name, fact in row.facts.items()), 30)


def _shown(fact: Fact) -> str:
    if isinstance(fact.value, str):
        return fact.value
    return exact(fact.value) if fact.unit == "1" else amount(fact.unit, fact.value)


def _faults(row: Row) -> Iterator[str]:
    if not row.name or not row.where:
        yield f"row {row.name or 'without a name'}: it has no {'place' if row.name else 'name'}"
    for name, fact in row.facts.items():
        if isinstance(fact.value, str):
            continue
        if not math.isfinite(fact.value) or not 0 <= fact.resolution < math.inf:
            yield f"row {row.name}: {name} is no finite number"
        if fact.unit not in _UNITS:
            yield f"row {row.name}: {name} has the unit {fact.unit!r}, not {listed(sorted(_UNITS))}"
