"""Fuzz all that reads a result: `python tests/faults/fuzz/results.py RESULT --runs 200 [--seed 7]`.

Each run changes some values of a copy of a real result so that its files still load: a text is
another text, a number another number, a list loses or repeats a member. Then every reader and every
reporter looks at it, in this process. None may end otherwise than with an error of ours, write into
the result or beside it, or print what does something to a terminal, a page or a spreadsheet.
How many runs reached what is printed at the end; who asks for --seconds gets as many as there is
time for.
"""

import argparse
import contextlib
import copy
import csv
import io
import json
import random
import re
import shutil
import sys
import tempfile
import time
import traceback
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from benchforge.cli.app import called
from benchforge.errors import BenchforgeError
from benchforge.parts.registry import Registry
from benchforge.results.conclude import summed
from benchforge.results.report_files import ON_DEMAND, REPORTERS, reporter, write_reports

TEXTS = (
    *("", "\x1b[2J\x1b]0;x\x07", "\x9b31m", "\u202eevil\u2066", "=1+1", "@SUM(A1)", "-1+cmd|x"),
    *("<script>alert(1)</script>", '" onload="x', "`x`", "|a|b|", "[x](javascript:x)", "```"),
    *("../../x/victim", "/etc/passwd", "a\nb", "\r\n# head", "\0", "\u2028", "{x}", "%s", "\ud7ff"),
    *("x" * 300, "\N{GRINNING FACE}", "é", "1e999", "nan", "one", "two", "throughput"),
    "2026-01-01",
)
SHOWN = ("scenario", "server", "driver", "title", "name", "unit", "message", "cpu", "system", "why")
"Where texts stand that people see."
NUMBERS = (0, 1, -1, 2, 3, 7, 1000, 2**31, 2**53, 2**63, 10**30, 0.0, 0.5, 1e-9, 1e9, 1e300, -0.0)
LOUD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ALLOWED = frozenset(
    re.split(
        " +",
        "html head meta title style body h1 h2 h3 p b br small div section details summary table "
        "caption thead tbody tr th td ul li pre span svg line circle text path rect polyline "
        "figure figcaption g header nav main article a button link script defs use i dl dt dd",
    )
)


class Page(HTMLParser):
    """Complains of an element or attribute that no page of ours has."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, f"<{tag}> in the page"
        assert not any(name.startswith("on") for name, _ in attrs), f"{attrs} in the page"


def leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container with a key or place in it."""
    if isinstance(value, dict | list):
        for key, inner in [*(value.items() if isinstance(value, dict) else enumerate(value))]:
            yield value, key
            yield from leaves(inner)


def changed(value: Any, dice: random.Random) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return dice.choice(("", value)) + dice.choice(TEXTS)
    if isinstance(value, int | float):
        other = dice.choice((*NUMBERS, value * 2, value + 1, -value))
        return int(other) if isinstance(value, int) and abs(other) < 1e40 else other
    return other_members(value, dice)


def other_members(value: Any, dice: random.Random) -> Any:
    """Return a list or an object with a member less, or one twice."""
    match value:
        case list() if value:
            index = dice.randrange(len(value))
            if dice.random() < 0.5:
                return value[:index] + value[index + 1 :]
            return [*value, copy.deepcopy(value[index])]
        case dict() if value:
            key = dice.choice(list(value))
            if dice.random() < 0.3:
                return {name: inner for name, inner in value.items() if name != key}
            return {**value, dice.choice(TEXTS): value[key]}
        case _:
            return value


def same_text(document: Any, then: str, newer: str) -> None:
    """Put one text for another wherever it stands, so that files still fit together."""
    for inside, key in leaves(document):
        if inside[key] == then:
            inside[key] = newer


def some_text(documents: list[Any], dice: random.Random) -> str:
    """Return a text that stands in a result; most often one that people see."""
    texts: dict[str, dict[str, None]] = {}
    for inside, key in leaves(documents):
        if isinstance(inside[key], str):
            texts.setdefault(key if key in SHOWN else "", {})[inside[key]] = None
    return dice.choice([*texts[dice.choice([*texts])]])


def mutated(result: Path, dice: random.Random) -> None:
    """Change a result in place: one name in all files, or some values of one file."""
    files = sorted(result.rglob("*.json"))
    documents = {file: json.loads(file.read_text()) for file in files}
    if dice.random() < 0.6:
        then, newer = some_text([*documents.values()], dice), dice.choice(TEXTS)
        newer = newer if dice.random() < 0.5 else then + newer
        for document in documents.values():
            same_text(document, then, newer)
        touched = files
    else:
        touched = [dice.choice(files)]
        places = list(leaves(documents[touched[0]]))
        for inside, key in dice.sample(places, min(len(places), dice.choice((1, 1, 2, 4)))):
            with contextlib.suppress(KeyError, IndexError):
                inside[key] = changed(inside[key], dice)
    for file in touched:
        file.write_text(json.dumps(documents[file], indent=1))
    if dice.random() < 0.15:
        raw = dice.choice([path for path in sorted(result.rglob("*")) if path.is_file()])
        data = bytearray(raw.read_bytes()[:100_000])
        for _ in range(dice.randint(1, 8)):
            data[dice.randrange(len(data)) if data else 0 :][:1] = b""
            if data:
                data[dice.randrange(len(data))] = dice.randrange(256)
        raw.write_bytes(data)


