"""github.md: a result as the summary of a job's step on GitHub, which takes 1 MiB of Markdown."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Final

from benchforge.plugin import Reporter, Summary, Trial, safe
from benchforge_reporters.ci.junit import answers
from benchforge_reporters.terminal.report import Terminal
from benchforge_reporters.text import words

FILE: Final = "github.md"
# Of 1024 KiB that a step may have; several results may share a step.
MOST_BYTES: Final = 250_000
_MOST_SHOWN: Final = MOST_BYTES // 2
_COLUMNS: Final = 100  # of a code block on a job's page
_CUT: Final = "\n\n**Cut here: a step's summary takes no more. report.md has all of it.**\n"


class GitHub(Reporter):
    """A summary for GitHub's job page: github.md, within its size limit."""

    name: ClassVar[str] = "github"
    appended_to: ClassVar[str] = "GITHUB_STEP_SUMMARY"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write github.md."""
        (folder / FILE).write_text(github(summary, trials), encoding="utf-8")
        return (folder / FILE,)


def github(summary: Summary, trials: Sequence[Trial]) -> str:
    """Return the Markdown, at most MOST_BYTES of it, ended between two blocks."""
    text, size = "", len(_CUT.encode())
    for block in _blocks(summary, trials):
        size += len(block.encode()) + 1
        if size > MOST_BYTES:
            return text + _CUT
        text += f"{block}\n"
    return text


def _blocks(summary: Summary, trials: Sequence[Trial]) -> Iterator[str]:
    """Yield blocks that stand by themselves: what the terminal shows, then what did not pass."""
    yield f"## {safe.markdown(words.heading(summary))}\n"
    yield from (f"**{safe.markdown(alarm)}**\n" for alarm in words.alarms(summary))
    shown = Terminal().text(summary, trials, _COLUMNS)
    whole = len(shown.encode()) <= _MOST_SHOWN
    yield safe.fenced(shown if whole else _beginning(shown), "text")
    if not whole:
        yield _CUT.strip()
    yield from _answers(summary)
    made = words.made(summary, trials)
    yield from _folded("How it was measured", [": ".join(item) for item in made])


def _beginning(text: str) -> str:
    """Return as many whole lines of a text as the block of it may have."""
    begin = text.encode()[:_MOST_SHOWN].decode(errors="ignore")
    return begin.rpartition("\n")[0]


def _answers(summary: Summary) -> Iterator[str]:
    """Yield the claims, and of the cases those that did not pass."""
    rows = [item for item in answers(summary) if item.group == "claims" or item.outcome != "passes"]
    if rows:
        head = ["| asked | came | because |", "| --- | --- | --- |"]
        yield "\n".join(
            head
            + [
                f"| {safe.markdown(o.name)} | **{o.outcome}** | {safe.markdown(o.text)} |"
                for o in rows
            ]
        )
        yield ""


def _folded(title: str, texts: Sequence[str]) -> Iterator[str]:
    if texts:
        items = "\n".join(f"- {safe.markdown(text)}" for text in texts)
        yield f"<details><summary>{safe.markdown(title)}</summary>\n\n{items}\n\n</details>\n"
