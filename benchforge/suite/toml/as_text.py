"""Values as TOML writes them in one line."""

import json
from typing import Any


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
    plain = key.isascii() and key.replace("-", "_").isidentifier()
    return key if plain else in_toml(key)
