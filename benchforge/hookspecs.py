"""The hooks: what many listeners may hear. What has exactly one answer is a method of a part."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pluggy
from pydantic import JsonValue

from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.model.verdict import Verdict
from benchforge.parts.part import Part

hookspec = pluggy.HookspecMarker("benchforge")
hookimpl = pluggy.HookimplMarker("benchforge")


@hookspec
def benchforge_parts() -> Iterable[type[Part]]:  # type: ignore[empty-body]
    """Return the parts that this plugin brings; asked once, when the plugin is imported."""


@hookspec
def benchforge_facts() -> Mapping[str, JsonValue]:  # type: ignore[empty-body]
    """Return facts about the machine that measures, for the header of the result.

    Asked once, before the first trial. They stand under the name of the plugin's entry point.
    """


@hookspec
def benchforge_planned(graph: Any) -> None:
    """Hear of what is to be measured, before anything starts: a `benchforge.graph.RunGraph`.

    Whoever raises objects: nothing is run, and the message is told with the plugin's name.
    """


@hookspec
def benchforge_trial_kept(trial: Trial) -> None:
    """Hear of a trial once it is on disk; never while something is measured.

    An error is told once, and the plugin hears of no further trial: what was measured stays.
    """


@hookspec
def benchforge_judged(summary: Summary, verdicts: Sequence[Verdict]) -> None:
    """Hear what a run says once its reports are written: the verdicts on the suite's claims.

    A smoke has none. An error is told once, and changes nothing.
    """
