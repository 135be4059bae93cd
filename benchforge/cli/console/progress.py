"""Progress on stderr: one line that changes on a terminal, a few plain lines elsewhere.

Nothing is written between the start of a load and its end.
"""

import math
import shutil
import sys
import time
from collections.abc import Sequence
from typing import Literal, TextIO

from benchforge.cli.console.say import away, printable
from benchforge.model.summary.verdict import StopDecision
from benchforge.model.trial.trial import Trial, exposed
from benchforge.report.answer.ratio import interval_text, useful
from benchforge.run.execute import Progress
from benchforge.stats.verdict.interim import InterimAnswer, in_short
from benchforge.suite.plan import Measurement, RunGraph
from benchforge.text import safe
from benchforge.text.readable import conjoined, exact, figure, percent, spoken

_WHILE_IT_LASTS = (
    "until it ends no trial waits for quiet or is repeated; values are marked as disturbed, "
    "and ratios are of trials that were disturbed alike"
)
_IN_SEARCH = "until it ends no trial waits for quiet or is repeated; disturbed trials say nothing"
_WIDER = "intervals during a run are wider than in its report, since they"
_AS_REPORTED = "the intervals of claims"
_ANY_TIME = " allow for a look after each round; Ctrl-C ends the run and reports what is there"
_APART_S = 20.0  # between two plain lines, or answers: failures and remarks do not wait


class ProgressLine(Progress):
    """Progress of a run, as `execute` tells it."""

    def __init__(self, graph: RunGraph, stream: TextIO | None = None) -> None:
        self._graph = graph
        self._total = len(graph)
        self._place = self._block = 0
        self._stream: TextIO = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._head = ""
        self._left_s = 0.0
        self._next_s = {"trials": -math.inf, "answers": -math.inf}
        self._ratio = ""
        self._remarked: set[str] = set()

    def trial(self, step: Measurement, number: int, attempt: int, left_s: float) -> None:
        """Print which trial starts, and how long all remaining ones take."""
        self._block, self._place = step.block, sum(self._graph.before(step.block)) + step.position
        again = f" (attempt {attempt})" if attempt > 1 else ""
        rate = step.case.driver.load().rate if step.case.find is not None else None
        again = again if rate is None else f" · {exact(rate)}/s{again}"
        width = len(str(self._total))
        position = f"[{self._place:{width}}/{self._total}] round {step.block}"
        self._head = f"{position} · {step.case.name.title}{again}"
        self._left_s = left_s
        self._early = step.case.find is not None or self._graph.until is not None
        self._left = self._about(left_s)
        self.phase("start")

    def _about(self, left_s: float) -> str:
        """Return an estimate: noise makes a run longer, and one that may end early shorter."""
        return f"{'at most' if self._early else 'about'} {spoken(max(1.0, left_s))} left"

    def phase(self, name: str) -> None:
        """Print the phase, and the ratio so far; on a terminal only."""
        if self._live:
            most = f"{'at most ' * self._early}{exact(self._graph.blocks)}"
            text = f"Round {self._block} of {most}{self._ratio} · {self._left}"
            columns = shutil.get_terminal_size().columns - 1
            phase = f" · {name}" if len(text) + len(name) < columns - 3 else ""
            self._write(f"{text}{phase}"[:columns], lasts=False)

    def _due(self, of: Literal["trials", "answers"]) -> bool:
        """Whether a plain line is due: on a terminal none is, since its line says the same.

        A round ends with a trial, whose line would else always take the turn of the answers.
        """
        now_s = time.monotonic()
        if self._live or now_s < self._next_s[of]:
            return False
        self._next_s[of] = now_s + _APART_S
        return True

    def kept(self, trial: Trial, *, started: bool) -> None:
        """Print the outcome of a trial."""
        if not started:
            name = trial.case.title
            self._remark(name, f"{name} did not start: the other launches are without it")
            return
        last = self._place == self._total
        remaining = "" if last else f" · {self._about(self._left_s - trial.seconds)}"
        plain = not self._live and (last or trial.search_outcome is not None)
        if plain or self._due("trials") or trial.failure is not None:
            self._write(f"{self._head} · {_outcome(trial)}{remaining}")
        for remark in _remarks(trial):
            self._remark(remark, remark)

    def noise(self, trial: Trial, *, lasts: bool) -> None:
        """Say once that noise does not end, and what follows; then once that it ended."""
        loud = [doubt for doubt in trial.doubts if doubt.of_noise]
        loudest = min(loud, key=lambda doubt: doubt.topic != "others", default=None)
        if lasts and loudest is not None:
            then = _WHILE_IT_LASTS if trial.search_outcome is None else _IN_SEARCH
            self._remark("noise", f"noise that does not end: {loudest.message}; {then}")
        elif not lasts:
            self._remark("quiet", "the noise ended: trials wait for quiet, and are repeated again")

    def looked(self, decision: StopDecision | None) -> None:
        """Print the widths of intervals, after a complete block that may be the last."""
        if decision is None or not (decision.stop or self._due("trials")):
            return
        message = decision.why
        if decision.half_width is not None and decision.widest:
            widest = f"the report's widest interval is {percent(decision.half_width)} to a side"
            message = f"{widest}: {decision.widest}{': enough' if decision.stop else ''}"
        self._write(f"round {decision.blocks}, {message}")

    def answers(self, block: int, answers: Sequence[InterimAnswer]) -> None:
        """Print the answers after a complete block; and once how to read them.

        On a terminal that is the ratio of two servers, or a count, in the line that changes; no
        interval that is wider than useful.
        """
        if not answers:
            return
        decided = sum(answer.state != "open" for answer in answers)
        self._ratio = f" · {decided} of {len(answers)} decided so far"
        if len(answers) == 1 and answers[0].unit == "1":
            wide = not useful(answers[0].estimate)
            value, ends = interval_text(answers[0].estimate)
            self._ratio = " · no narrow interval yet" if wide else f" · so far {value}, {ends}"
        if not self._due("answers"):
            return
        most = "at most " if self._graph.until is not None else ""
        about = answers[0].about if len(answers) == 1 else in_short(answers)
        ratio = self._ratio if len(answers) == 1 else ""
        self._write(f"after {block} of {most}{exact(self._graph.blocks)} rounds, {about}{ratio}")
        decides = self._graph.until is not None and self._graph.until.method == "decision"
        self._remark("answers", (_AS_REPORTED if decides else _WIDER) + _ANY_TIME)

    def _remark(self, about: str, text: str) -> None:
        """Say something once in a run."""
        if about not in self._remarked:
            self._remarked.add(about)
            self._write(text)

    def end(self) -> None:
        """Leave the line."""
        if self._live:
            self._write("", lasts=False)

    def _write(self, text: str, *, lasts: bool = True) -> None:
        """Write a line; on a terminal over the one that changes."""
        try:
            self._stream.write("\r\x1b[K" if self._live else "")
            self._stream.write(printable(text, safe.word))
            self._stream.write("\n" if lasts else "")
            self._stream.flush()
        except OSError:  # nobody reads it any more: the run goes on
            away(self._stream)


