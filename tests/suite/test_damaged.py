"""Suites drawn from the schema, and ours, with damages: `check` locates faults, and never fails."""

import contextlib
import copy
import io
import json
import re
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from benchforge.cli.app import called
from benchforge.suite.toml.document import in_toml, toml_key

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "schemas/suite.schema.json").read_text())
SUITES = sorted(ROOT.glob("suites/**/*.toml"))
KEYS = st.sampled_from(["x", "", "*", "é", "a.b", "\0", "use", "0"]) | st.text(max_size=3)
ODD = st.recursive(
    st.sampled_from(["", "\0", "a\0b", "{", "{x}", "*", "../..", "a.b", "1s", "5%", "a > b"])
    | st.sampled_from(["\U0001f4a9" * 99, "x" * 100_000, 2**63 - 1, 10**400, 1e308, 0, -1, 0.5])
    | st.sampled_from([{"env": "HOME"}, {"env": "NOT_SET"}, {"env": 1}, {"*": 1}])
    | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
# What lacks has no line.
MISSING = r"'\w+' is missing|no scenario is declared"
LOCATED = rf"error: (a\.toml(:\d+:\d+: .*|: ({MISSING}).*)|and \d+ more.*)"
FRAGMENTS = st.sampled_from([
    *(b"\0", b"\xff", b"\xed\xa0\x80", b"\x1b[31m", b"\r", b"\n", b"\xef\xbb\xbf", b"\xe2\x80\xae"),
    *(b"[" * 20_000, b"{a=" * 20_000, b"a." * 20_000, b"9" * 5_000, b"x" * 100_000, b'"""', b"'"),
    *(b"1979-05-27T07:32:00Z", b"nan", b"-inf", b"1e999", b"0x" + b"f" * 99, b"\\", b"#", b"\n[a]"),
])  # fmt: skip


@st.composite
def values(draw: st.DrawFn, schema: Any, depth: int = 0) -> Any:  # noqa: PLR0911 - one line for each kind
    """Draw a value that a schema describes, more or less."""
    while isinstance(schema, dict) and "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if not isinstance(schema, dict) or depth > 6:
        return draw(ODD)
    for union in {"anyOf", "oneOf", "allOf"} & schema.keys():
        if "type" not in schema or draw(st.booleans()):
            return draw(values(draw(st.sampled_from(schema[union])), depth))
    if options := schema.get("enum", [schema["const"]] if "const" in schema else ()):
        return draw(st.sampled_from(options))
    kind = schema.get("type", "object")
    kind = draw(st.sampled_from(kind)) if isinstance(kind, list) else kind
    if kind == "object":
        return draw(tables(schema, depth))
    if kind == "array":
        return draw(st.lists(values(schema.get("items"), depth + 1), max_size=3))
    if kind == "boolean":
        return draw(st.booleans())
    if kind in {"integer", "number"}:
        return draw(st.sampled_from([schema.get("minimum", 1), schema.get("maximum", 2), 3, 0.5]))
    texts = [*schema.get("examples", ()), "a", "b", "1s", "a > b", "server", "/x"]
    return draw(st.sampled_from(texts))


@st.composite
def tables(draw: st.DrawFn, schema: Any, depth: int = 0) -> dict[str, Any]:
    properties = schema.get("properties", {})
    optional = draw(st.sets(st.sampled_from(sorted(properties)))) if properties else set()
    names = {**dict.fromkeys(schema.get("required", ())), **dict.fromkeys(sorted(optional))}
    table = {name: draw(values(properties.get(name), depth + 1)) for name in names}
    for form in (schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()):
        if isinstance(form, dict):
            for label in draw(st.sets(st.sampled_from("abc"), min_size=1, max_size=2)):
                table[label] = draw(values(form, depth + 1))
    return table


def sites(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from sites(value[key])


@st.composite
def suites(draw: st.DrawFn) -> bytes:
    """Draw a suite with up to three wrong values, keys or gaps, and up to two in its text."""
    text = draw(st.sampled_from(SUITES)).read_text()
    drawn = draw(st.booleans())
    suite = {"benchforge": 1, **draw(tables(SCHEMA))} if drawn else tomllib.loads(text)
    damages = draw(st.integers(0, 3))
    for _ in range(damages):
        holder, key = draw(st.sampled_from([*sites(suite)] or [(suite, "benchforge")]))
        match draw(st.integers(0, 4)):
            case 0:
                del holder[key]
            case 1:
                giver, other = draw(st.sampled_from([*sites(suite)]))
                holder[key] = copy.deepcopy(giver[other])
            case 2 if isinstance(holder, dict):
                holder[draw(KEYS)] = holder.pop(key)
            case _:
                holder[key] = draw(ODD)
    if drawn or damages:
        text = "".join(f"{toml_key(key)} = {in_toml(value)}\n" for key, value in suite.items())
    content = text.encode()
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        fragment = draw(FRAGMENTS | st.sampled_from(content.splitlines(keepends=True) or [b"a"]))
        position = draw(st.integers(0, len(content)))
        content = content[:position] + fragment + content[position + draw(st.integers(0, 2)) :]
    return content


@given(suites())
@settings(max_examples=60 if settings().max_examples < 100 else 3_000)
def test_check_locates_what_is_wrong(content: bytes) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        errors = stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        Path("a.toml").write_bytes(content)
        code = called(["check", "a.toml"])
    for line in (lines := errors.getvalue().rstrip("\n").split("\n")):
        error = LOCATED if code == 2 else "error: missing .*"
        assert re.fullmatch(rf"{error}|hint: .+| *\d* \| .*|", line), (line, content)
        assert line.isprintable(), (line, content)
    assert code == (0 if lines == [""] else 2 + lines[0].startswith("error: missing "))
