"""A gate against a base commit: both measured side by side, in one run."""

import contextlib
import io
import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchforge.cli.console.named_file import loaded
from benchforge.cli.console.say import say
from benchforge.cli.console.signals import INTERRUPTED
from benchforge.cli.measure.gate.command import GateOptions
from benchforge.cli.measure.gate.commits.packages import Packages
from benchforge.cli.measure.gate.commits.repository import BaseCommit, base_commit, older_result
from benchforge.cli.measure.gate.outcome import BASE_BROKEN, Outcome, questions_of, unmeasured
from benchforge.cli.measure.gate.pairs import (
    MARK,
    Design,
    base_label,
    designed,
    gated,
    paired,
    with_claims,
    without_turns,
)
from benchforge.cli.measure.gate.verdict import level, precision
from benchforge.cli.measure.run.run import begin
from benchforge.cli.measure.run.session import RunOptions
from benchforge.cli.plugins.options import suite_in_toml
from benchforge.model.files.folder import HEADER
from benchforge.model.suite.code import Code
from benchforge.parts.registry import Registry
from benchforge.results.conclude import Summed, summed
from benchforge.run.checkout import with_code
from benchforge.run.execute import StopLimits
from benchforge.run.sandbox.host import LocalHost
from benchforge.suite.cases.expand import expand
from benchforge.suite.overrides import layered
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import SuiteErrors
from benchforge.suite.toml.source import read
from benchforge.text.readable import counted

_ANSWER_S = 10.0  # for the working tree to start and answer under load


class GateRequest(NamedTuple):
    """The options of a gate, and their numbers."""

    options: GateOptions
    limit: float
    time_s: float
    "Time that the measurement is planned for."
    most_s: float
    "Time limit of the measurement."


def beside(request: GateRequest, base: str, registry: Registry) -> tuple[Outcome, int]:
    """Measure the working tree beside a commit, or beside the commit that a result recorded.

    Also return the code of a run that was ended.
    """
    options = request.options
    suite = loaded(options.suite, registry, options.profile, only=options.only)
    older = older_result(Path(base), registry) if (Path(base) / HEADER).is_file() else None
    ref = base if older is None else older.commit
    with base_commit(ref, options.suite, suite.gate.irrelevant) as commit:
        formed = _formed(request, suite, commit._replace(older=older), registry)
    design, origins, number, outcome = formed
    for note in outcome.notes:
        say(note)
    if outcome.same or not number:
        return outcome, 0
    began = time.monotonic()
    waivers, limit = suite.gate.allow, request.limit
    judge = partial(questions_of, origins=origins, limit=limit, waivers=waivers, questions=number)
    result, ended = measured(request, registry, request.most_s, _text(design.tables))
    questions = judge(result)
    again = {} if ended else unmeasured(result.summary)
    if again:
        least_s = _ANSWER_S if BASE_BROKEN in again.values() else request.time_s / 3
        left_s = max(least_s, request.most_s - (time.monotonic() - began))
        load = partial(_loaded, options.suite, registry)
        design = with_claims(without_turns(design, again, left_s, load), limit, load)
        for note in design.notes:
            say(note)
        result, ended = measured(request, registry, left_s, _text(design.tables))
        settled = [pair for pair in questions if pair.case.scenario not in again]
        questions = (*settled, *judge(result))
        outcome = outcome._replace(notes=(*outcome.notes, *design.notes))
    return outcome._replace(questions=questions, result=str(result.path)), ended


def measured(
    request: GateRequest, registry: Registry, time_s: float, text: str | None = None
) -> tuple[Summed, int]:
    """Measure a suite, or `text` instead. Return the result, and the code if a signal ended it."""
    folders: list[Path] = []
    options, limits = request.options, StopLimits(time_limit_s=time_s)
    run = RunOptions(registry, limits=limits, lock=options.machine_lock, resumable=text is None)
    if text is None:
        run = replace(run, profile=options.profile, only=options.only)
    with contextlib.redirect_stdout(io.StringIO()):  # its answers are about other questions
        code = begin(options.suite, options.output, run, on_begun=folders.append, text=text)
    (folder,) = folders
    result = summed(folder, registry, with_trials=True)  # what their servers answered
    return result, code if code > INTERRUPTED else 0


def _formed(
    request: GateRequest, suite: Suite, base: BaseCommit, registry: Registry
) -> tuple[Design, dict[str, str], int, Outcome]:
    """Return the suite of a gate, its origins, the number of pairs, and the outcome before any.

    Origins are the scenarios of the suite, by the scenario of the gate.
    """
    options = request.options
    tables = layered(read(options.suite), options.profile, (), registry).tables
    tables = {**tables, "only": [*suite.scenarios]}
    folders, left_out = paired(suite, base)
    notes = (*_lacking(base), *(f"not compared: {reason}" for reason in left_out))
    outcome = Outcome(
        base.in_words, "the working tree", request.limit, level(0), questions=(), notes=notes
    )
    if not folders:
        return Design({}, {}), {}, 0, outcome
    formed, origins = gated(tables, base, folders)
    packages = Packages(suite, base, options.lock)
    formed = packages.given_to(formed, folders)
    load = partial(_loaded, options.suite, registry)
    off, scenarios = {"interleave": "off"}, as_table(formed["scenarios"])
    alone: Tables = {label: {**as_table(table), **off} for label, table in scenarios.items()}
    once = load({**formed, "repeat": {"blocks": 1}, "scenarios": alone})
    questions = sum(1 for _ in expand(once)) // 2
    codes = with_code(once, LocalHost()).code
    heads = [code for code in codes if code.server in folders]
    times = request.time_s, request.most_s
    design = designed(formed, precision(request.limit), times, load)
    design = with_claims(design, request.limit, load)
    outcome = outcome._replace(
        head=heads[0].in_words if heads else "working tree",
        level=level(questions),
        notes=(*notes, *packages.lines, *design.notes),
        same=_same(formed, heads, base),
    )
    return design, origins, questions, outcome


def _loaded(path: Path, registry: Registry, tables: Tables) -> Suite:
    """Read the tables of a gate. Raises SuiteErrors, whose places are of the gate's own suite."""
    try:
        return loaded(path, registry, text=_text(tables))
    except SuiteErrors as error:
        raise error.renamed(str(path), f"{path}, as the gate measures it") from None


def _text(tables: Tables) -> str:
    return f"{MARK}\n{suite_in_toml(tables)}"


def _same(tables: Tables, heads: Sequence[Code], base: BaseCommit) -> bool:
    """Return whether no relevant file differs, and each server has its options of the base."""
    servers = as_table(tables["servers"])
    unchanged = bool(heads) and not base.changed
    return unchanged and all(
        head.changed_files == 0
        and servers[base_label(head.server)]
        == {**as_table(servers[head.server]), "ref": base.commit}
        for head in heads
    )


def _lacking(base: BaseCommit) -> list[str]:
    ref = shlex.quote(base.ref)
    if base.lacks is None:
        unknown = f"it is unknown whether the working tree lacks commits of {base.ref}"
        says = "the clone is shallow; they would count as differences, too"
        return [f"{unknown}: {says}: git fetch --unshallow shows them"]
    if not base.lacks:
        return []
    commits = counted(base.lacks, "commit")
    differs = f"the working tree lacks {commits} of {base.ref}, which count as differences, too"
    return [f'{differs}: rebase, or name --base "$(git merge-base {ref} HEAD)"']