def state(folder: Path) -> dict[str, tuple[int, int, int]]:
    """What tells whether somebody wrote into a folder."""
    return {
        str(item.relative_to(folder)): (
            (observed := item.lstat()).st_size,
            observed.st_mtime_ns,
            observed.st_ino,
        )
        for item in folder.rglob("*")
    }


def quiet(text: str, subject: str) -> None:
    """Fail where a text does something to a terminal."""
    search = LOUD.search(text.replace("\r\n", "\n"))
    assert not search, f"{subject}: {search[0]!r} in {text[max(0, search.start() - 60) :][:120]!r}"


def told(*words: str) -> int:
    """Call the command line here; what it prints does nothing to a terminal."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = called(words)
    quiet(out.getvalue() + err.getvalue(), " ".join(words[:1]))
    return code


def reports(folder: Path) -> None:
    """Fail where a report shows what a result says as more than text."""
    for file in (path for path in folder.rglob("*") if path.is_file()):
        text = file.read_bytes().decode()
        quiet(text, file.name)
        match file.suffix:
            case ".html":
                Page().feed(text)
            case ".xml":
                ET.fromstring(text)  # noqa: S314 - of our own making
            case ".json":
                json.loads(text)
            case ".md":
                outside = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", text)
                markup = re.sub(r"</?(details|summary|br)>", "", outside)
                assert not re.search(r"(?<!\\)(?:\\\\)*<\w", markup), f"{file.name}: markup"
            case ".csv":
                for field in (field for row in csv.reader(io.StringIO(text)) for field in row):
                    number = re.fullmatch(r"[-+]?(\d|inf|nan).*", field)
                    bad = field.startswith(("=", "@")) or (field[:1] in "+-" and not number)
                    assert not (field and bad), f"{file.name}: formula {field!r}"


class Fuzz:
    """One mutated result after another, and how far each came."""

    def __init__(self, original: Path, path: Path, seed: int) -> None:
        self.original, self.place, self.seed = original, path, seed
        self.counts: Counter[str] = Counter()
        self.registry = Registry()
        self.older = Path(shutil.copytree(original, path / "older"))
        header = json.loads((self.older / "result.json").read_text())
        header["created"] = "2020-01-01T00:00:00+00:00"
        (self.older / "result.json").write_text(json.dumps(header))

    def run(self, number: int) -> None:
        """Do one run. Raises AssertionError, or what a reader raised that is no error of ours."""
        dice = random.Random(f"{self.seed} {number}")
        home = self.place / "home"
        shutil.rmtree(home, ignore_errors=True)
        result = Path(shutil.copytree(self.original, home / "results/one"))
        (home / "out").mkdir()
        mutated(result, dice)
        state_ = state(home)
        self.counts["runs"] += 1
        tried = self._tried("summed", lambda: summed(result, self.registry))
        if tried is not None:
            for name in (*REPORTERS, *ON_DEMAND):
                options = tried.summary, tried.trials, self.registry, result, (name,)
                into = self.place / "reports" / name
                self._tried(
                    f"reported {name}",
                    lambda options_=options, into=into: write_reports(*options_, into),  # type: ignore[misc, call-arg]
                    into,
                )
            for name, width in (("terminal", None), ("terminal", 40), ("answer", 40)):
                text = reporter(self.registry, name).text(tried.summary, tried.trials, width)
                quiet(text, name)
        further = (
            ("compare", str(result), str(self.older), "--anyway"),
            ("compare", str(result), str(self.older), "--anyway", "--json"),
            ("history", str(result), str(self.older)),
            ("history", "--csv", str(result), str(self.older)),
            ("clean", "--results", str(result.parent)),
        )
        looks = (("validate", str(result)), ("verify", str(result), "--all"), dice.choice(further))
        for words in looks:
            self.counts[f"{words[0]} ended with {told(*words)}"] += 1
        assert state(home) == state_, f"written: {state(home).items() ^ state_.items()}"

    def _tried(self, subject: str, call: Callable[[], Any], into: Path | None = None) -> Any:
        if into is not None:
            shutil.rmtree(into, ignore_errors=True)
            into.mkdir(parents=True)
        try:
            done = call()
        except BenchforgeError as error:
            quiet(error.text().replace("\x1b", ""), subject)
            self.counts[f"{subject}: refused"] += 1
            return None
        self.counts[subject] += 1
        if into is not None:
            reports(into)
        return done


def main() -> int:
    """Run as often as is asked for; say what was reached, and each run that failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("result", type=Path)
    parser.add_argument("--runs", type=int, default=sys.maxsize)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    if options.runs == sys.maxsize and options.seconds == float("inf"):
        parser.error("say --runs or --seconds")
    began, wrong = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(options.result.resolve(), Path(folder), options.seed)
        for number in range(options.first, options.first + options.runs):
            if time.monotonic() - began > options.seconds:
                break
            try:
                fuzz.run(number)
            except Exception:  # noqa: BLE001 - each is a find
                wrong += 1
                print(f"run {number} of seed {options.seed}:\n{traceback.format_exc()}", flush=True)  # noqa: T201
                if wrong >= 20:
                    break
        for subject, count in sorted(fuzz.counts.items()):
            print(f"{count:8} {subject}")  # noqa: T201
        print(f"{wrong} of {fuzz.counts['runs']} runs failed")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
