"""Names of cases, and the digest that identifies a case."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from pydantic import JsonValue, PositiveInt

from benchforge.model.values.frozen import Frozen

Among = Literal["servers", "clients"]
"What is compared: the servers under one load tool, or the clients of one server."
Role = Literal["server", "upstream", "backend", "loader"]
KIND, STAGE = "kind", "stage"
"Axes of a mix's kinds and a load's stages, in the place of what varies: all its paths have dots."


Identity = tuple[str, str, str, str, int]


class CaseName(Frozen):
    """Labels of a case, and its identity."""

    scenario: str
    "Label of the scenario."
    server: str
    "Label of the server."
    driver: str
    "Label of the load tool or client."
    vary: dict[str, JsonValue]
    "Values of the varied options, by their paths in the suite."
    digest: str
    "Digest of the resolved options and the code, without labels."
    arm: PositiveInt = 1
    "Number of the arm; above 1 if the suite names the same case again: an A/A comparison."
    placebo: bool = False
    "True for a placebo: the second measurement of its scenario's first case."

    def of_kind(self, label: str) -> "CaseName":
        """Return the name of one kind of the case's mix. Its identity is the case's."""
        return self.model_copy(update={"vary": {**self.vary, KIND: label}})

    def of_stage(self, number: int) -> "CaseName":
        """Return the name of a stage of the case's load, from 1 on. Its identity is the case's."""
        return self.model_copy(update={"vary": {**self.vary, STAGE: number}})

    @property
    def part(self) -> str:
        """The axis of the part of its load that it is about; empty for the whole load."""
        return next((axis for axis in (KIND, STAGE) if axis in self.vary), "")

    @property
    def part_label(self) -> str:
        """Label of the kind, or the stage, that it is about; empty for the whole load."""
        value = str(self.vary.get(self.part, ""))
        return f"stage {value}" if self.part == STAGE else value

    @property
    def title(self) -> str:
        """Title of the case: scenario, server, driver and varied options."""
        return f"{self.scenario} · {self.within}"

    @property
    def within(self) -> str:
        """Title of the case within its scenario."""
        words = [f"{path.rpartition('.')[2]}={value}" for path, value in self.vary.items()]
        # Without varied options the label alone differs. Two varied paths may end in one name.
        arm = [f"arm {self.arm}"] if self.arm > 1 and self.vary else []
        if self.placebo:
            arm = ["placebo"]
        return " · ".join([self.server, self.driver, *words, *arm])


def shared(case: CaseName, among: Among = "servers") -> dict[str, JsonValue]:
    """Return what varies, without what belongs to the servers or clients that are compared."""
    return {path: value for path, value in case.vary.items() if not path.startswith(f"{among}.")}


def comparison(case: CaseName, among: Among = "servers") -> str:
    """Return a key of the cases that are compared: scenario, other side, and what is `shared`."""
    other = case.driver if among == "servers" else case.server
    return json.dumps([case.scenario, other, shared(case, among)], sort_keys=True)


def among(cases: Sequence[CaseName]) -> Among:
    """Return what is compared in a group of cases."""
    return "clients" if len({case.driver for case in cases}) > 1 else "servers"


def server_names(cases: Sequence[CaseName]) -> list[str]:
    """Return what several servers or clients are called: their labels, and what varies of them."""
    kind = among(cases)
    names = [case.server if kind == "servers" else case.driver for case in cases]
    pairs = zip(names, cases, strict=True)
    labels = [", ".join([name, *_varies(case, kind)]) for name, case in pairs]
    often = Counter(labels)
    return [name if often[name] == 1 else f"{name} ({n})" for n, name in enumerate(labels, 1)]


def _varies(case: CaseName, group: Among) -> Iterator[str]:
    for path, value in case.vary.items():
        if path.startswith(f"{group}."):
            yield f"{path.rpartition('.')[2]} {value}"


def identity(case: CaseName) -> Identity:
    """Return the identity of a case: labels of scenario, server and driver, and its digest."""
    # What varies is part of the digest; two labels may stand for the same options.
    return case.scenario, case.server, case.driver, case.digest, case.arm


def groups(cases: Iterable[CaseName], clients: Collection[str]) -> list[tuple[CaseName, ...]]:
    """Return the cases that are compared with one another, in the order of the suite.

    Servers share the scenario, the driver and all that varies but their own options. `clients` are
    labels of scenarios whose clients are compared. No group has a placebo.
    """
    grouped: dict[str, list[CaseName]] = {}
    for case in cases:
        if case.placebo:
            continue
        key = comparison(case, "clients" if case.scenario in clients else "servers")
        grouped.setdefault(key, []).append(case)
    return [tuple(group) for group in grouped.values()]
