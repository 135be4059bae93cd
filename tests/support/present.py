"""What must be there, for tests of values that may be None."""

from typing import TypeVar

Value = TypeVar("Value")


def present(value: Value | None) -> Value:
    """Return a value, and fail where it is None."""
    assert value is not None
    return value
