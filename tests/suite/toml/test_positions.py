"""Every path that TOML's own reader has has a place, and no other."""

import contextlib
import re
import tomllib

import pytest
import tomli
from documents.pages import ROOT
from hypothesis import given
from hypothesis import strategies as st

from benchforge.suite.toml.document import paths_of
from benchforge.suite.toml.positions import Lost, Refused, Spot, positions

VALID = """\
title = "a # no comment, [no table]"  # a comment = 1
"quoted key" = 'literal \\'
a.b . "c.d" = 1979-05-27 07:32:00  # a date with a space
several = [ # the list
    1, "two", [3, [4]], {five = 6, six.seven = [8]},
    '''
x = 1
''',
]
text = \"\"\"
[no.table] \\\"\"\" ends not
y = 2 \"\"\"\"\"

[servers.django]
workers = 4
[servers."a.b"]
[[points]]
x = 1
[points.deep]
y.z = inf
[[points]]
[[points.inner]]
"é" = 'no bare key'
[[points.inner]]
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_document_with_all_of_toml(end: str) -> None:
    actual = positions(VALID.replace("\n", end))

    assert actual.keys() == {*paths_of(tomllib.loads(VALID), ())} - {()}
    assert (actual["title",], actual["quoted key",]) == (Spot(1, 1, 5), Spot(2, 1, 12))
    assert (actual["a", "b", "c.d"], actual["several", 1]) == (Spot(3, 7, 5), Spot(5, 8, 5))
    assert actual["several", 2, 1, 0] == Spot(5, 20, 1)
    assert actual["several", 3, "six", "seven", 0] == Spot(5, 49, 1)
    assert actual["servers", "django", "workers"] == Spot(15, 1, 7)
    assert actual["points", 1, "inner", 0, "é"] == Spot(23, 1, 3)
    assert actual["points", 1, "inner", 1] == Spot(24, 10, 5)


def test_depth_is_no_matter_of_the_stack() -> None:
    many = 100_000
    assert len(positions(f"a = {'[' * 49}1{']' * 49}\nb = [{'{}, ' * many}]")) == 51 + many
    with pytest.raises(Refused) as caught:
        positions(f"a = {'[' * 100_000}")
    assert caught.value.spot == Spot(1, 55, 1)


LATER = {
    "a = {\n b = 1 }": (1, 5),
    "a = { b = 1\n}": (1, 5),
    "a = { # b\n}": (1, 5),
    "a = [{ b = [\n1\n], }]": (3, 2),
    'a = "\\e"': (1, 6),
    'a = """\n\\x41"""': (2, 1),
    '"\\e" = 1': (1, 2),
    "a = 07:32": (1, 5),
    "a = [1979-05-27 07:32]": (1, 6),
    "a = 1979-05-27T07:32+01:00": (1, 5),
}


@pytest.mark.parametrize("text", LATER)
def test_what_later_versions_of_toml_brought_is_refused(text: str) -> None:
    assert tomli.loads(text)
    with pytest.raises(Refused, match=r"not TOML 1\.0") as caught:
        positions(text)
    assert caught.value.spot[:2] == LATER[text]


@pytest.mark.parametrize("text", ['a = "\\\\e"', "a = '\\e'", "a = { b = [\n1, # c\n] }"])
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert positions(text).keys() == {*paths_of(tomllib.loads(text), ())} - {()}


KEYS = st.text("ab-_1", min_size=1, max_size=3) | st.text("a é=.#[]'\"\\", max_size=4)
SCALARS = st.sampled_from(
    [
        *("1", "-0.5e3", "0xFF", "07:32", "1979-05-27 07:32", '"\\e"', '"\\x41 \\\\e"'),
        *("true", "inf", "07:32:00", "1979-05-27", "1979-05-27T07:32:00Z"),
        *("1979-05-27 07:32:00.5", '""', "''", '"a\\"]"', "'#\\'", '"""x\n"y" = 1"""'),
        *("'''\n]'''", '"""a"""""', "''''a'''''", '"""\\\n  b \\""""""'),
    ]
)


def written_key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "a").replace("_", "a").isalnum()
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return key if bare else f'"{escaped}"'


INLINE = st.sampled_from(["", "", "", " ", "\n", " # }\n"])
SPACE = st.sampled_from(["", " ", "\t"])
GAP = st.sampled_from(["", " ", "\n", " # ] no end\n", "\t"])


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.sampled_from(["scalar", "scalar", "array", "table"] if depth else ["scalar"]))
    if kind == "scalar":
        return draw(SCALARS)
    if kind == "array":
        items = draw(st.lists(values(depth - 1), max_size=3))
        end = draw(st.sampled_from(["", ","])) if items else ""
        gaps = [draw(GAP) for _ in items]
        inner = ",".join(f"{gap}{item}\n" for gap, item in zip(gaps, items, strict=True))
        return f"[{inner}{end}{draw(GAP)}]"
    keys = draw(st.lists(KEYS, max_size=3, unique=True))
    pairs = [f"{written_key(key)}{draw(SPACE)}= {draw(values(depth - 1))}" for key in keys]
    gap, end = draw(INLINE), draw(st.sampled_from(["", "", "", ","])) if pairs else ""
    return "{" + gap + f",{gap} ".join(pairs) + draw(SPACE) + end + gap + "}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Text of a document; now and then one that says something twice, and is none."""
    lines: list[str] = []
    for _ in range(draw(st.integers(0, 8))):
        keys = ".".join(map(written_key, draw(st.lists(KEYS, min_size=1, max_size=3))))
        space = draw(SPACE)
        forms = {
            "pair": f"{space}{keys} ={space}{draw(values())}{space}",
            "table": f"{space}[{space}{keys}{space}] # [x]",
            "array": f"[[{space}{keys} ]]",
            "comment": "# a = 1",
        }
        lines.append(forms[draw(st.sampled_from(["pair", *forms]))])
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines)


@given(documents())
def test_every_path_has_a_place_and_nothing_else_has_one(text: str) -> None:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        try:
            tomli.loads(text)
        except tomli.TOMLDecodeError:
            with contextlib.suppress(Lost, Refused):
                positions(text)
        else:
            with pytest.raises(Refused, match=r"not TOML 1\.0"):
                positions(text)
        return
    actual = positions(text)
    assert actual.keys() == {*paths_of(tables, ())} - {()}
    lines = text.replace("\r\n", "\n").split("\n")
    for path, spot in actual.items():
        assert spot.width >= 1
        assert 1 <= spot.column <= len(lines[spot.line - 1])
        if isinstance(path[-1], str):
            key = lines[spot.line - 1][spot.column - 1 :][: spot.width]
            assert key == written_key(path[-1])


def test_no_group_is_repeated_possessively() -> None:
    """Python before 3.11.5, Debian's among them, loses matches there (python/cpython#106052)."""
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d[^}]*\})\+")
    assert possessive.search(r"(?:a|b)*+")
    actual = [
        f"{file.relative_to(ROOT)}:{number}"
        for folder in ("benchforge", "plugins")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if possessive.search(line)
    ]
    assert actual == []
