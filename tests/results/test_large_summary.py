"""A summary that is too large to be read as a whole: compared line by line, by a limit of ours."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from measured.real_result import change, listed_anew

from benchforge.model.files.file import FileFault
from benchforge.parts.registry import Registry
from benchforge.results.verify.recompute.compare import verify

MOST_BYTES = 1000


def of_summary(faults: list[FileFault]) -> list[tuple[int | None, str]]:
    return [(fault.line, fault.message) for fault in faults if fault.file.name == "summary.json"]


@pytest.mark.exhaustive
def test_a_large_summary_is_proved_and_valid(changed: Path) -> None:
    verified = verify(changed, Registry(), most_bytes=MOST_BYTES)
    lines = (changed / "summary.json").read_bytes().count(b"\n")
    assert verified.differing == verified.cannot == []
    assert verified.compared > lines


def _otherwise(lines: list[str]) -> int:
    """Double the first mean of a metric."""
    index = next(index for index, line in enumerate(lines) if line.strip().startswith('"mean": '))
    name, _, value = lines[index].partition(": ")
    lines[index] = f"{name}: {2 * json.loads(value.rstrip(','))},"
    return index + 1


def _shorter(lines: list[str]) -> int:
    del lines[-2:]
    return len(lines) + 1


def _longer(lines: list[str]) -> int:
    lines.append("{}")
    return len(lines)


def _another_name(lines: list[str]) -> int:
    number = _otherwise(lines)
    lines[number - 1] = lines[number - 1].replace("mean", "median")
    return number


def spoilt(changed: Path, spoil: Callable[[list[str]], object]) -> list[int | None]:
    """Return the lines of a summary, changed by `spoil`, that differ."""
    lines = (changed / "summary.json").read_text().splitlines()
    spoil(lines)
    (changed / "summary.json").write_text("\n".join(lines) + "\n")
    listed_anew(changed)
    verified = verify(changed, Registry(), most_bytes=MOST_BYTES)
    return [line for line, _ in of_summary(verified.differing)]


@pytest.mark.parametrize("spoil", [_otherwise, _shorter, _longer, _another_name])
def test_a_line_that_differs_is_named(changed: Path, spoil: Callable[[list[str]], int]) -> None:
    numbers: list[int] = []
    assert spoilt(changed, lambda lines: numbers.append(spoil(lines))) == numbers


def test_a_number_of_another_machine_is_the_same(changed: Path) -> None:
    def rounded(lines: list[str]) -> None:
        number = _otherwise(lines) - 1
        name, _, value = lines[number].partition(": ")
        lines[number] = f"{name}: {json.loads(value.rstrip(',')) / 2 * (1 + 1e-12)!r},"

    assert spoilt(changed, rounded) == []


def test_lines_of_another_version_prove_nothing(changed: Path) -> None:
    change(changed / "result.json", ("benchforge",), lambda version: f"{version}.later")
    verified = verify(changed, Registry(), most_bytes=MOST_BYTES)
    ((_, message),) = of_summary(verified.cannot)
    assert message.endswith("may have written other lines")
    assert of_summary(verified.differing) == []


def test_a_missing_summary_is_not_large(changed: Path) -> None:
    (changed / "summary.json").unlink()
    listed_anew(changed)
    verified = verify(changed, Registry(), most_bytes=MOST_BYTES)
    assert any("no summary.json" in item.message for item in verified.cannot)
