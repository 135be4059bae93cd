"""Thresholds of the checks: data, with a version that every result holds."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal

from pydantic import ConfigDict

from benchforge.model.trial.check import Audience, Check, Status, Subject, Topic
from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import exact

FILE = "limits.toml"
_DIGITS = 6  # enough for a person
# By all limits of one check:
_SHARED = ("name", "unit", "source", "transient", "topic", "audience", "warned", "causes")


class Limit(Frozen):
    """The thresholds of one check. With `below`, values below them are bad; else from them on."""

    name: str
    unit: str = ""
    source: str
    warn: float | None = None
    fail: float | None = None
    below: bool = False
    transient: bool = False
    "True if the cause comes and goes, so that another attempt may succeed."
    topic: Topic = ""
    audience: Audience | None = None
    "Whom a failure concerns; None: invalid if it is of the apparatus, else limits."
    warned: Audience | None = None
    "Whom a warning concerns; None: limits if a failure is invalid, else as a failure."
    unknown: Audience = "expert"
    "Whom it concerns that nothing is known."
    causes: tuple[str, ...] = ()
    "Ids of checks whose findings may explain a finding of this one; the first that spoke counts."

    model_config = ConfigDict(extra="allow")  # further numbers, by names that the check knows

    def status(self, value: float) -> Literal["pass", "warn", "fail"]:
        """Judge a value: one at a threshold is beyond it, unless that is zero."""
        if self._beyond(value, self.fail):
            return "fail"
        return "warn" if self._beyond(value, self.warn) else "pass"

    def _beyond(self, value: float, threshold: float | None) -> bool:
        if threshold is None or self.below:
            return threshold is not None and value < threshold
        return value >= threshold if threshold else value > 0

    def number(self, name: str) -> float:
        """Return one of the further numbers. Raises KeyError where there is no such."""
        return float((self.model_extra or {})[name])

    @property
    def description(self) -> str:
        """For a person: warn at 0.8, fail at 0.95 of a CPU."""
        named = [("warn", self.warn), ("fail", self.fail)]
        preposition = "below" if self.below else "at"
        bounds = ", ".join(
            f"{word} {preposition} {exact(value)}" for word, value in named if value is not None
        )
        return f"{bounds} {self.unit}".strip()


class Thresholds(Frozen):
    """All thresholds, by the id of the check; N3.cpu is one of several of the check N3."""

    version: str
    by_id: dict[str, Limit]

    def __getitem__(self, id_: str) -> Limit:
        return self.by_id[id_]

    def once(self) -> "Thresholds":
        """Return them for a smoke: its numbers mean nothing, so that no trial is tried again."""
        once = {"transient": False}
        by_id = {id_: limit.model_copy(update=once) for id_, limit in self.by_id.items()}
        return self.model_copy(update={"by_id": by_id})

    def loosened(self, at_least: Mapping[str, float]) -> "Thresholds":
        """Return them with each `warn` at least what this machine does when it is quiet.

        `fail` keeps its distance.
        """
        changed = dict(self.by_id)
        for id_, least in at_least.items():
            limit = self.by_id.get(id_)
            if limit is None or limit.warn is None or least <= limit.warn:
                continue
            fail = None if limit.fail is None else limit.fail + least - limit.warn
            changed[id_] = limit.model_copy(update={"warn": least, "fail": fail})
        return self.model_copy(update={"by_id": changed})

    def check(
        self,
        id_: str,
        subject: Subject,
        value: float | None,
        message: str,
        status: Status | None = None,
    ) -> Check:
        """Return a check's answer of a trial, judged by its limit unless `status` says otherwise.

        Without a value and a status it is unknown, and `message` says why. `id_` may be that of a
        limit, such as N3.cpu.
        """
        limit = self.by_id[id_]
        if status is None:
            status = "unknown" if value is None else limit.status(value)
        return Check(
            id=id_.partition(".")[0],
            name=limit.name,
            scope="trial",
            subject=subject,
            status=status,
            value=value if value is None else float(f"{value:.{_DIGITS}g}"),
            threshold=limit.description,
            source=limit.source,
            message=message,
            transient=limit.transient,
            topic=limit.topic,
        )

    def advised(
        self, id_: str, subject: Subject, value: float | None, message: str, advice: str
    ) -> Check:
        """Return a check's answer by its limit, with advice if it warns or fails."""
        check = self.check(id_, subject, value, message)
        return check.like(message=message + advice * (check.status in {"warn", "fail"}))


@cache
def limits() -> Thresholds:
    """Return the thresholds that are brought along."""
    text = resources.files("benchforge.checks").joinpath(FILE).read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    version = tables.pop("version")
    by_id: dict[str, Limit] = {}
    for id_, table in tables.items():
        inner = {name: entry for name, entry in table.items() if type(entry) is dict}
        by_id[id_] = Limit(**{name: table[name] for name in table if name not in inner})
        shared = {name: table[name] for name in _SHARED if name in table}
        for name, entry in inner.items():
            by_id[f"{id_}.{name}"] = Limit(**shared | entry)
    return Thresholds(version=version, by_id=by_id)
