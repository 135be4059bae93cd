"""The most that a load tool can do: its load once against the null server, of answers as long.

It is measured between two trials; on hosts, each load tool alone, from the server's own host.
"""

import os
from collections.abc import Callable, Mapping, Sequence

from benchforge.checks.load_tool.ceiling import answered, by_tool, fits, is_of
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.folder import CEILING
from benchforge.model.files.result import Header
from benchforge.model.trial.answers.answer import Expect
from benchforge.model.trial.trial import Trial
from benchforge.run.ceiling.null_server import LABEL, LOAD_S, NullServer, load_of, processes_for
from benchforge.run.execute import RunInputs
from benchforge.run.trial.context import TrialInputs
from benchforge.run.trial.measure import measure
from benchforge.suite.cases.case import Case
from benchforge.suite.plan import START_AND_STOP_S, Measurement, RunGraph
from benchforge.text import door

COSTS_S, ON_HOSTS_S = LOAD_S + START_AND_STOP_S, 2.0
"What a ceiling takes, and how much more on hosts, whose links are measured before its load."
SHARE = 0.05
"Of what is declared for the trials of a load: all its ceilings take less."


def ceilings(
    graph: RunGraph, header: Header, inputs: RunInputs
) -> Callable[[Trial, Sequence[Ceiling], float], Ceiling | None]:
    """Return a function that measures the ceiling of a trial's load, where that is `wanted`.

    It takes the ceilings so far and the seconds that are left. Raises as `measured`.
    """
    worth_s = {} if header.smoke else declared(graph)

    def after(trial: Trial, ceilings_: Sequence[Ceiling], spare_s: float) -> Ceiling | None:
        if not wanted(trial, ceilings_, worth_s, spare_s):
            return None
        return measured(trial, graph.cases[header.cases.index(trial.case)], ceilings_, inputs)

    return after


def declared(graph: RunGraph) -> dict[str, float]:
    """Return what the suite declares for all trials of each load, in seconds, by its digest."""
    by_digest: dict[str, float] = {}
    for group, blocks in zip(graph.cases.groups, graph.rounds, strict=True):
        for case in map(group.__getitem__, range(len(group))):
            if case.find is None and (key := case.driven):
                spent_s = case.declared_s * min(blocks, graph.least)
                by_digest[key] = by_digest.get(key, 0.0) + spent_s
    return by_digest


def wanted(
    trial: Trial, ceilings_: Sequence[Ceiling], declared_s: Mapping[str, float], spare_s: float
) -> bool:
    """Whether a trial's load has no ceiling yet, and is worth one in `spare_s` seconds."""
    reading = trial.reading
    if not trial.measured or not trial.driver_digest or reading is None or reading.process_s:
        return False
    if not lacking(trial, ceilings_):
        return False
    of_driver = [each for each in ceilings_ if each.trial.driver_digest == trial.driver_digest]
    costs_s = COSTS_S + ON_HOSTS_S * bool(trial.hosts)
    worth_s = SHARE * declared_s.get(trial.driver_digest, 0.0)
    return costs_s * (len(of_driver) + 1) < worth_s and spare_s > costs_s


def lacking(trial: Trial, ceilings_: Sequence[Ceiling]) -> list[str]:
    """Return the host of each load tool of a trial that has no ceiling yet; "" is our machine."""
    unknown = [ceiling for ceiling in ceilings_ if ceiling.per_second is None]
    return [
        host
        for host in by_tool(trial)
        if not any(fits(ceiling, trial, host) for ceiling in ceilings_)
        and not any(is_of(ceiling, trial, host) for ceiling in unknown)
    ]


def measured(trial: Trial, case: Case, ceilings_: Sequence[Ceiling], inputs: RunInputs) -> Ceiling:
    """Measure and keep the ceiling of a trial's first load tool without one. Raises CannotKeep."""
    writer = inputs.keep
    writer.room()
    number = max((ceiling.number for ceiling in ceilings_), default=0) + 1
    folder = writer.ceiling_folder(number)
    tools, host = list(by_tool(trial)), lacking(trial, ceilings_)[0]
    share = tools.index(host), len(tools)
    processes = processes_for(load_of(case.driver, *share).load().processes, _cpus(case, inputs))
    null = NullServer(body_bytes=answered(trial), processes=processes)
    step = Measurement(block=1, position=1, case=against(case, null, share, host), seed=0)
    divided = case.driver, *share
    planned = TrialInputs(step, folder, number, spare_s=LOAD_S, divided=divided)
    ceiling_trial = measure(planned, inputs.context).trial
    ceiling_trial = ceiling_trial.model_copy(
        update={
            "driver_digest": trial.driver_digest,
            "checks": (*ceiling_trial.checks, *inputs.believe(ceiling_trial)),
            "files": tuple(door.files(folder)),
        }
    )
    ceiling = Ceiling(
        number=number,
        body_bytes=null.body_bytes,
        processes=null.processes,
        shares=len(tools),
        trial=ceiling_trial,
    )
    writer.write(folder / CEILING, ceiling)
    writer.opened(folder)
    return ceiling


def _cpus(case: Case, inputs: RunInputs) -> int:
    host = inputs.context.hosts.get(case.hosts.get(f"server-{case.name.server}", ""))
    usable = None if host is None else host.facts.get("cpus_usable")
    return usable if isinstance(usable, int) else len(os.sched_getaffinity(0))


def against(case: Case, null: NullServer, share: tuple[int, int] = (0, 1), host: str = "") -> Case:
    """Return a case's load against the null server; the request and the load stay.

    `share` is the place of a load tool and the number of those that divide the load; `host` is its
    host.
    """
    server = case.hosts.get(f"server-{case.name.server}", "")
    return Case(
        name=case.name.model_copy(update={"server": LABEL, "arm": 1, "placebo": False}),
        server=null,
        backends=(),
        driver=load_of(case.driver, *share),
        request=case.request,
        expect=Expect(),
        metrics=(),
        warm_up_s=0.0,
        tuning=case.tuning,
        hosts={f"server-{LABEL}": server, f"loader-{case.name.driver}": host} if host else {},
    )
