"""The hooks: what many listeners may hear. What has exactly one answer is a method of a part."""

from collections.abc import Iterable
from typing import Any

import pluggy

from benchforge.model.trial import Trial
from benchforge.parts.part import Part

hookspec = pluggy.HookspecMarker("benchforge")
hookimpl = pluggy.HookimplMarker("benchforge")


@hookspec(historic=True)
def benchforge_parts() -> Iterable[type[Part]]:  # type: ignore[empty-body]
    """Return the parts that this plugin brings."""


@hookspec
def benchforge_planned(graph: Any) -> None:
    """Hear of what is to be measured, before anything starts: a `benchforge.graph.RunGraph`.

    Whoever raises objects: nothing is run, and the message is told with the plugin's name.
    """


@hookspec
def benchforge_trial_kept(trial: Trial) -> None:
    """Hear of a trial once it is on disk; never while something is measured."""
