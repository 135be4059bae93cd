"""TOML's values as JSON has them: everything behind this is kept, hashed and written as JSON."""

import json
import math
from datetime import date, time
from typing import Any

from pydantic import JsonValue

from benchforge.suite.toml.positions import Path


class NotFinite(Exception):
    """A number that JSON does not have, at `path`."""

    def __init__(self, path: Path) -> None:
        super().__init__("expected a finite number")
        self.path = path


def plain(value: Any, path: Path = ()) -> JsonValue:
    """Return the value with dates and times as text. Raises NotFinite for `inf` and `nan`."""
    match value:
        case dict():
            return {key: plain(inner, (*path, key)) for key, inner in value.items()}
        case list():
            return [plain(inner, (*path, number)) for number, inner in enumerate(value)]
        case date() | time():
            return value.isoformat()
        case float() if not math.isfinite(value):
            raise NotFinite(path)
        case str() | int() | float():
            return value
    raise TypeError(f"{type(value).__name__} is no value of TOML")


def in_toml(value: Any) -> str:
    """Return a value of JSON as TOML writes it in one line."""
    if isinstance(value, dict):
        pairs = [f"{toml_key(key)} = {in_toml(inner)}" for key, inner in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(in_toml, value))}]"
    # What JSON may hold as it is, and TOML may not.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(key: str) -> str:
    """Return a key as TOML writes it."""
    return key if key.isascii() and key.replace("-", "_").isidentifier() else in_toml(key)
