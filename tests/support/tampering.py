"""Changes to a signed result, after each of which the manifest is written anew."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from measured.on_disk import edited

Change = Callable[[Path], None]
"What is done to the folder of a result."

FILES = (
    *("result.json", "summary.json", "report.md", "report.html", "raw.md", "numbers.csv"),
    *("trials/0001/trial.json", "trials/0004/trial.json", "trials/0002/answer.bin"),
    *("trials/0002/loader-closed.out", "trials/0003/usage.csv", "trials/0003/request-head"),
)


def spaced(file: Path) -> None:
    """Put a space in the middle of a file."""
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2] + b" " + content[len(content) // 2 :])


def reversed_lines(file: Path) -> None:
    """Put the lines of a file in the opposite order, but for a table's head."""
    head, *lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join((head, *reversed(lines))))


def of_header(to: Callable[[Any], object]) -> Change:
    """Return a change of the header."""
    return lambda result: edited(result / "result.json", to)


def swapped(first: str, second: str, *names: str) -> Change:
    """Return a change that swaps two trials' folders, and fields of their files."""

    def swap(result: Path) -> None:
        places = [result / "trials" / name for name in (first, second)]
        documents = [json.loads((path / "trial.json").read_text()) for path in places]
        places[0].rename(result / "trials/away")
        places[1].rename(places[0])
        (result / "trials/away").rename(places[1])
        for path, mine, other in zip(places, documents, reversed(documents), strict=True):
            fields = {name: mine[name] for name in names}
            (path / "trial.json").write_text(json.dumps(other | fields, indent=1))

    return swap


def block_dropped(result: Path) -> None:
    """Remove the last block from plan, suite and trials, as if it had never been planned."""

    def shortened(header: Any) -> None:
        blocks = header["plan"][-1]["block"]
        header["suite"] = header["suite"].replace(f"blocks = {blocks}", f"blocks = {blocks - 1}")
        header["suite_sha256"] = hashlib.sha256(header["suite"].encode()).hexdigest()
        header["plan"] = [entry for entry in header["plan"] if entry["block"] < blocks]

    last = json.loads((result / "result.json").read_text())["plan"][-1]["block"]
    edited(result / "result.json", shortened)
    for file in sorted(result.glob("trials/*/trial.json")):
        if json.loads(file.read_text())["block"] == last:
            shutil.rmtree(file.parent)


def _changes() -> Iterator[tuple[str, Change]]:
    by_file: dict[str, Callable[[Path], object]] = {
        "removed": Path.unlink,
        "emptied": lambda file: file.write_bytes(b""),
        "edited": spaced,
        "renamed": lambda file: file.rename(file.with_name(f"other-{file.name}")),
        "doubled": lambda file: shutil.copy(file, file.with_name(f"second-{file.name}")),
    }
    for name in FILES:
        for word, change in by_file.items():
            yield f"{name} {word}", partial(_of_file, name, change)
    for name in ("report.md", "numbers.csv", "trials/0003/usage.csv"):
        yield f"lines of {name} reordered", partial(_of_file, name, reversed_lines)
    names = ("number", "started", "seed", "block", "position")
    yield "two trials of a block reordered", swapped("0001", "0002", *names)
    yield "blocks reordered", swapped("0001", "0003", "number", "started", "seed")
    yield "a trial's folder reordered", swapped("0001", "0002")
    yield "the last trial dropped", partial(_of_file, "trials/0004", shutil.rmtree)
    yield "the last block dropped from trials, plan and suite", block_dropped
    yield "the plan reordered", of_header(lambda header: header["plan"].reverse())
    yield "the plan's seed edited", of_header(lambda header: header.update(seed=header["seed"] + 1))
    yield "a case removed", of_header(lambda header: header["cases"].pop())
    yield "facts edited: the CPU", of_header(lambda header: header["facts"].update(cpu="Z80"))
    yield "facts removed", of_header(lambda header: header.update(facts={}))
    yield "versions edited", of_header(lambda header: header["versions"].update(pace="9.9"))
    yield "the moment edited", of_header(lambda header: header.update(created="2020-01-01T00:00Z"))


def _of_file(name: str, change: Callable[[Path], object], result: Path) -> None:
    change(result / name)


CHANGES: dict[str, Change] = dict(_changes())
"By what is changed."
