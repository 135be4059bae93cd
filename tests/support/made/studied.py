"""A result like that of a study, made by hand: many scenarios, servers and claims."""

from random import Random

from made import made_result, plain
from made.simulate import blocks

from benchforge.model.suite.claim import Claim, ClaimInstance, Term
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName
from benchforge.stats.summary.summarize import summarize
from benchforge.stats.verdict.judge import judged
from benchforge.suite.claims.read import question

SERVERS = {"granian": 1.0, "bjoern": 0.99, "uvicorn": 0.7, "gevent": 0.5, "waitress": 0.2}
"The true speed of each server."
SLOW = ("db", "upload")
"Scenarios in which all servers wait for the same, so that none is faster."
SCENARIOS = ("hello", "json", *SLOW, "large", "many")
PUBLISHED = (1.01, 6.5, None)


def studied(n: int = 6, seed: int = 7) -> tuple[Summary, list[Trial]]:
    """Return the summary of n blocks, with a claim for each server but the best, and its trials."""
    draw, values = Random(seed), []
    for scenario in SCENARIOS:
        truths = [1.0 if scenario in SLOW else truth for truth in SERVERS.values()]
        table = blocks(draw, n, truths, outliers=0)
        values += [
            (_case(scenario, server), subject)
            for server, subject in zip(SERVERS, table, strict=True)
        ]
    trials = made_result.trials(values)
    header = made_result.header([case for case, _ in values], n)
    header = header.model_copy(
        update={"claims": _claims(), "title": "Five servers", "name": "five"}
    )
    return judged(summarize(header, trials, made_result.METRICS)), trials


def _case(scenario: str, server: str) -> CaseName:
    return plain.named(server, scenario=scenario, driver="few", digest=f"{server}{scenario}")


def _claims() -> tuple[Claim, ...]:
    best, *others = SERVERS
    pairs = [(scenario, server) for scenario in SCENARIOS for server in others]
    return tuple(
        Claim(
            label=f"C{number}",
            metric="throughput",
            hypothesis=question("a > b", "requests/s"),
            published=PUBLISHED[number % len(PUBLISHED)],
            instances=(
                ClaimInstance(
                    a=Term(case=_case(scenario, best)), b=Term(case=_case(scenario, server))
                ),
            ),
        )
        for number, (scenario, server) in enumerate(pairs, 1)
    )
