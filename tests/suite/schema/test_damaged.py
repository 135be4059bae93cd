"""Suites drawn from the schema, and ours, with damages: `check` tells where, and never fails."""

import copy
import json
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchforge_author.options import in_toml, toml_key

from benchforge.cli import called

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "schemas/suite.schema.json").read_text())
SUITES = sorted(ROOT.glob("suites/*.toml"))
ODD: tuple[Any, ...] = (
    *(None, {}, [], "", "\0", "a\0b", "é\n", "{", "{x}", "*", "../..", "a.b", "\U0001f4a9" * 99),
    *(True, 0, -1, 2**63 - 1, 1e308, 0.5, "1s", "5%", "a > b", [[]], [1, "a"]),
    *({"a": 1}, {"env": "HOME"}, {"env": "NOT_SET"}, {"env": 1}, {"*": 1}, [{"a": {"b": [1]}}]),
)


def drawn(schema: Any, chance: random.Random, depth: int = 0) -> Any:  # noqa: C901, PLR0911 - one line for each kind
    """Draw a value that a schema describes, more or less."""
    while ref := schema.get("$ref") if isinstance(schema, dict) else None:
        schema = SCHEMA["$defs"][ref.rpartition("/")[2]]
    if not isinstance(schema, dict) or depth > 6:
        return chance.choice(ODD)
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema and (chance.random() < 0.8 or "type" not in schema):
            return drawn(chance.choice(schema[union]), chance, depth)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return chance.choice(schema["enum"])
    kind = schema.get("type")
    kind = chance.choice(kind) if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        return of_object(schema, chance, depth)
    if kind == "array":
        return [drawn(schema.get("items"), chance, depth + 1) for _ in range(chance.randint(0, 3))]
    if kind in {"integer", "number"}:
        return chance.choice([schema.get("minimum", 1), schema.get("maximum", 2), 3, 0.5])
    if kind == "boolean":
        return chance.random() < 0.5
    return chance.choice([*schema.get("examples", ()), *"ab", "1s", "a > b", "server", "/x"])


def of_object(schema: Any, chance: random.Random, depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    most = chance.choice([0.2, 0.5]) if depth else 0.7
    names = [*schema.get("required", ()), *(key for key in properties if chance.random() < most)]
    table = {key: drawn(properties.get(key), chance, depth + 1) for key in dict.fromkeys(names)}
    free = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
    for form in (form for form in free if isinstance(form, dict)):
        labels = chance.sample("abc", chance.randint(1, 2))
        table |= {label: drawn(form, chance, depth + 1) for label in labels}
    return table


def damaged(tables: Any, chance: random.Random) -> Any:
    """Put an odd value, or one from elsewhere, at a place; or take what stands there away."""
    tables = copy.deepcopy(tables)
    for _ in range(chance.randint(1, 3)):
        sites = [*places(tables)]
        holder, key = chance.choice(sites)
        match chance.randrange(5):
            case 0:
                del holder[key]
            case 1:
                giver, other = chance.choice(sites)
                # Behind the damage before it, the place may be gone.
                holder[key] = copy.deepcopy(giver[other])
            case 2 if isinstance(holder, dict):
                holder[chance.choice(["x", "", "*", "é", "a.b", "\0"])] = holder.pop(key)
            case _:
                holder[key] = copy.deepcopy(chance.choice(ODD))
    return tables


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def without_null(value: Any) -> Any:
    """TOML has no null: where a damage put it, nothing stands."""
    if isinstance(value, dict):
        return {key: without_null(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_null(inner) for inner in value if inner is not None]
    return value


def suite_text(seed: int) -> str:
    chance = random.Random(seed)
    if chance.random() < 0.6:
        tables: Any = tomllib.loads(chance.choice(SUITES).read_text())
    else:
        tables = {"benchforge": 1, **drawn(SCHEMA, chance)}
    if chance.random() < 0.9:
        tables = damaged(json.loads(json.dumps(tables)), chance)
    return "".join(
        f"{toml_key(key)} = {in_toml(one)}\n" for key, one in without_null(tables).items()
    )


@pytest.mark.parametrize("first", range(0, 2000, 20))
@pytest.mark.samples(2)
def test_check_locates_what_is_wrong(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in range(first, first + 20):
        text = suite_text(seed)
        Path("a.toml").write_text(text)
        code = called(["check", "a.toml"])
        said = capsys.readouterr()
        assert code in {0, 2, 3}, (seed, said.err)
        assert "plugin is at fault" not in said.err, (seed, said.err, text)
        for line in said.err.splitlines():
            known = not line.startswith("error: ") or line.startswith(
                ("error: a.toml:", "error: missing ", "error: and ")
            )
            assert known, (seed, line)
