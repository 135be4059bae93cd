"""Traffic between benchforge and a host: lines of JSON, and their time-outs."""

import json
from collections.abc import Mapping
from typing import Literal

from benchforge.errors import NoAnswer, TrialFailed

BEAT_S, LEASE_S = 1.0, 5.0
"Seconds between two beats, and the silence after which a host ends all that it runs."
SILENT_S = 20.0
"Without an answer to a beat for so long, a host is lost: its far end is stopped, or starves."
LARGEST_LINE = 64 << 20
CHUNK = 1 << 19
"Bytes of a file that cross at once."


class HostLost(TrialFailed):
    """A host does not answer any more, or its part of a trial ended."""

    about: Literal["behaviour", "apparatus"] = "apparatus"

    def __init__(self, label: str, reason: str) -> None:
        hint = f"see its network, its memory (dmesg) and its ssh server: [hosts.{label}]"
        super().__init__("drive", f"lost host {label}: {reason}", hint)


class HostFault(NoAnswer):
    """A host sent what benchforge there does not send, or it failed there: this ends the run."""

    def __init__(self, label: str, reason: str) -> None:
        hint = "see what runs there; remove ~/.cache/benchforge/hosts there, and run it again"
        super().__init__(f"hosts.{label}: {reason}", hint)


def line(message: Mapping[str, object]) -> bytes:
    """Return a message as it is sent."""
    return json.dumps(message).encode() + b"\n"
