"""Tables to models, by the types of TOML: "4" is no number and true is no 1."""

import json
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, JsonValue

M = TypeVar("M", bound=BaseModel)


def typed(model: type[M], table: Mapping[str, JsonValue]) -> M:
    """Return the model of a table. Raises pydantic's ValidationError.

    By way of JSON, because only there is pydantic strict about scalars and still takes an array
    for a tuple, and text for a path.
    """
    return model.model_validate_json(json.dumps(dict(table)), strict=True)
