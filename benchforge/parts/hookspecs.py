"""The hooks, which any number of plugins can implement."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pluggy
from pydantic import JsonValue

from benchforge.model.trial.trial import Trial
from benchforge.parts.part import Part

if TYPE_CHECKING:  # only what a run ends with needs them
    from benchforge.model.summary.summary import Summary
    from benchforge.model.summary.verdict import Verdict

hookspec = pluggy.HookspecMarker("benchforge")
hookimpl = pluggy.HookimplMarker("benchforge")


@hookspec
def benchforge_parts() -> Iterable[type[Part]]:  # type: ignore[empty-body]
    """Return the parts of this plugin. It is called once, when the plugin is imported.

    An entry point that names the class of its part, as in `my_package.tool:Tool`, needs no hook.
    benchforge then calls no other hook of that module.
    """


@hookspec
def benchforge_facts() -> Mapping[str, JsonValue]:  # type: ignore[empty-body]
    """Return facts about the measuring machine, for the header of the result.

    It is called once, before the first trial. The header has the facts under the name of the
    plugin's entry point.
    """


@hookspec
def benchforge_planned(graph: Any) -> None:
    """Receive the plan, a `benchforge.suite.plan.RunGraph`, before anything starts.

    If it raises, the run ends before it starts, with the message and the plugin's name.
    """


@hookspec
def benchforge_trial_kept(trial: Trial) -> None:
    """Receive a trial once it is on disk, never during a measurement.

    An error is printed once, and the plugin receives no further trial. Trials are kept.
    """


@hookspec
def benchforge_judged(summary: "Summary", verdicts: "Sequence[Verdict]") -> None:
    """Receive the summary and the verdicts on the claims, once the reports are written.

    A smoke run has no verdicts. An error is printed once, and changes nothing.
    """
