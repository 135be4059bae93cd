"""The beginning of each form of a result: the answer, its certainty, its subject, its use.

None of it has the name of a host or of a user, or the path of a home.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Final, NamedTuple

from benchforge.plugin import Estimate, Summary, Trial, readable
from benchforge.plugin.drawing import Quoted, in_rounds, interval_text, numbers, pair_ratio, short
from benchforge_reporters.document.causes import caveats
from benchforge_reporters.document.claims import claim_states
from benchforge_reporters.document.cpu_time import explained
from benchforge_reporters.document.document import ResultDocument, document
from benchforge_reporters.document.next_step import again

PAIR: Final = 2
_SENTENCES: Final = 3  # answers that a brief has in words
_ROWS: Final = 12  # servers that it has in numbers
_MARKS: Final = re.compile(r"\((?:R|TM)\)|\bProcessor\b|\bCPU @.*?GHz")  # of a CPU's name
_CODE: Final = re.compile(r" \([A-Z]\d+(?:, [A-Z]\d+)*\)")
_HOME: Final = re.compile(r"(?<![\w.])/(?:home|Users)/[^/\s'\"`:,;()<>]+|/root\b(?!\w)")
_LOOPBACK: Final = re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):\d+")
_PORT: Final = re.compile(r":(\d+)(?=/|$)")
_FILE: Final = re.compile(r"(?<![\w.~:/])~?/[^\s'\"=:,]*")


def homeless(text: str) -> str:
    """Return a text with ~ for the path of a home, which has the name of a user."""
    return _HOME.sub("~", text)


def homes(texts: Iterable[str]) -> set[str]:
    """Return the paths of homes in commands: a URL has none."""
    return {home for text in texts for home in _HOME.findall(text)}


def plain(text: str) -> str:
    """Return a sentence without codes of checks, and without the path of a home."""
    return homeless(_CODE.sub("", in_rounds(text)))


def typed(argv: Sequence[str], url: str) -> str:
    """Return a command as somebody types it: files without folders, {port} for that of the URL."""
    words = [PurePath(argv[0]).name, *(_FILE.sub(_name, homeless(word)) for word in argv[1:])]
    line = " ".join(word if {"…", "~"} & {*word} else shlex.quote(word) for word in words)
    ported = _LOOPBACK.sub(r"\1:{port}", line)
    port = _PORT.search(url)
    return re.sub(rf"\b{port[1]}\b", "{port}", ported) if port else ported


def _named(key: str, version: str) -> str:
    """Return a server's or a package's version with its name; empty for other programs."""
    name = key.removeprefix("server-")
    if name == key and key.startswith(("backend-", "client-", "loader-")):
        return ""
    is_number = name == key or re.match(r"v?\d", version)
    return f"{name} {version}" if is_number else version


def _name(path: re.Match[str]) -> str:
    """Return the name of a file; of a folder, which may be a home, nothing."""
    name = PurePath(path[0]).name
    return name if PurePath(name).suffix else "…"


class Standing(NamedTuple):
    """A server of a comparison beside the server that it is compared with."""

    ranks: str
    server: str
    level: str
    "Its value in the metric's unit; empty where nobody may quote it."
    ratio: Estimate | None
    "Its value by that of the base; None of the base itself."
    speed: Estimate | None
    "The ratio with more as the better."


class Brief:
    """The answer of a result in the words that all its forms share."""

    def __init__(self, summary: Summary, trials: Sequence[Trial]) -> None:
        self.summary, self.trials = summary, trials
        self.report: ResultDocument = document(summary, trials)
        self.caveats = caveats(self.report.causes, summary)
        self.answers = self.report.quoted
        machine = "".join(self.report.origin.split(" · ")[2:]) or "unknown"
        self.machine = " ".join(_MARKS.sub(" ", machine).split()).replace(" ,", ",")
        self.day = f"{summary.created:%-d %b %Y}"
        texts = summary.versions.items()
        versions = {key: homeless(text) for key, text in texts if not text.startswith("unknown")}
        servers = dict.fromkeys(case.case.server for case in summary.cases)
        by_server = {server: versions.get(f"server-{server}") for server in servers}
        self.versions = {server: text for server, text in by_server.items() if text}
        self.software = [*filter(None, (_named(*named) for named in versions.items()))]

    @property
    def worded(self) -> Sequence[Quoted]:
        """The answers that have words: of a smoke run what did not work, else that all does."""
        if not self.summary.smoke:
            return self.answers
        return [item for item in self.answers if item.head.says != "smoke"] or self.answers[:1]

    @property
    def alone(self) -> Quoted | None:
        """The answer, if the result has one only; of a smoke run the first."""
        worded = self.worded[:1] if self.summary.smoke else self.worded
        return worded[0] if len(worded) == 1 else None

    @property
    def title(self) -> str:
        """The answer of a result with one comparison; the title of a result with several."""
        if self.alone is None:
            return homeless(self.report.title)
        return plain(self.alone.head.sentence)

    @cached_property
    def lines(self) -> list[str]:
        """How sure the answer is, or several answers; and what may be quoted, with the caveat."""
        if self.alone is not None:
            sure = f"{self.sureness[:1].upper()}{self.sureness[1:]}"
            lines = [" · ".join(filter(None, (sure, plain(self.alone.head.remark))))]
        else:
            lines = [self._sentence(answer) for answer in self.answers[:_SENTENCES]]
            more = len(self.answers) - _SENTENCES
            lines += [f"And {readable.counted(more, 'more comparison')}"] * (more > 0)
            lines = lines or ["No answer: nothing was compared"]
        claims = self.report.claims
        lines += [f"Claims: {claim_states(claims)}"] if claims else []
        return [*filter(None, lines), self.quote]

    def _sentence(self, answer: Quoted) -> str:
        head = answer.head
        ends = "" if head.ratio is None or head.says == "early" else interval_text(head.ratio)[1]
        sure = f" ({ends})" if ends and "Undecided" not in head.sentence else ""
        return plain(f"{answer.label} {head.sentence}{sure}")

    @property
    def quote(self) -> str:
        """The part that may be quoted, and the largest caveat with what would change the answer."""
        if not self.report.answers:
            return "May I quote it? No."
        answer = f"May I quote it? {self.report.quotable.sentence}"
        head = None if self.alone is None else self.alone.head
        if head is not None and head.unanswered:  # the caveat is the reason
            return answer
        if not self.caveats:
            return f"{answer} No caveat was found."
        texts = (plain(self.caveats[0].sentence), head.against if head is not None else "")
        return f"{answer} Largest caveat: {'; '.join(filter(None, texts))}."

    @property
    def sureness(self) -> str:
        """The interval of the only ratio, and the rounds behind it; empty without one."""
        if self.alone is None or self.alone.head.ratio is None:
            return ""
        head, ratio = self.alone.head, self.alone.head.ratio
        value, ends = interval_text(ratio)
        pair = f"{short(head.first)} to {short(head.second)}: {value}, "
        likely = f"{pair * (head.says == 'open')}likely {ends} (95 % interval) · "
        cases = self.summary.cases_of(self.alone.comparison)
        way = ", alternated" if any(case.in_turns for case in cases) else ""
        known_ends = ends and head.says != "early"
        return f"{likely if known_ends else ''}{readable.counted(ratio.n, 'round')}{way}"

    @cached_property
    def measured(self) -> list[str]:
        """The request and its body; the titles of scenarios if there are several comparisons."""
        if self.request:
            return [", ".join(filter(None, (self.request, self.body)))]
        titled = [(each.label, each.comparison.scenario) for each in self.answers[:_SENTENCES]]
        titles = self.summary.titles
        return [f"{label}: {titles[key]}" for label, key in titled if key in titles]

    @cached_property
    def request(self) -> str:
        """The request of the only comparison, its load and its server's CPUs; else empty."""
        if len(self.answers) != 1 or not self.trials:
            return ""
        first = self.trials[0]
        load = first.load
        over = "" if load is None or load.kind == "client" else f" by {self._tools}"
        if load is not None and load.connections:
            over += f", {readable.counted(load.connections, 'connection')}"
            over += " closed after each request" * (load.keep_alive is False)
        cpus = "" if first.placement is None else first.placement.cpus.get("server", "")
        over += f", server on CPU{'s' * (not cpus.isdigit())} {cpus}" if cpus else ""
        return f"{first.request.method} {first.request.path}{over}"

    @property
    def body(self) -> str:
        """The first answer of the only comparison, and whether all were proved right."""
        answers = self.trials[0].answers
        size = f"answer of {answers[0].sent}" if answers else ""
        checks = self.answers[0].comparison.checks
        proofs = [check.status for check in checks if check.topic == "under load"]
        compared = self.answers[0].head.ratio is not None and {*proofs} == {"pass"}
        return ", ".join(filter(None, (size, "always right" if compared else "")))

    @property
    def _tools(self) -> str:
        labels = [label.partition("loader-")[2] for label in self.summary.versions]
        tools = sorted(filter(None, labels))
        return readable.conjoined(tools) if tools else "a load tool"

    @cached_property
    def contestants(self) -> list[tuple[str, str, str]]:
        """Label, version and command of each server; a text is empty if it is unknown."""
        commands: dict[str, str] = {}
        for trial in self.trials:
            for process in trial.processes:
                if process.label == f"server-{trial.case.server}" and process.argv:
                    commands.setdefault(trial.case.server, typed(process.argv, trial.url))
        labels = dict.fromkeys(case.case.server for case in self.summary.cases)
        return [(it, self.versions.get(it, ""), commands.get(it, "")) for it in labels]

    @property
    def times(self) -> str:
        """What the percentiles of the table are, and why there is no p99; empty without them."""
        latency = self.alone and self.alone.comparison.latency
        if not latency or not latency.servers:
            return ""
        tail = f"{latency.tail:g}"
        share = f"Half of the answers took at most p50, {tail} % at most p{tail}"
        reason = f" No p99: {in_rounds(latency.why)}." if latency.why else ""
        return f"{share}; in brackets the 95 % interval.{reason}"

    @property
    def why(self) -> str:
        """Why a server of the only comparison is faster, as far as CPU time tells; else empty."""
        if self.alone is None or self.alone.head.says not in {"faster", "slightly"}:
            return ""
        cases = self.summary.cases_of(self.alone.comparison)
        text = "".join(explained(cases, self.trials, differ=True)[:1]).removeprefix("Why: ")
        return text.rstrip(".")

    def standings(self, answer: Quoted) -> tuple[str, list[Standing]]:
        """Return the base of a comparison, and its servers beside it; none without a ratio.

        The base is the first of the suite, and of two servers that of the headline.
        """
        ranked = self.summary.standing(answer.comparison)
        ranking = None if ranked is None else ranked.ranking
        if ranked is None or ranking is None or answer.head.ratio is None:
            return "", []
        names = [entry.server for entry in ranking.order]
        cases = self.summary.cases_of(answer.comparison)
        base = next((case.case.server for case in cases if case.case.server in names), names[0])
        base = answer.head.second if len(names) == PAIR else base
        rows = []
        for entry in ranking.order:
            ratio = None if entry.server == base else pair_ratio(ranking, entry.server, base)
            speed = ratio if ranking.better == "higher" or ratio is None else ratio.inverse
            ranks = str(entry.best) if entry.best == entry.worst else f"{entry.best}–{entry.worst}"
            level = entry.value.value if answer.verdict.rates else None
            value = readable.figure(level) if level else ""
            rows.append(Standing(ranks, entry.server, value, ratio, speed))
        return base, rows

    def drawn(self) -> Iterator[tuple[str, str, Standing]]:
        """Yield label, base and server of each ratio that is drawn."""
        for answer in self.answers:
            base, rows = self.standings(answer)
            if answer.head.says != "early":
                yield from ((self._label(answer), base, row) for row in rows if row.speed)

    def _label(self, answer: Quoted) -> str:
        return "" if self.alone is not None else f"{answer.label} "

    @cached_property
    def table(self) -> list[list[str]]:
        """A row for each server of which something is known, below a row of heads."""
        rows = [row for answer in self.answers[:_SENTENCES] for row in self._rows(answer)]
        rows = [row for row in rows if len(row) > 1][:_ROWS]
        heads = [*dict.fromkeys(head for row in rows for head in row)]
        return [heads, *([plain(row.get(head, "")) for head in heads] for row in rows)]

    def _rows(self, answer: Quoted) -> Iterator[dict[str, str]]:
        base, standings = self.standings(answer)
        has_times = self.alone is not None and not answer.head.unanswered  # the heads have a rate
        latency = answer.comparison.latency if has_times else None
        times = {each.server: each for each in latency.servers} if latency else {}
        by_name = {standing.server: standing for standing in standings}
        ranked = self.summary.standing(answer.comparison)
        cases = self.summary.cases_of(answer.comparison)
        for name in dict.fromkeys([*by_name, *(case.case.server for case in cases)]):
            row = {"server": f"{self._label(answer)}{short(name)}"}
            if self.versions:
                row["version"] = self.versions.get(name, "unknown")
            if ranked is not None and (standing := by_name.get(name)) is not None:
                row |= {ranked.unit: standing.level} if standing.level else {}
                ratio = standing.ratio
                row["ratio"] = "1×, the reference" if ratio is None else compact(ratio, base)
            if latency is not None and name in times:
                rate = readable.amount("requests/s", latency.rate)
                row[f"p50 at {rate} each"] = timed(times[name].median)
                row[f"p{latency.tail:g}"] = timed(times[name].tail)
            yield row

    @property
    def again(self) -> str:
        """The command that measures it again."""
        command = again(self.summary, f"--set repeat.seed={self.summary.seed}")
        suite = PurePath(self.summary.suite_file or "").name
        return command.replace("run SUITE", f"run {shlex.quote(suite)}") if suite else command


def compact(ratio: Estimate, base: str = "") -> str:
    """Return a ratio with its interval: 1.51 (1.44–1.59), or 1.51× flask (1.44–1.59)."""
    value, ends = (text.replace("×", "") for text in interval_text(ratio))
    value += f"× {short(base)}" if base else ""
    return f"{value} ({ends.replace(' to ', '–')})" if ends else value


def timed(estimate: Estimate) -> str:
    """Return a time with its interval: 0.19 ms (0.18–0.20)."""
    ends = [end for end in numbers(estimate) if end > 0]
    if not ends:
        return "unknown"
    *texts, last = readable.amounts("s", *ends[1:], ends[0])
    return f"{last} ({'–'.join(texts)})" if texts else last
