"""Flows: records whose later steps use values of the answers to earlier ones."""

import json
import struct
from pathlib import Path

from flow_values import NoValue, cookies_set, request, taken, with_cookies

_SIZE = struct.Struct("<I")


class Flow:
    """A flow that a user has begun: what its answers gave, and the steps that are left."""

    __slots__ = ("cookies", "kind", "next", "steps", "think_s", "values")

    def __init__(self, kind, think_s, steps):
        self.kind = kind
        self.think_s = think_s
        self.steps = steps
        self.cookies = steps[0]["cookies"]
        self.values = {}
        self.next = None

    @property
    def later(self):
        """Numbers of the steps behind the one that it is at."""
        return range(self.kind + 1, self.kind + 1 + len(self.steps))


class Flows:
    """What the steps of all flows take and expect; empty for a stream without flows."""

    def __init__(self, stream):
        file = Path(stream).with_suffix(".flows")
        told = json.loads(file.read_text()) if file.exists() else {}
        self._kinds = told.get("steps", [])
        self._extra = told.get("extra", [])
        self.per_record = told.get("requests", 1.0)

    def is_later(self, kind):
        """Whether a kind is a later step."""
        return bool(self._kinds) and self._kinds[kind]["later"]

    def begun(self, content, at, kind, later):
        """Return the flow whose later steps are in the stream at a place."""
        steps = []
        for _ in range(later):
            (size,) = _SIZE.unpack_from(content, at)
            at += _SIZE.size + size
            steps.append(json.loads(content[at - size : at]))
        return Flow(kind, self._kinds[kind]["think_s"], steps)

    def answered(self, flow, status, lines, body):
        """Make the next request of a flow; return why there is none. Raises NoValue.

        `lines` are the names and values of the answer's headers, `body` is None if it is too long.
        """
        step = self._kinds[flow.kind]
        if status not in step["statuses"]:
            return f"{step['label']}: status {status} ended the flow"
        fields, set_cookies = _fields(lines)
        new = cookies_set(set_cookies)
        number = flow.kind + 1
        try:
            flow.values.update(taken(step["take"], fields, new, body))
            flow.cookies = with_cookies(flow.cookies, new)
            flow.next = request(flow.steps[0], flow.values, flow.cookies, self._extra[number])
        except NoValue as error:
            raise NoValue(f"{step['label']}: {error}") from None
        flow.steps = flow.steps[1:]
        flow.kind = number
        return None


def _fields(lines):
    """Return the headers by name, those of one name joined, and all lines Set-Cookie."""
    fields, set_cookies = {}, []
    for given, value in lines:
        name = given.lower()
        if name == "set-cookie":
            set_cookies.append(value)
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return fields, set_cookies
