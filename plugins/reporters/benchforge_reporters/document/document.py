"""The content of a result, in the order in which a reader needs it."""

from collections.abc import Iterator, Sequence
from weakref import ref

from benchforge.plugin import CaseSummary, Summary, Trial, readable
from benchforge_reporters.document.answers import answers, quoted
from benchforge_reporters.document.causes import CauseTexts, quotable
from benchforge_reporters.document.claims import claim_lines, intervals_note, tally
from benchforge_reporters.document.levels import latency_rows, levels
from benchforge_reporters.document.next_step import launches, next_step, seconds_of
from benchforge_reporters.document.over_time import loads_over_time, stages_of
from benchforge_reporters.document.overview import overview
from benchforge_reporters.raw import block_row, first_commands, trial_folder
from benchforge_reporters.text import words
from benchforge_reporters.text.pivots import pivot_table
from benchforge_reporters.text.search import table_of, trials_of
from benchforge_reporters.text.standings import pairs, standings, sweeps
from benchforge_reporters.text.tables import kind_table, not_reached, scenarios
from benchforge_reporters.text.words import of_all

MOST_TRIALS = 500
"Trials of a scenario that have a row: a page of all of them would be too long to open."


class Section:
    """A scenario: its tables, ranks, failures, and what was found."""

    def __init__(
        self, title: str, cases: Sequence[CaseSummary], summary: Summary, trials: Sequence[Trial]
    ) -> None:
        self.scenario = scenario = cases[0].case.scenario
        self.title, self.cases = title, cases
        self.request = words.requested(cases, trials)
        self.sought = words.sought(summary, cases)
        self.table = table_of(cases)
        self.kinds = kind_table(cases)
        "Kinds of a mix, a row each; None for one request."
        self.flows = words.of_each(cases, trials, not_reached)
        "Steps that some flows did not reach, a sentence each."
        self.trials, more = trials_of(cases, MOST_TRIALS)
        "The first trials, a row each."
        left_out = f"and {readable.exact(more)} more trials, which numbers.csv and trials/ have"
        self.left_out = left_out if more > 0 else ""
        "Number of trials that have no row, in words; empty if all have one."
        compared = [each for each in summary.comparisons if each.scenario == scenario]
        self.levels = levels(compared, summary, trials)
        self.ranks = standings(summary, scenario)
        self.pairs = pairs(summary, scenario)
        self.sweeps = sweeps(summary, scenario)
        self.curves = [sweep for sweep in summary.sweeps if sweep.scenario == scenario]
        self.failures = [*words.failures(cases)]
        self.stages = words.of_each(cases, trials, stages_of)
        "Stages of loads whose rate changes, a sentence each."
        self.over_time = loads_over_time(cases, trials)
        checks = [check for each in compared for check in each.checks]
        proofs = [check for check in checks if check.topic == "under load"]
        self.under_load = [f"{check.component}: {check.message}" for check in proofs]
        "Proof of the load's answers, for each case."
        self.estimators = words.estimators(cases)
        self.notes = words.notes(cases)


class SuiteTable:
    """A table that the suite draws."""

    def __init__(self, label: str, summary: Summary) -> None:
        pivot = summary.tables[label]
        self.label = label
        self.title, self.content = words.drawn(label, pivot)
        self.table = pivot_table(pivot, summary.cases)
        self.row_heads = len(pivot.rows)
        "Number of columns that name a row."


class ResultDocument:
    """What a result says."""

    def __init__(self, summary: Summary, trials: Sequence[Trial]) -> None:
        self.heading = words.heading(summary)
        self.title = summary.title or summary.name
        self.origin = _origin(summary, trials)
        "Amount that was measured, and the machine, in one line."
        self.scope = words.scope(summary)
        "Scope of the intervals; empty if there are none."
        self.setting = [*_setting(summary, trials)]
        "Set-up of the run, where a suite says it: placement, tuning, interpreters, code."
        self.smoke = summary.smoke
        self.alarms = words.alarms(summary, doubts=not summary.causes)
        self.answers = answers(summary, trials)
        self.quoted = quoted(self.answers, summary)
        "Comparisons with their headlines."
        self.latencies = dict(latency_rows(summary))
        "Response times at one rate, a sentence by the label of the scenario that measured them."
        self.claims = claim_lines(summary)
        self.overview = overview(summary, self.claims, self.answers)
        "Overview of a result with many claims or comparisons; None for others."
        self.tally = [*tally(summary)]
        self.causes = CauseTexts(summary, trials, self.answers)
        self.quotable = quotable(self.causes, self.quoted, summary)
        "Part of the answers that a reader may quote."
        self.tables = [SuiteTable(label, summary) for label in summary.tables]
        self.sections = [Section(*titled, summary, trials) for titled in scenarios(summary)]
        self.whole = of_all(summary)
        "Findings of comparisons and of the whole result."
        self.made = [*words.made(summary, trials), *block_row(trials)]
        "Facts of the measurement: names and values."
        self.reading = (words.CELLS, words.order(summary))
        "Meaning of a cell, and order of the servers."
        self.commands = [*first_commands(summary, trials)]
        self.environment = words.environment(summary)
        self.folders = (trial_folder(trials[0]), trial_folder(trials[-1])) if trials else None
        "Folders of the first and the last trial; None without trials."
        self.next_step = next_step(self.answers, self.claims, summary, trials)
        "Command that decides what is undecided; empty if nothing is."
        self.launches = launches(summary, trials)
        """Limits of few launches; the share of the scatter between launches in turns, and the
        load that saves time. May be empty."""
        self.claims_note = intervals_note(summary)
        "Reason why claims and answers have different intervals; empty if they have not."


_latest: list[tuple["ref[Summary]", Sequence[Trial], ResultDocument]] = []


def document(summary: Summary, trials: Sequence[Trial]) -> ResultDocument:
    """Return the document of a result. It is a pure function of its summary and trials.

    The latest is kept as long as its summary is: several reporters show the same result, one after
    the other, and thousands of trials take hundreds of megabytes.
    """
    if not _latest or _latest[0][0]() is not summary or _latest[0][1] is not trials:
        alive = ref(summary, _forget)
        _latest[:] = [(alive, trials, ResultDocument(summary, trials))]
    return _latest[0][2]


def _forget(gone: "ref[Summary]") -> None:
    if _latest and _latest[0][0] is gone:
        _latest.clear()


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
