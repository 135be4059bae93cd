"""A duel: its servers and its question to a suite, and the suite to a result."""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from benchforge.cli.console.lock import locked
from benchforge.cli.console.named_file import loaded, write_file
from benchforge.cli.console.reported import Shown
from benchforge.cli.console.say import say, warn
from benchforge.cli.measure.duel.answers import (
    FirstAnswer,
    agreed,
    alike,
    check_programs,
    closing,
    compare,
    first_answers,
)
from benchforge.cli.measure.duel.command import DuelOptions
from benchforge.cli.measure.duel.servers import Contender, check_listening
from benchforge.cli.measure.duel.suite import (
    LEAST_TIME_S,
    Question,
    apart,
    described,
    in_turns,
    latency_plan,
    slice_of,
    suite_or_why,
    tables_of,
    text,
    too_short,
    too_slow,
    why_kept,
    with_latency,
)
from benchforge.cli.measure.run.run import begin
from benchforge.cli.measure.run.session import RunOptions
from benchforge.errors import Unusable
from benchforge.parts.registry import Registry
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.execute import StopLimits
from benchforge.run.locate import locate
from benchforge.suite.plan import START_AND_STOP_S
from benchforge.suite.secrets import secrets_of_suite
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import SuiteErrors
from benchforge.text.readable import counted

_BESIDES_START_S = 1.0  # of a trial: the load tool starts twice, and all end


def duel(contenders: Mapping[str, Contender], question: Question, options: DuelOptions) -> int:
    """Compare the answers of servers, then measure them. Return the exit code of a run.

    Raises Unusable for a file that is not to be overwritten, and what a run raises.
    """
    save, results, lock = options.save, options.output, options.machine_lock
    if save is not None:
        _check(save)
    check_listening([*contenders.values()])
    registry = Registry()
    registry.listen(warn)
    add_path = "add --path /..." if question.path == "/" else "correct --path"
    with (
        _first_suite(contenders, question, registry) as suite,
        locked(lock, lambda _: None),  # the run tells who has it
    ):
        answers = first_answers(suite, add_path, loads=question.time_s >= LEAST_TIME_S)
    difference = compare(answers)
    if difference:
        warn(f"{difference}: compare servers that do the same work")
    else:
        say(alike(answers))
    right, judged = agreed(answers, question.method)
    say(f"answers are judged by {judged}")
    if options.keep_alive is None and (unlike := closing(answers)):
        say(unlike)
        question = replace(question, keep_alive=False)
    starts = (max(START_AND_STOP_S, it.start_s + _BESIDES_START_S) for it in answers.values())
    question = replace(
        question,
        start_s=fmean(starts),
        warm=all(answer.load.warm for answer in answers.values()),
        wrk=locate("wrk") is not None,  # not before: it has no part of a second for a first load
        right=right,
        judged=judged,
    )
    if short := too_short(len(contenders), question):
        warn(short)
    tables = tables_of(contenders, question, Path())
    tables |= (latency := _latency(tables, question, answers) if options.latency else {})
    design = {**latency, **_design(tables, question, answers, registry)}
    load = as_table(as_table({**tables, **design}["loaders"])["load"])
    say(f"load tool: {load['use']}, {counted(question.connections, 'connection')}")

    with _place(save, results, {**tables_of(contenders, question, Path()), **design}) as file:
        content = text({**tables_of(contenders, question, file.parent), **design})
        write_file(file, content, "choose another folder with --save or -o")
        if save is not None:
            say(f"wrote {file}")
        is_saved = file == save or file.parent == results
        limits, output = StopLimits(time_limit_s=question.time_s), Shown(details=options.details)
        run = RunOptions(registry, limits=limits, shown=output, lock=lock, resumable=is_saved)
        return begin(file, results, run)


def _design(
    tables: Tables, question: Question, answers: Mapping[str, FirstAnswer], registry: Registry
) -> Tables:
    """Return the tables that let servers take turns, and say so; none, and why, if they cannot."""
    seconds = {label: answer.seconds for label, answer in answers.items()}
    slice_ms = slice_of(len(seconds), question.connections, max(seconds.values()))
    turns = in_turns(tables, question, slice_ms)
    suite: Suite | str = too_slow(seconds)
    if not suite:
        suite = suite_or_why(
            {**tables, **turns}, lambda tried: loaded(Path("duel.toml"), registry, text=text(tried))
        )
    if isinstance(suite, str):
        say(f"measured one after the other: {suite}")
        return {}
    say("the servers alternate: valid for the ratio, not for requests/s and times")
    cpus = apart(suite)
    if not cpus:
        return turns
    server_cpus = len(cpus["server"])
    few = ": on this machine more workers gain nothing" if server_cpus == 1 else ""
    say(f"each server has {counted(server_cpus, 'CPU')}, and the load tool its own{few}")
    return {**turns, "placement": "auto"}


def _latency(tables: Tables, question: Question, answers: Mapping[str, FirstAnswer]) -> Tables:
    """Return the tables that measure response times at one rate, and say so; or none, and why."""
    if question.rate is not None:  # the duel itself is at one rate
        return {}
    loads = {label: answer.load for label, answer in answers.items()}
    starts_s = {label: answer.start_s for label, answer in answers.items()}
    planned = latency_plan(loads, starts_s, question)
    if isinstance(planned, str):
        say(f"latency is not measured: {planned}")
        return {}
    blocks = counted(planned.blocks, "block")
    say(f"latency: of each server alone at {planned.rate:g}/s, in {blocks}")
    return with_latency(tables, planned)


@contextlib.contextmanager
def _first_suite(
    contenders: Mapping[str, Contender], question: Question, registry: Registry
) -> Iterator[Suite]:
    """Give a suite that asks the servers for their first answers, and that nobody needs afterwards.

    It describes the servers, once their secrets are known. Raises SuiteErrors where the options
    make no suite, and what `check_programs` raises.
    """
    with scratch_folder() as folder:
        file = folder / "duel.toml"
        file.write_text(text(tables_of(contenders, question, folder)))
        try:
            suite = loaded(file, registry)
        except SuiteErrors as error:
            raise error.renamed(str(file), "the suite of this duel") from None
        say("\n".join(described(contenders)))
        check_programs(suite)  # before it waits for another run
        yield suite


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
        reason = why_kept(save.read_text(errors="replace")) if save.exists() else ""
    except OSError as error:
        raise Unusable(f"--save {save}: {error.strerror}", "choose another name") from error
    if reason:
        hint = f"choose another name; to measure the file as it is: benchforge run {save}"
        raise Unusable(f"--save {save}: the file exists, and {reason}", hint)
