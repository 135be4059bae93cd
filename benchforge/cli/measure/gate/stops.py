"""The claims of a gate, one for each pair: a run also ends once each is decided at all looks.

A large loss is clear long before its interval is narrow. An interval that holds at all looks
together may end a run at a verdict; the one that gives the verdict may not.
"""

from collections.abc import Iterator
from typing import Any

from benchforge.cli.measure.gate.pairs import base_label, renamed
from benchforge.cli.measure.gate.suite import Design, Load
from benchforge.suite.cases.expand import expand
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import Tables


def with_claims(design: Design, limit: float, load: Load) -> Design:
    """Return the design of a gate with a claim for each pair: it is not slower by this share.

    A pair whose metric has parts that depend on the trials gets none, and ends by its width.
    """
    claims = [*_claims(load(design.tables), limit)]
    labelled: Tables = {}
    for number, claim in enumerate(claims, start=1):
        label = f"{claim['scenario']}-{claim['a']['server']}"  # a run prints it
        labelled[label if len(claims) == 1 else f"{label}-{number}"] = claim
    return design._replace(tables={**design.tables, "claims": labelled}) if labelled else design


def _claims(suite: Suite, limit: float) -> Iterator[dict[str, Any]]:
    for case in expand(suite):
        name = case.name
        if base_label(name.server) not in suite.servers:
            continue
        label = next(iter(suite.scenarios[name.scenario].metrics or suite.metrics))
        metric = suite.metrics[label]
        if not metric.parts():
            continue
        part = metric.parts()[0]
        driver = "client" if name.driver in suite.clients else "loader"
        head: dict[str, Any] = {"server": name.server, driver: name.driver, **name.vary}
        vary = {renamed(path, name.server): value for path, value in name.vary.items()}
        yield {
            "says": f"{name.title}: not slower than the base by more than {100 * limit:g} %",
            "scenario": name.scenario,
            "metric": label,
            **({} if part is None else {"of": part}),
            "a": head,
            "b": {"server": base_label(name.server), driver: name.driver, **vary},
            "holds": _holds(metric.better, 1 - limit),
        }


def _holds(better: str, share: float) -> str:
    """Return the hypothesis that a has at least this share of the speed of b."""
    return f"a >= {share:.6g} * b" if better == "higher" else f"a <= {1 / share:.6g} * b"
