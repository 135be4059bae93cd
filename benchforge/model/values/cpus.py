"""Sets of CPUs, as the kernel and people write them: "0-3,8"."""

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_RANGE = r"[0-9]{1,5}(?:-[0-9]{1,5})?"  # more than any kernel has, and never too many to count
_PATTERN = rf"\s*{_RANGE}(?:\s*,\s*{_RANGE})*\s*"
JSON_PATTERN = f"^{_PATTERN.replace('?:', '')}$"
_HIGHEST = 99_999


class Cpus(tuple[int, ...]):
    """Numbers of CPUs, at least one, each once and in order; `str` writes them as the kernel."""

    __slots__ = ()
    wanted: ClassVar[str] = 'CPUs such as "0-3,8" or [0, 1]'

    @classmethod
    def of(cls, numbers: Iterable[int]) -> "Cpus":
        """Return a set of these numbers."""
        return cls(sorted(set(numbers)))

    @classmethod
    def parse(cls, value: object) -> "Cpus":
        """Read a text such as "0-3,8" or a list. Raises PydanticCustomError with what is wanted."""
        if isinstance(value, str) and re.fullmatch(_PATTERN, value):
            ends = [[int(end) for end in span.split("-")] for span in value.split(",")]
            if all(end[0] <= end[-1] for end in ends):
                return cls.of(cpu for end in ends for cpu in range(end[0], end[-1] + 1))
        if isinstance(value, list | tuple) and value and all(map(_is_cpu, value)):
            return cls.of(value)
        raise PydanticCustomError("quantity", "should be {wanted}", {"wanted": cls.wanted})

    def __str__(self) -> str:
        ranges: list[list[int]] = []
        for cpu in self:
            if ranges and cpu == ranges[-1][-1] + 1:
                ranges[-1] = [ranges[-1][0], cpu]
            else:
                ranges.append([cpu])
        return ",".join("-".join(map(str, range_)) for range_ in ranges)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(str, when_used="always"),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        number = {"type": "integer", "minimum": 0, "maximum": _HIGHEST}
        return {
            "anyOf": [
                {"type": "string", "pattern": JSON_PATTERN},
                {"type": "array", "items": number, "minItems": 1},
            ]
        }


def _is_cpu(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _HIGHEST
