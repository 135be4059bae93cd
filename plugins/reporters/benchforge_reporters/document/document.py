"""The content of a result, in the order in which a reader needs it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import ref

from benchforge.plugin import CaseSummary, ConcurrencySweep, FailedTrial, Summary, Trial, readable
from benchforge.plugin.drawing import Quoted
from benchforge_reporters.document.answers import ComparisonAnswer, answers, quoted
from benchforge_reporters.document.causes import CauseTexts, Quotable, cause_texts, quotable
from benchforge_reporters.document.claims import ClaimLine, claim_lines, intervals_note, tally
from benchforge_reporters.document.levels import Levels, latency_rows, levels
from benchforge_reporters.document.next_step import launches, next_step, seconds_of
from benchforge_reporters.document.over_time import LoadOverTime, loads_over_time, stages_of
from benchforge_reporters.document.overview import Overview, overview
from benchforge_reporters.raw import block_row, first_commands, trial_folder
from benchforge_reporters.text import words
from benchforge_reporters.text.pivots import pivot_table
from benchforge_reporters.text.search import table_of, trials_of
from benchforge_reporters.text.standings import pairs, standings, sweeps
from benchforge_reporters.text.tables import Table, kind_table, not_reached, scenarios
from benchforge_reporters.text.words import of_all

MOST_TRIALS = 500
"Trials of a scenario that have a row: a page of all of them would be too long to open."


@dataclass(frozen=True)
class Section:
    """A scenario: its tables, ranks, failures, and what was found."""

    scenario: str
    title: str
    cases: tuple[CaseSummary, ...]
    request: str
    sought: tuple[str, ...]
    table: Table
    kinds: Table | None
    "Kinds of a mix, a row each; None for one request."
    flows: tuple[str, ...]
    "Steps that some flows did not reach, a sentence each."
    trials: Table
    "The first trials, a row each."
    left_out: str
    "Number of trials that have no row, in words; empty if all have one."
    levels: tuple[Levels, ...]
    ranks: tuple[str, ...]
    pairs: tuple[str, ...]
    sweeps: tuple[str, ...]
    curves: tuple[ConcurrencySweep, ...]
    failures: tuple[tuple[str, FailedTrial], ...]
    stages: tuple[str, ...]
    over_time: tuple[LoadOverTime, ...]
    "Stages of loads whose rate changes, a sentence each."
    under_load: tuple[str, ...]
    "Proof of the load's answers, for each case."
    estimators: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class SuiteTable:
    """A table that the suite draws."""

    label: str
    title: str
    content: str
    table: Table
    row_heads: int
    "Number of columns that name a row."


@dataclass(frozen=True)
class ResultDocument:
    """What a result says."""

    heading: str
    title: str
    origin: str
    "Amount that was measured, and the machine, in one line."
    scope: str
    "Scope of the intervals; empty if there are none."
    setting: tuple[str, ...]
    "Set-up of the run, where a suite says it: placement, tuning, interpreters, code."
    smoke: bool
    alarms: tuple[str, ...]
    overview: Overview | None
    "Overview of a result with many claims or comparisons; None for others."
    answers: tuple[ComparisonAnswer, ...]
    quoted: tuple[Quoted, ...]
    "Comparisons with their headlines."
    latencies: dict[str, str]
    "Response times at one rate, a sentence by the label of the scenario that measured them."
    claims: tuple[ClaimLine, ...]
    tally: tuple[str, ...]
    causes: CauseTexts
    quotable: Quotable
    "Part of the answers that a reader may quote."
    tables: tuple[SuiteTable, ...]
    sections: tuple[Section, ...]
    whole: tuple[str, ...]
    "Findings of comparisons and of the whole result."
    made: tuple[tuple[str, str], ...]
    "Facts of the measurement: names and values."
    reading: tuple[str, str]
    "Meaning of a cell, and order of the servers."
    commands: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]
    folders: tuple[str, str] | None
    "Folders of the first and the last trial; None without trials."
    next_step: str
    "Command that decides what is undecided; empty if nothing is."
    launches: str
    """Limits of few launches; the share of the scatter between launches in turns, and the
    load that saves time. May be empty."""
    claims_note: str
    "Reason why claims and answers have different intervals; empty if they have not."


_latest: list[tuple["ref[Summary]", Sequence[Trial], ResultDocument]] = []


def document(summary: Summary, trials: Sequence[Trial]) -> ResultDocument:
    """Return the document of a result. It is a pure function of its summary and trials.

    The latest is kept as long as its summary is: several reporters show the same result, one after
    the other, and thousands of trials take hundreds of megabytes.
    """
    if not _latest or _latest[0][0]() is not summary or _latest[0][1] is not trials:
        alive = ref(summary, _forget)
        _latest[:] = [(alive, trials, _document(summary, trials))]
    return _latest[0][2]


def _forget(gone: "ref[Summary]") -> None:
    if _latest and _latest[0][0] is gone:
        _latest.clear()


def _document(summary: Summary, trials: Sequence[Trial]) -> ResultDocument:
    rows = levels(summary, trials)
    of_each, lines = answers(summary, trials), claim_lines(summary)
    causes, headed = cause_texts(summary, trials, of_each), quoted(of_each, summary)
    return ResultDocument(
        heading=words.heading(summary),
        title=summary.title or summary.name,
        origin=_origin(summary, trials),
        scope=words.scope(summary),
        setting=tuple(_setting(summary, trials)),
        smoke=summary.smoke,
        alarms=tuple(words.alarms(summary, doubts=not summary.causes)),
        overview=overview(summary, lines, of_each),
        answers=tuple(of_each),
        quoted=tuple(headed),
        latencies=dict(latency_rows(summary)),
        claims=tuple(lines),
        tally=tuple(tally(summary)),
        causes=causes,
        quotable=quotable(causes, headed, summary),
        tables=tuple(_suite_table(label, summary) for label in summary.tables),
        sections=tuple(_section(*titled, summary, trials, rows) for titled in scenarios(summary)),
        whole=tuple(of_all(summary)),
        made=(*words.made(summary, trials), *block_row(trials)),
        reading=(words.CELLS, words.order(summary)),
        commands=tuple(first_commands(summary, trials)),
        environment=tuple(words.environment(summary)),
        folders=(trial_folder(trials[0]), trial_folder(trials[-1])) if trials else None,
        next_step=next_step(of_each, lines, summary, trials),
        launches=launches(summary, trials),
        claims_note=intervals_note(summary),
    )


def _suite_table(label: str, summary: Summary) -> SuiteTable:
    pivot = summary.tables[label]
    title, content = words.drawn(label, pivot)
    return SuiteTable(label, title, content, pivot_table(pivot, summary.cases), len(pivot.rows))


def _section(
    title: str,
    cases: Sequence[CaseSummary],
    summary: Summary,
    trials: Sequence[Trial],
    rows: Sequence[Levels],
) -> Section:
    scenario = cases[0].case.scenario
    rows_of_trials, more = trials_of(cases, MOST_TRIALS)
    left_out = f"and {readable.exact(more)} more trials, which numbers.csv and trials/ have"
    compared = [each for each in summary.comparisons if each.scenario == scenario]
    checks = [check for each in compared for check in each.checks if check.topic == "under load"]
    return Section(
        scenario=scenario,
        title=title,
        cases=tuple(cases),
        request=words.requested(cases, trials),
        sought=tuple(words.sought(summary, cases)),
        table=table_of(cases),
        kinds=kind_table(cases),
        flows=tuple(words.of_each(cases, trials, not_reached)),
        trials=rows_of_trials,
        left_out=left_out if more > 0 else "",
        levels=tuple(row for row in rows if row.scenario == scenario),
        ranks=tuple(standings(summary, scenario)),
        pairs=tuple(pairs(summary, scenario)),
        sweeps=tuple(sweeps(summary, scenario)),
        curves=tuple(sweep for sweep in summary.sweeps if sweep.scenario == scenario),
        failures=tuple(words.failures(cases)),
        stages=tuple(words.of_each(cases, trials, stages_of)),
        over_time=tuple(loads_over_time(cases, trials)),
        under_load=tuple(f"{check.component}: {check.message}" for check in checks),
        estimators=tuple(words.estimators(cases)),
        notes=tuple(words.notes(cases)),
    )


def _origin(summary: Summary, trials: Sequence[Trial]) -> str:
    trial_count = sum(case.trials for case in words.with_placebos(summary))
    measured = readable.counted(trial_count, "trial")
    lines = [line for case in summary.cases for line in case.metrics]
    if blocks := {sample.block for line in lines for sample in line.samples}:
        measured += f" in {readable.counted(len(blocks), 'block')} (rounds)"
    if trials:
        measured += f", {readable.spoken(seconds_of(trials, summary))}"
    cpu, usable = summary.facts.get("cpu"), summary.facts.get("cpus_usable")
    machine = [str(cpu)] if isinstance(cpu, str) else []
    machine += [readable.counted(usable, "CPU")] if isinstance(usable, int) else []
    machine += ["virtual"] if summary.facts.get("virtual") is True else []
    return " · ".join(filter(None, (f"suite {summary.name}", measured, ", ".join(machine))))


def _setting(summary: Summary, trials: Sequence[Trial]) -> Iterator[str]:
    yield from filter(None, [words.amount(summary)])
    yield from (f"{name}: {text}" for name, text in words.placed(trials))
    yield from filter(None, [words.interpreters(summary), words.code(summary)])
