"""The hooks, which any number of plugins can implement.

A plugin marks its functions with `hookimpl`. It can leave out parameters that it does not use.

`run`, `gate` and `duel` call the hooks in this order: `benchforge_parts`, `benchforge_planned`,
`benchforge_facts`, `benchforge_trial_kept` for each trial, `benchforge_judged`. Plugins with the
same hook are called one after the other, in the order in which they were imported. All calls come
from benchforge's own process on the machine where the command was typed; on the other hosts of a
run, benchforge calls `benchforge_parts` only. An entry point that is named as a part
(`loader-mine`) is imported when a suite uses that part; one with another name is imported by each
of these commands, by `plan` and by `plugins list`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pluggy
from pydantic import JsonValue

from benchforge.parts.part import Part

if TYPE_CHECKING:  # only a run needs them
    from benchforge.model.summary.summary import Summary
    from benchforge.model.summary.verdict import Verdict
    from benchforge.model.trial.trial import Trial

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

    It is called once, before the first trial, after runtimes are built and versions are read. A
    resumed run calls it again. The header has the facts under the name of the plugin's entry point.
    """


@hookspec
def benchforge_planned(graph: Any) -> None:
    """Receive the plan, a `benchforge.suite.plan.RunGraph`, before anything starts.

    It is called once, after the wait for another benchforge that measures; `plan` calls it, too. If
    it raises, the run ends before it starts, with the message and the plugin's name.
    """


@hookspec
def benchforge_trial_kept(trial: "Trial") -> None:
    """Receive a trial once it is on disk, before the next load; never during a measurement.

    It is called for each attempt, also for a failed one, and not for ceilings. An error is printed
    once, and the plugin receives no further trial. Trials are kept.
    """


@hookspec
def benchforge_judged(summary: "Summary", verdicts: "Sequence[Verdict]") -> None:
    """Receive the summary and the verdicts on the claims, once the reports are written.

    It is called once at the end, also of an interrupted run, and not by `report`. A smoke run has
    no verdicts. An error is printed once, and changes nothing.
    """
