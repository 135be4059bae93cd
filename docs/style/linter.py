"""Find phrases that the style page forbids.

The linter reads all pages, the help of every command, and the sentences below options and fields.
It leaves out code. The rules are those of docs/contributing.md; each prints what to write.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import get_args

from benchforge.cli.plugins.options import options
from benchforge.model.suite.code import Runtime
from benchforge.model.suite.placement import Placement, Tuning
from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.parts.kinds import Kind
from benchforge.parts.registry import Registry, brought
from benchforge.suite.claims.pivots import PivotTable
from benchforge.suite.claims.where import ClaimTable, Side
from benchforge.suite.load import Top
from benchforge.suite.suite import Repeat, Scenario, Wanted
from docs.generate.commands import commands

ROOT = Path(__file__).parents[2]
DRAWN = frozenset({"robustness.md", "studies.md", "validity.md"})
"Pages that are written from what tests and studies saw."
GUIDE = "contributing.md"
"The page that quotes what it forbids."
_TABLES = (Top, Repeat, Scenario, Wanted, Request, Expect, Placement, Runtime, Tuning)
_TABLES_OF_CASES = (ClaimTable, Side, PivotTable)

_TOLD = r"(?:told|said|asked)"
PHRASES: Mapping[str, str] = {
    rf"\b(?:is|are|was|were|be|been|being) (?:\w+ )?{_TOLD}\b": "say who prints, reports or asks",
    r"\b[Ww]ho(?:ever)? (?:asks|looks|tells|says|wants|gives|stops|has to)\b": "to get Y, set X",
    r"\bof the order\b": "write: order",
    r"\b[Ss]o many\b": "write: number of",
    r"\bwhat there is\b": "name it, such as: available programs",
    r"\bthe same again\b": "say what is the same",
    r"\b[Oo]nes? that (?:is|are|was|were|has|have)\b": "repeat the noun",
    r"\b[Ii]n place of\b": "write: instead of",
    r"\bstands? (?:in|on|at|beside|behind|before|below|above|there|here)\b": "write: is, or has",
    r"(?<!here\s)\bis no (?!longer\b|more\b)\w+": "write: is not",
}
"What no sentence has, and what to write."
OPTION_STARTS: Mapping[str, str] = {
    r"(?:Of|By|From|That|Which|Whose|What|How|Whether|As|So|It|With|Where)\b": "begin with a noun",
}
"How the sentence below an option does not begin."
FIELD_STARTS: Mapping[str, str] = {
    **OPTION_STARTS,
    r"(?:In|On|At|Before|After|Why|When|Who|Each|Those|None)\b": "begin with a noun",
}
"How the sentence below a field does not begin: it is read in a table, far from other fields."
HELP_STARTS: Mapping[str, str] = {
    r"(?:Say|Tell|Form|Of|So|As|That|Which)\b": "begin with a verb in the imperative, or a noun",
}
"How the help of a command or of an option does not begin."

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True)
class Text:
    """A text that people read, and where it is."""

    place: str
    text: str
    starts: Mapping[str, str]
    "How its first words must not read, besides PHRASES."
    first_line: int = 0
    "Number of its first line in a file; 0 for a text that is no file."


def faults(texts: Iterable[Text]) -> Iterator[str]:
    """Yield a line for each phrase of a text that the style forbids."""
    for text in texts:
        prose = _blanked(text.text)
        rules = [(pattern, advice, prose) for pattern, advice in PHRASES.items()]
        rules += [(rf"\A\s*{start}", advice, prose) for start, advice in text.starts.items()]
        for pattern, advice, searched in rules:
            # A phrase may go on in the next line of a page.
            for match in re.finditer(pattern.replace(" ", r"\s+"), searched):
                yield f"{_place(text, match.start())}: {_one_line(match[0])!r}: {advice}"


def texts() -> Iterator[Text]:
    """Yield all that the style is about."""
    yield from _pages()
    yield from _help()
    yield from _options()
    yield from _fields()


def _pages() -> Iterator[Text]:
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for file in files:
        inside = file.relative_to(ROOT)
        if "_build" in inside.parts or file.name in DRAWN | {GUIDE}:
            continue
        yield Text(str(inside), file.read_text(encoding="utf-8"), {}, first_line=1)


def _help() -> Iterator[Text]:
    for context in commands():
        command, path = context.command, context.command_path
        yield Text(f"{path} --help", command.help or "", HELP_STARTS)
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if record is not None:
                yield Text(f"{path} {record[0]}", record[1], HELP_STARTS)


def _options() -> Iterator[Text]:
    registry = Registry(brought())
    parts = [
        (f"{kind}s.{name}", registry.part(kind, name))
        for kind in get_args(Kind)
        for name in registry.names(kind)
    ]
    tables = [(table.__name__, table) for table in (*_TABLES, *_TABLES_OF_CASES)]
    for place, model in [*tables, *parts]:
        for option in options(model):
            yield Text(f"{place}.{option.name}", option.doc, OPTION_STARTS)
    for place, part in parts:
        yield Text(place, part.__doc__ or "", {})


def _fields() -> Iterator[Text]:
    """Yield the string below each field of a class, of plugins too."""
    for root in ("benchforge", "plugins"):
        for file in sorted((ROOT / root).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    for name, sentence in _sentences(node):
                        yield Text(f"{file.relative_to(ROOT)} {name}", sentence, FIELD_STARTS)


def _sentences(cls: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(cls.body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(sentence))),
            ):
                yield f"{cls.name}.{name}", sentence


def _blanked(text: str) -> str:
    """Return a text in which code is spaces, so that every place stays what it was."""
    for code in (_FENCE, _CODE):
        text = code.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return text


def _place(text: Text, offset: int) -> str:
    if not text.first_line:
        return text.place
    return f"{text.place}:{text.first_line + text.text.count(chr(10), 0, offset)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
