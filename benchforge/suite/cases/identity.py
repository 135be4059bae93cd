"""What a case is, whatever it is called: the texts that its digest is made of."""

import hashlib
import json
from functools import cached_property

from pydantic import BaseModel, JsonValue

from benchforge.parts.part import UPSTREAM_OPTIONS, Part, RunsPython, ServesCode
from benchforge.suite.suite import Suite


class CasePart:
    """A part at some points, and what it is: found out when it is asked for, once."""

    def __init__(self, part: Part, suite: Suite) -> None:
        self.part = part
        self._suite = suite

    @cached_property
    def text(self) -> str:
        """Its plugin, its options and the code that it serves: elements of a JSON array."""
        ref = {"ref"} if isinstance(self.part, ServesCode) else set[str]()
        options = self.part.model_dump(mode="json", exclude={*UPSTREAM_OPTIONS, *ref})
        if isinstance(self.part, RunsPython) and self.part.runtime is not None:
            runtime = self._suite.runtimes[self.part.runtime]
            options["runtime"] = runtime.model_dump(mode="json", include={"python", "requires"})
        return as_text([self.part.kind, self.part.name, options, self._code()])[1:-1]

    def _code(self) -> str:
        """Return what of it is served: a commit is known by its id, whatever led to it."""
        part, suite = self.part, self._suite
        if not isinstance(part, ServesCode) or part.ref is None:
            return part.fingerprint(suite.path.parent)
        named = (
            one for one in suite.code if (one.directory, one.ref) == (part.directory, part.ref)
        )
        # Where git was not asked, as by `plan`, it stands for itself.
        return f"commit {next((one.commit for one in named), part.ref)}"


def as_text(value: BaseModel | JsonValue) -> str:
    """Return a value as digests take it."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return json.dumps(plain, sort_keys=True)


def digest(texts: dict[str, str]) -> int:
    """Return the digest of a JSON object, given by its keys and the texts of its values."""
    members = ", ".join(f'"{key}": {text}' for key, text in sorted(texts.items()))
    return int.from_bytes(hashlib.sha256(f"{{{members}}}".encode()).digest()[:8], "big")
