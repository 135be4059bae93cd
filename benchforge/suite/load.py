"""Text to a suite: the only place that reads TOML. What it returns needs no further question."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue

from benchforge.model.frozen import Frozen
from benchforge.model.runtime import Runtime
from benchforge.registry import Registry
from benchforge.suite.claims import sound_claims
from benchforge.suite.complaints import Complaints
from benchforge.suite.declared import KINDS, STANDARD, declared, metrics, tables_of
from benchforge.suite.document import Document, Tables
from benchforge.suite.environment import Environment
from benchforge.suite.expand import named
from benchforge.suite.faults import Nearest, nearest
from benchforge.suite.find import check_apart, check_repeat
from benchforge.suite.given import check_given
from benchforge.suite.layers import layered
from benchforge.suite.pivots import check_cells, pivots
from benchforge.suite.placement import placement
from benchforge.suite.redact import secrets_of
from benchforge.suite.refs import check_refs
from benchforge.suite.repeat import repeated
from benchforge.suite.runtimes import check_named, runtimes
from benchforge.suite.scenarios import scenarios
from benchforge.suite.sides import resolved
from benchforge.suite.source import read
from benchforge.suite.star import check_left
from benchforge.suite.suite import Declared, Scenario, Suite
from benchforge.suite.tuning import tuning
from benchforge.suite.upstreams import check_upstreams

FORMAT = 1
"Of suites: what `benchforge = 1` at their top says."


class Top(Frozen):
    """The keys at the top of a suite that are no tables."""

    benchforge: int
    "The format of the suite."
    name: str | None = Field(default=None, pattern=r"^\w[\w.-]*$")
    "It names the folder of the results."
    title: str = ""
    "For people: above every report."
    only: tuple[str, ...] = ()
    "Labels of the scenarios to run; all of them without it."
    smoke: bool = False
    "Whether this only shows that all works, and measures nothing: mostly said in a profile."
    network: Literal["private", "host"] = "private"
    "Whether each trial has a network of its own, or the machine's."


LABELLED = (*KINDS, "runtimes", "scenarios", "tables", "claims")
TABLES = (*LABELLED, "repeat", "tuning", "placement", "profiles")


def load(
    path: str | os.PathLike[str],
    registry: Registry,
    *,
    profile: str | None = None,
    settings: Sequence[tuple[str, str]] = (),
    only: Sequence[str] = (),
) -> Suite:
    """Read a suite with one profile and all settings applied, every name in it resolved.

    Raises SuiteErrors, which holds everything that is wrong.
    """
    written = read(path)
    document = layered(written, profile, settings, registry)
    complaints = Complaints(document)
    environment = Environment(complaints)
    tables = document.tables

    top = _top(document, complaints)
    _check_profiles(written.tables, complaints)
    check_left(tables, registry, complaints)
    labelled = {kind: tables_of(tables, kind, complaints) for kind in LABELLED}
    if "metrics" not in tables:
        labelled["metrics"] = {label: dict(table) for label, table in STANDARD.items()}
    parts = declared(labelled, registry, environment, complaints)
    labels = {kind: _labels(tables.get(kind), found) for kind, found in labelled.items()}
    check_upstreams(parts["servers"], labels["servers"], complaints)
    check_given(parts, labels["backends"], complaints)
    check_refs(parts["servers"], Path(path).parent, complaints)
    interpreters = runtimes(labelled["runtimes"], environment, complaints)
    check_named(parts, labels["runtimes"], complaints)
    every = scenarios(labelled["scenarios"], labels, parts, environment, complaints)
    repeat = repeated(document, profile, complaints)
    check_repeat(every, tables.get("repeat"), complaints)
    tuned = tuning(tables, complaints)
    places = placement(tables, complaints)
    drawn = pivots(labelled["tables"], labels["metrics"], labels["scenarios"], every, complaints)
    asked = sound_claims(labelled["claims"], metrics(parts["metrics"]), labels, every, complaints)
    if not tables.get("scenarios") and not get_close_matches("scenarios", tables, 1):
        complaints.at((), "no scenario is declared", "write [scenarios.LABEL]")
    chosen = _chosen(top.only, only, labels["scenarios"], complaints)
    check_apart(every, chosen, repeat, complaints)

    secrets = frozenset([*environment.used, *_secrets(parts, interpreters, every)])
    complaints.settle(environment.used)
    suite = Suite(
        path=Path(path),
        text=document.text,
        document=document,
        name=top.name or _name(Path(path)),
        title=top.title,
        profile=profile,
        smoke=top.smoke,
        network=top.network,
        servers=parts["servers"],
        backends=parts["backends"],
        loaders=parts["loaders"],
        clients=parts["clients"],
        runtimes=interpreters,
        metrics=metrics(parts["metrics"]),
        scenarios=every,
        only=chosen if top.only or only else (),
        repeat=repeat,
        tuning=tuned,
        placement=places,
        tables=drawn,
        settings=dict(settings),
        secrets=secrets,
    )
    check_cells(drawn, suite, complaints)  # of all cases, which only a sound suite has
    claims = resolved(asked, lambda label: named(suite, label), complaints)
    complaints.settle(environment.used)
    wanted = {label: every[label] for label in every if label in chosen}
    return replace(suite, scenarios=wanted, claims=claims)


def _top(document: Document, complaints: Complaints) -> Top:
    tables = document.tables
    version = tables.get("benchforge")
    if isinstance(version, int) and not isinstance(version, bool) and version != FORMAT:
        hint = "this benchforge reads format 1; a newer one may read this suite"
        complaints.at(("benchforge",), f"expected {FORMAT}, got {version}", hint)
        complaints.settle(())  # whatever else is wrong by format 1 need not be wrong
    if version is None:
        hint = f"write benchforge = {FORMAT} as the first line: the format of the suite"
        complaints.at((), "'benchforge' is missing", hint)
    known = [*Top.model_fields, *TABLES]
    for key in tables.keys() - set(known):
        complaints.at((key,), "unknown key", Nearest(key, known, "a suite takes"))
    given = {key: value for key, value in tables.items() if key in Top.model_fields}
    fallback = Top(benchforge=FORMAT)
    return complaints.parse(Top, {"benchforge": FORMAT, **given}, ()) or fallback


def _check_profiles(tables: Tables, complaints: Complaints) -> None:
    """Complain of what no profile can set, whether it is chosen or not."""
    known = [key for key in (*Top.model_fields, *TABLES) if key not in {"benchforge", "profiles"}]
    for label, profile in tables_of(tables, "profiles", complaints).items():
        for key in profile.keys() - set(known):
            hint = nearest(key, known, "a profile takes")
            complaints.at(("profiles", label, key), "unknown key", hint)


def _chosen(
    in_suite: Sequence[str], given: Sequence[str], labels: Sequence[str], complaints: Complaints
) -> tuple[str, ...]:
    """Return the labels of the scenarios to run: those of the command line, of the suite, all."""
    for label in given:
        if label not in labels:
            hint = nearest(label, labels, "scenarios")
            complaints.of_option(f"--only {label}", "no such scenario", hint)
    for number, label in enumerate(in_suite):
        if label not in labels:
            hint = nearest(label, labels, "scenarios")
            complaints.at(("only", number), f"no scenario {label!r} is declared", hint)
    wanted = given or in_suite or labels
    return tuple(label for label in labels if label in wanted)


def _labels(written: JsonValue, found: Iterable[str]) -> tuple[str, ...]:
    """Return all labels, also of what is no sound table: it has a complaint of its own."""
    return tuple(dict.fromkeys((*found, *(written if isinstance(written, dict) else ()))))


def _name(path: Path) -> str:
    return re.sub(r"[^\w.-]+", "-", path.stem).strip(".-") or "suite"


def _secrets(
    parts: Mapping[str, Mapping[str, Declared]],
    interpreters: Mapping[str, Runtime],
    every: Mapping[str, Scenario],
) -> Iterable[str]:
    for labelled in parts.values():
        for one in labelled.values():
            yield from secrets_of(dict(one.options))
    for runtime in interpreters.values():
        yield from secrets_of(runtime.model_dump(mode="json"))
    for scenario in every.values():
        for request in (scenario.request, *scenario.requests.values()):
            yield from secrets_of(request.model_dump(mode="json"))
        points: list[Mapping[str, JsonValue]] = [dict(scenario.vary), *scenario.include]
        for point in points:
            yield from secrets_of({path.rpartition(".")[2]: v for path, v in point.items()})
