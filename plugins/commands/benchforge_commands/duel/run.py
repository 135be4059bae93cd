"""`benchforge duel`: commands and URLs to a suite, and the suite to a result."""

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic_core import PydanticCustomError

from benchforge.cli.loaded import loaded
from benchforge.cli.measure.inputs import RunOptions
from benchforge.cli.measure.lock import Lock, locked
from benchforge.cli.measure.run import begin
from benchforge.cli.screen.say import say, warn
from benchforge.errors import CannotKeep, Unusable
from benchforge.graph import START_AND_STOP_S
from benchforge.model.values.units import Rate
from benchforge.registry import Registry
from benchforge.run.disk.result_writer import whole
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.execute import StopLimits
from benchforge.run.locate import locate
from benchforge.suite.secrets.telling import secrets_of_suite
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import SuiteErrors
from benchforge.text.readable import counted
from benchforge_commands.duel.answers import (
    FirstAnswer,
    agreed,
    alike,
    check_programs,
    closing,
    compare,
    first_answers,
)
from benchforge_commands.duel.servers import Contender, check_listening, contender, labelled, passed
from benchforge_commands.duel.suite import (
    Question,
    described,
    tables_of,
    text,
    too_short,
    why_kept,
)
from benchforge_commands.duel.time_option import duration, plain
from benchforge_commands.duel.turns import apart, in_turns, slice_of, suite_or_why, too_slow

_FEWEST = 2
_BESIDES_START_S = 1.0  # of a trial: the load tool starts twice, and all end


@dataclass(frozen=True)
class DuelOptions:
    """The options of the command line."""

    path: str | None
    headers: tuple[str, ...]
    body: str | None
    method: str | None
    connections: int
    rate: str | None
    keep_alive: bool | None
    time_limit: str
    expect_status: int
    backends: tuple[str, ...]
    variables: tuple[str, ...]
    labels: tuple[str, ...]
    save: Path | None
    output: Path | None
    machine_lock: Lock


def main(servers: tuple[str, ...], **words: Any) -> int:
    """Compare the answers of the servers, then measure them. Return the exit code of a run."""
    if len(servers) < _FEWEST:
        hint = "give two commands or URLs, each in quotes; to measure one server, write a suite"
        raise Unusable(f"duel: only one server: {servers[0]!r}", hint)
    options = DuelOptions(**words)
    variables = passed(options.variables)
    contenders = labelled([contender(one, variables) for one in servers], options.labels)
    time_s = duration(options.time_limit)
    body, rate, save = options.body, options.rate, options.save
    lock = options.machine_lock
    question = Question(
        method=options.method or ("GET" if body is None else "POST"),
        path=_path(options.path, contenders),
        headers=dict(map(_header, options.headers)),
        body=body,
        status=options.expect_status,
        connections=options.connections,
        rate=None if rate is None else _rate(rate),
        keep_alive=options.keep_alive is not False,
        backends=_backends(options.backends),
        time_s=time_s,
    )
    results = options.output or Path("results")
    wrk = locate("wrk") is not None

    right: Tables = {}
    judged_by = ""

    def suite_in(folder: Path) -> Tables:
        return tables_of(contenders, question, folder, wrk=wrk, right=right, judged=judged_by)

    if save is not None:
        _check(save)
    check_listening([*contenders.values()])
    registry = Registry()
    registry.listen(warn)
    add_path = "add --path /..." if question.path == "/" else "correct --path"
    answers = _answers(suite_in, described(contenders), registry, add_path, lock)
    difference = compare(answers)
    if difference:
        warn(f"{difference}: compare servers that do the same work")
    else:
        say(alike(answers))
    right, judged_by = agreed(answers, question.method)
    say(f"answers are judged by {judged_by}")
    if options.keep_alive is None and (unlike := closing(answers)):
        say(unlike)
        question = replace(question, keep_alive=False)
    question = replace(question, start_s=_start_s(answers))
    if short := too_short(len(contenders), question):
        warn(short)
    tables = suite_in(Path())
    design = _design(tables, question, answers, registry)
    load = as_table(as_table({**tables, **design}["loaders"])["load"])
    say(f"load tool: {load['use']}, {counted(question.connections, 'connection')}")

    def designed_in(folder: Path) -> Tables:
        return {**suite_in(folder), **design}

    with _place(save, results, designed_in(Path())) as file:
        _write(file, text(designed_in(file.parent)))
        if save is not None:
            say(f"wrote {file}")
        kept = file == save or file.parent == results
        limits = StopLimits(time_limit_s=time_s)
        run_options = RunOptions(registry, limits=limits, lock=lock, resumable=kept)
        return begin(file, results, run_options)


def _design(
    tables: Tables,
    question: Question,
    answers: Mapping[str, FirstAnswer],
    registry: Registry,
) -> Tables:
    """Return the tables that let servers take turns, and say so; none, and why, if they cannot."""
    seconds = {label: one.seconds for label, one in answers.items()}
    slice_ms = slice_of(len(seconds), question.connections, max(seconds.values()))
    turns = in_turns(tables, question.time_s, slice_ms, question.start_s)
    suite: Suite | str = too_slow(seconds)
    if not suite:
        suite = suite_or_why(
            {**tables, **turns},
            lambda tried: loaded(Path("duel.toml"), registry, text=text(tried)),
        )
    if isinstance(suite, str):
        say(f"measured one after the other: {suite}")
        return {}
    say("measured in turns: valid for the ratio, not for requests/s and times")
    cpus = apart(suite)
    if not cpus:
        return turns
    own = len(cpus["server"])
    few = ": on this machine more workers gain nothing" if own == 1 else ""
    say(f"each server has {counted(own, 'CPU')}, and the load tool its own{few}")
    return {**turns, "placement": "auto"}


