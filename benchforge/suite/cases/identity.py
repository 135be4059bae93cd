"""What a case is, whatever it is called: the texts that its digest is made of."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Generic, TypeVar, cast

from pydantic import BaseModel, JsonValue

from benchforge.errors import Unusable
from benchforge.model.trial.answers.exposed_secrets import HIDDEN
from benchforge.parts.part import UPSTREAM_OPTIONS, Driver, Part, RunsPython, ServesCode
from benchforge.suite.cases.case import load_s
from benchforge.suite.suite import Suite

PartT = TypeVar("PartT", bound=Part)


class CasePart(Generic[PartT]):
    """A part at some points, and what it is: found out when it is asked for, once."""

    def __init__(self, part: PartT, suite: Suite, host: str | None = None) -> None:
        self.part = part
        self._host = [] if host is None else [host]
        self._suite = suite

    @cached_property
    def text(self) -> str:
        """Its plugin, its options and the code that it serves: elements of a JSON array."""
        return as_text([*self._options, self._code(), *self._host])[1:-1]

    @cached_property
    def load_s(self) -> float:
        """What a driver says that its load takes, in seconds. Raises BenchforgeError."""
        return load_s(cast("Driver", self.part))

    @property
    def _options(self) -> list[JsonValue]:
        ref = {"ref"} if isinstance(self.part, ServesCode) else set[str]()
        options = self.part.model_dump(mode="json", exclude={*UPSTREAM_OPTIONS, *ref})
        if isinstance(self.part, RunsPython) and self.part.runtime is not None:
            runtime = self._suite.runtimes[self.part.runtime]
            options["runtime"] = runtime.model_dump(mode="json", include={"python", "requires"})
        return [self.part.kind, self.part.name, options]

    @property
    def key(self) -> str | None:
        """Digest of its options, which names its code in a result; None if it has no code."""
        if type(self.part).fingerprint is Part.fingerprint:
            return None
        return hashlib.sha256(as_text(self._options).encode()).hexdigest()[:16]

    def _code(self) -> str:
        """Return what of it is served: a commit is known by its id, whatever led to it."""
        part, suite = self.part, self._suite
        if not isinstance(part, ServesCode) or part.ref is None:
            if suite.code_digests is None or (key := self.key) is None:
                return part.fingerprint(suite.path.parent)
            if HIDDEN in as_text(self._options):
                return HIDDEN
            if key not in suite.code_digests:
                raise Unusable(f"the result has no digest of the code of a {part.kind} {part.name}")
            return suite.code_digests[key]
        named = (
            one for one in suite.code if (one.directory, one.ref) == (part.directory, part.ref)
        )
        # Where git was not asked, as by `plan`, it stands for itself.
        return f"commit {next((one.commit for one in named), part.ref)}"


def code_digests(parts: Iterable[Part], suite: Suite) -> dict[str, str]:
    """Return the digests of the code and data of parts, for a result: no commit's, which has an id.

    Raises BenchforgeError where code or data cannot be read.
    """
    digests: dict[str, str] = {}
    for part in parts:
        key = CasePart(part, suite).key
        if key is not None and not (isinstance(part, ServesCode) and part.ref is not None):
            digests[key] = part.fingerprint(suite.path.parent)
    return digests


def as_text(value: BaseModel | JsonValue) -> str:
    """Return a value as digests take it."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return json.dumps(plain, sort_keys=True)


def template(texts: Mapping[str, str], *gaps: str) -> str:
    """Return a JSON object of texts by their keys, with `%s` for each gap; keys are in order."""
    members = dict.fromkeys(gaps, "%s") | {key: of.replace("%", "%%") for key, of in texts.items()}
    return f"{{{', '.join(f'{json.dumps(key)}: {members[key]}' for key in sorted(members))}}}"


def digest(text: str) -> int:
    """Return the digest of a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