def _remarks(trial: Trial) -> list[str]:
    """Return the remarks of a trial on its place and its logs; a run prints each once."""
    weaker = trial.namespaces.get("weaker")
    remarks = [f"weaker: {way}" for way in weaker] if isinstance(weaker, list) else []
    if arguments := exposed([trial]):
        remarks.append(f"secrets {arguments}")
    for process in trial.processes:
        if process.truncated:
            much = f"{process.label}: it printed too much on {conjoined(process.truncated)}"
            remarks.append(f"{much}: only the first 64 MiB are kept")
    return remarks


def _outcome(trial: Trial) -> str:
    sought = trial.search_outcome
    if sought is None:
        return _measured(trial)
    if sought.at_least:
        return f"kept, at least: {sought.why}"
    if sought.passed is None:
        return f"says nothing: {sought.why}"
    return "passed" if sought.passed else f"not kept: {sought.why}"


def _measured(trial: Trial) -> str:
    if trial.failure is not None:
        return f"FAILED ({trial.failure.stage}): {trial.failure.message}"
    reading = trial.reading
    if reading is None:
        return "FAILED"
    good = reading.good if reading.good is not None else reading.good_at_least
    least, most = ("", "") if reading.good is not None else ("at least ", "at most ")
    wrong = reading.responses - good
    errors = f", {most}{wrong} not good" if wrong else ""
    doubts = ", ".join(dict.fromkeys(f"{doubt.id} {doubt.name}" for doubt in trial.doubts))
    reason = "DISTURBED" if trial.disturbed else "NOT BELIEVED"
    doubted = f" · {reason}: {doubts}" if doubts else ""
    return f"{least}{figure(good / reading.seconds)} good responses/s{errors}{doubted}"
