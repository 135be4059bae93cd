"""README.md: its length, and its figures, which are those of the pages that it names."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
MOST_WORDS = 900


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= MOST_WORDS


def rows() -> list[list[str]]:
    """Return the rows of real gates: commit, gates, slower, not slower, undecided, and more."""
    page = (ROOT / "docs/false-verdicts.md").read_text()
    table = page.partition("### Real gates")[2].partition("\n| commit ")[2].split("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:]] for line in table.splitlines()[2:]]


@pytest.mark.parametrize(
    ("commit", "sentence"),
    [
        ("equal", r"Of (\d+) gates of two equal commits, (\d+) said \*slower\*"),
        (
            "5 % slower",
            r"Of (\d+) gates of a commit that is 5 % slower, (\d+) said \*slower\*, (\d+)",
        ),
    ],
)
def test_the_gates_of_the_readme_are_those_of_the_page(commit: str, sentence: str) -> None:
    counted = [row for row in rows() if row[0].startswith(commit)]
    gates, slower, passed, undecided = (sum(int(row[i]) for row in counted) for i in range(1, 5))
    match = re.search(sentence, " ".join(README.split()))
    assert match is not None
    assert [int(number) for number in match.groups()] == [gates, slower, undecided][
        : match.re.groups
    ]
    assert commit == "equal" or passed == 0