def _start_s(answers: Mapping[str, FirstAnswer]) -> float:
    """Return the time to start and stop a server, in seconds: by its first start."""
    times = [max(START_AND_STOP_S, one.start_s + _BESIDES_START_S) for one in answers.values()]
    return fmean(times)


def _answers(
    suite_in: Callable[..., Tables],
    lines: Sequence[str],
    registry: Registry,
    add_path: str,
    lock: Lock,
) -> dict[str, FirstAnswer]:
    """Return the first answers of the servers, by a suite that nobody needs afterwards.

    `lines` describe the servers; they are printed once the secrets of the suite are known.

    Raises SuiteErrors where the options make no suite, and what `first_answers` raises.
    """
    with scratch_folder() as folder:
        file = folder / "duel.toml"
        file.write_text(text(suite_in(folder)))
        try:
            suite = loaded(file, registry)
        except SuiteErrors as error:
            faults = [
                replace(one, where=one.where.replace(str(file), "the suite of this duel"))
                for one in error.faults
            ]
            raise SuiteErrors(faults) from None
        say("\n".join(lines))
        check_programs(suite)  # before it waits for another run
        with locked(lock):
            return first_answers(suite, add_path)


@contextlib.contextmanager
def _place(save: Path | None, results: Path, tables: Tables) -> Iterator[Path]:
    """Give the file of the suite: beside the results, so that --resume finds it.

    A suite with a secret is in no folder that somebody may publish: it goes with the run.
    """
    if save is not None:
        yield save
    elif list(secrets_of_suite(tables)):
        say("the duel has a secret: its suite is not kept, and --resume needs it; see --save")
        with scratch_folder() as folder:
            yield folder / "duel.toml"
    else:
        digest = hashlib.sha256(text(tables).encode()).hexdigest()[:8]
        yield results / f"duel-{digest}.toml"


def _check(save: Path) -> None:
    """Raise Unusable for what is no name of a suite, or a file that duel did not write as it is."""
    if save.suffix != ".toml":
        raise Unusable(f"--save {save}: not the name of a suite", "end it with .toml")
    try:
        why = why_kept(save.read_text(errors="replace")) if save.exists() else ""
    except OSError as error:
        raise Unusable(f"--save {save}: {error.strerror}", "choose another name") from error
    if why:
        hint = f"choose another name; to measure the file as it is: benchforge run {save}"
        raise Unusable(f"--save {save}: the file exists, and {why}", hint)


def _write(file: Path, content: str) -> None:
    """Write the suite. Raises CannotKeep where that fails."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        whole(file.parent, file.name, content)
    except OSError as error:
        reason = f"{error.filename or file}: cannot be written: {error.strerror}"
        raise CannotKeep(reason, "choose another folder with --save or -o") from error


def _path(given: str | None, servers: Mapping[str, Contender]) -> str:
    """Return the path of the request: the given one, or that of all URLs."""
    paths = {one.path for one in servers.values() if one.path not in {None, "/"}}
    if given is not None:
        for server in servers.values():
            if server.path not in {None, "/", given}:
                hint = "write the path once: in --path, or in each URL"
                raise Unusable(f"{server.given}: --path {given} is another path", hint)
        return given if given.startswith("/") else f"/{given}"
    if len(paths) > 1:
        hint = "all servers of a duel get the same request: write its path in --path"
        raise Unusable(f"the URLs have different paths: {', '.join(sorted(map(str, paths)))}", hint)
    return next(iter(paths), None) or "/"


def _header(given: str) -> tuple[str, str]:
    name, colon, value = given.partition(":")
    if not colon or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
        # It may be a secret, and nothing tells which part of it.
        message = f"--header: {len(given)} characters that are no header"
        raise Unusable(message, 'write it like "Accept: text/html"')
    return name, value.strip()


def _backends(given: Sequence[str]) -> dict[str, str | None]:
    backends: dict[str, str | None] = {}
    for backend in given:
        kind, colon, dataset = backend.partition(":")
        if kind in backends:
            raise Unusable(f"--backend {backend}: a second {kind}", "write a suite for two")
        if colon and not dataset:
            raise Unusable(f"--backend {backend}: no dataset", "write it like postgresql:agents")
        if "/" in dataset and not Path(dataset, "dataset.toml").is_file():
            hint = "it is a folder with the files of the tables, and a dataset.toml with its name, "
            hint += "its rows, and its files in their order"
            raise Unusable(f"--backend {backend}: no dataset.toml in it", hint)
        backends[kind] = dataset or None
    return backends


def _rate(given: str) -> str:
    try:
        number = Rate.parse(float(given) if plain(given) else given)
    except PydanticCustomError:
        number = Rate(0)
    if number <= 0:
        raise Unusable(f"--rate {given}: not a rate", 'write it like "500/s" or "2k/s"')
    return f"{number}/s"
