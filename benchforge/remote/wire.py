"""What crosses between benchforge and a host: calls, answers and errors, a line of JSON each."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from benchforge.errors import (
    BenchforgeError,
    CannotKeep,
    NoAnswer,
    OutputDamaged,
    ProgramMissing,
    ServerBroken,
    TrialFailed,
    Unusable,
)

BEAT_S, LEASE_S = 1.0, 5.0
"Seconds between two beats, and the silence after which a host ends all that it runs."
SILENT_S = 20.0
"Without an answer to a beat for so long, a host is lost: its far end is stopped, or starves."
LARGEST_LINE = 64 << 20
CHUNK = 1 << 19
"Bytes of a file that cross at once."

_ERRORS: Mapping[str, type[BenchforgeError]] = {
    one.__name__: one
    for one in (BenchforgeError, CannotKeep, NoAnswer, OutputDamaged, ProgramMissing, Unusable)
}


class HostLost(TrialFailed):
    """A host does not answer any more, or its part of a trial ended."""

    about: Literal["behaviour", "apparatus"] = "apparatus"

    def __init__(self, label: str, why: str) -> None:
        hint = f"see its network, its memory (dmesg) and its ssh server: [hosts.{label}]"
        super().__init__("drive", f"lost host {label}: {why}", hint)


class HostFault(Exception):
    """benchforge on a host failed by a fault of its own: its traceback."""


def line(message: Mapping[str, object]) -> bytes:
    """Return a message as it is sent."""
    return json.dumps(message).encode() + b"\n"


def error_of(error: Exception) -> dict[str, object]:
    """Return an error as plain values."""
    if isinstance(error, TrialFailed):
        return {
            "type": "TrialFailed",
            "message": error.message,
            "hint": error.hint,
            "stage": error.stage,
            "log": error.log,
            "about": error.about,
            "broken": error.broken,
        }
    if isinstance(error, BenchforgeError):
        kind = next(one.__name__ for one in type(error).__mro__ if one.__name__ in _ERRORS)
        return {"type": kind, "message": error.message, "hint": error.hint}
    import traceback  # noqa: PLC0415 - a fault of our own

    return {"type": "fault", "message": "".join(traceback.format_exception(error))}


def raised(label: str, given: Mapping[str, Any], hide: Callable[[str], str] = str) -> Exception:
    """Return the error that a host sent, with the host's label and without secrets."""
    message, hint = hide(f"{label}: {given.get('message')}"), hide(str(given.get("hint", "")))
    if given.get("type") == "TrialFailed":
        kind_of = ServerBroken if given.get("broken") is True else TrialFailed
        failed = kind_of(str(given.get("stage")), message, hint, str(given.get("log", "")))
        failed.about = "apparatus" if given.get("about") == "apparatus" else "behaviour"
        return failed
    if (kind := _ERRORS.get(str(given.get("type")))) is not None:
        return kind(message, hint)
    return HostFault(message)
