"""Plans as text and as drawings: times, parts, cases and requests."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from itertools import groupby, islice

import click
from pydantic import JsonValue

from benchforge.cli.console.columns import amount, awaited, lasts
from benchforge.cli.suites.plan.planned import PartPlanned, Plan, PlanTime, ScenarioPlanned
from benchforge.errors import BenchforgeError
from benchforge.suite.mix import flows
from benchforge.suite.mix.record import MOST
from benchforge.suite.mix.stream import Mix
from benchforge.suite.plan import START_AND_STOP_S, RunGraph, Step
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import as_table
from benchforge.suite.toml.models import shown
from benchforge.text import readable, safe
from benchforge.text.readable import counted, exact, spoken

_MANY = 20  # lines of a kind; `--all` shows all
_MANY_NUMBERS = 60
_SMOKE = "smoke run: it shows that everything works; its numbers mean nothing"


def text(plan: Plan, graph: RunGraph, width: int, complete: bool) -> Iterator[str]:
    """Yield the lines; of a long list the first ones, unless `complete`."""
    yield from _head(plan)
    starts = graph.cases.starts
    for scenario, start in zip(plan.scenarios, starts, strict=False):
        yield ""
        yield from _scenario(scenario, graph, start, complete, _fewest(plan))
    if sum(scenario.cases for scenario in plan.scenarios) == 1:
        return
    yield ""
    yield click.style("order: numbers of the cases", bold=True)
    blocks = groupby(graph.steps(), lambda step: step.block)
    lines = (_block(number, steps, graph, width, complete) for number, steps in blocks)
    yield from _cut(lines, plan.blocks, "block", complete)


def _head(plan: Plan) -> Iterator[str]:
    profile = f" · profile {plan.profile}" if plan.profile else ""
    yield click.style(safe.word(plan.title or plan.name) + profile, bold=True)
    if plan.smoke:
        yield _SMOKE
    cases = sum(scenario.cases for scenario in plan.scenarios)
    if any(scenario.search for scenario in plan.scenarios):
        most = f"at most {counted(plan.trials, 'trial')}"
        yield f"{counted(cases, 'case')}: {most}, {_time(plan.estimate, 1.0, 'at most')}"
    else:
        trials = round(plan.trials * _fewest(plan)), plan.trials
        counts = amount(cases, plan.blocks, trials, plan.until)
        yield f"{counts}, {_time(plan.estimate, _fewest(plan))}"
    if plan.until is not None:
        yield awaited(plan.until)
    guess = f"starts and stops are estimated as {exact(START_AND_STOP_S)} s a trial"
    yield f"{guess}; the rest is what the suite declares"
    if plan.estimate.noise_s:
        yield (
            f"noise that does not end adds about {spoken(plan.estimate.noise_s)}: "
            "waits for quiet, and repeated attempts; noise that comes and goes may add more"
        )
    if plan.claims:
        yield _claims(plan)
    drawn = f", drawn now; to use this order: --set repeat.seed={plan.seed}"
    yield f"seed {plan.seed}{drawn if plan.seed_drawn else ''}"


def _claims(plan: Plan) -> str:
    tested = [label for label, questions in plan.claims.items() if questions]
    counts = f"{counted(len(tested), 'claim')}, {counted(sum(plan.claims.values()), 'question')}"
    untested = [label for label in plan.claims if label not in tested]
    return counts + (f"; not tested here: {', '.join(untested)}" if untested else "")


def _fewest(plan: Plan) -> float:
    """Return the share of the estimates that the fewest blocks take."""
    return 1.0 if plan.until is None else plan.until.least / plan.blocks


def _time(estimate: PlanTime, fewest: float, about: str = "") -> str:
    parts = {
        "warm-up": estimate.warm_up_s,
        "load": estimate.load_s,
        "starts and stops": estimate.start_and_stop_s,
    }
    durations = ", ".join(f"{spoken(seconds)} {name}" for name, seconds in parts.items() if seconds)
    most = "at most " if fewest < 1 else ""
    if about:
        return f"{about} {spoken(estimate.total_s)} ({durations})"
    return f"{lasts(fewest * estimate.total_s, estimate.total_s)} ({most}{durations})"


def _scenario(
    scenario: ScenarioPlanned, graph: RunGraph, start: int, complete: bool, fewest: float
) -> Iterator[str]:
    title = f": {safe.word(scenario.title)}" if scenario.title else ""
    yield click.style(f"scenario {scenario.label}{title}", bold=True)
    about = "at most" if scenario.search else ""
    yield f"  {counted(scenario.cases, 'case')}, {_time(scenario.estimate, fewest, about)}"
    if scenario.search:
        yield f"  {scenario.search.says}"
    if scenario.turns is not None:
        turns, groups = scenario.turns, scenario.turns.among.removesuffix("s")
        slice_, each = (readable.amount("s", span_s) for span_s in (turns.slice_s, turns.each_s))
        yield f"  in turns: slices of {slice_}, {each} for each {groups}; only ratios are valid"
    for path, values in scenario.varies.items():
        values_text = ", ".join(_cut(map(shown, values), len(values), "value", complete))
        yield f"  varies {safe.word(path)}: {safe.word(values_text)}"
    yield "  what runs: starts in this order →, loaded by ←"
    chains = (
        f"{' → '.join(map(_part, chain.starts))} ← {', '.join(map(_part, chain.drivers))}"
        for chain in scenario.chains
    )
    servers = _cut(chains, len(scenario.chains), "server", complete)
    yield from (f"    {line}" for line in servers)
    yield "  cases"
    numbers = range(start, start + scenario.cases)
    names = (graph.cases[number].name.title.partition(" · ")[2] for number in numbers)
    lines = (f"{number + 1} {safe.word(name)}" for number, name in zip(numbers, names, strict=True))
    yield from (f"    {line}" for line in _cut(lines, scenario.cases, "case", complete))


def _part(part: PartPlanned) -> str:
    use = part.use if part.label != part.use else ""
    host = part.host and f"on {part.host}"
    details = ", ".join(filter(None, (use, part.ref and f"ref {safe.word(part.ref)}", host)))
    return f"{part.label} ({details})" if details else part.label


def _block(number: int, steps: Iterable[Step], graph: RunGraph, width: int, complete: bool) -> str:
    numbers = (str(step.number + 1) for step in steps)
    text = " ".join(_cut(numbers, len(graph.cases), "case", complete, many=_MANY_NUMBERS))
    first = f"  block {number}: "
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent="    ")


def _cut(rows: Iterable[str], size: int, noun: str, full: bool, many: int = _MANY) -> Iterator[str]:
    yield from rows if full or size <= many else islice(rows, many)
    if not full and size > many:
        yield f"and {counted(size - many, f'more {noun}')} (--all shows all)"


# What means something in a quoted text: Mermaid takes characters by their numbers.
_MERMAID = {ord(char): f"#{ord(char)};" for char in '#"<>&`\\'}
_DOT = {ord(char): f"\\{char}" for char in '"\\'}


def mermaid(scenarios: Sequence[ScenarioPlanned]) -> Iterator[str]:
    """Yield the lines of a Mermaid flowchart."""
    yield "flowchart LR"
    for number, scenario in enumerate(scenarios):
        nodes = _nodes(scenario, number)
        yield f'  subgraph s{number}["{_title(scenario).translate(_MERMAID)}"]'
        for node, lines in nodes.values():
            text = "<br/>".join(line.translate(_MERMAID) for line in lines)
            yield f'    {node}["{text}"]'
        for link in scenario.links:
            yield f'    {nodes[link.source][0]} -->|"{link.relation}"| {nodes[link.target][0]}'
        yield "  end"


def dot(scenarios: Sequence[ScenarioPlanned]) -> Iterator[str]:
    """Yield the lines of a graph in Graphviz's language."""
    yield "digraph plan {"
    yield "  rankdir=LR; node [shape=box];"
    for number, scenario in enumerate(scenarios):
        nodes = _nodes(scenario, number)
        yield f"  subgraph cluster_{number} {{"
        yield f'    label="{_title(scenario).translate(_DOT)}";'
        for node, lines in nodes.values():
            text = r"\n".join(line.translate(_DOT) for line in lines)
            yield f'    {node} [label="{text}"];'
        for link in scenario.links:
            source, target = nodes[link.source][0], nodes[link.target][0]
            yield f'    {source} -> {target} [label="{link.relation}"];'
        yield "  }"
    yield "}"


def _title(scenario: ScenarioPlanned) -> str:
    return safe.word(": ".join(filter(None, (scenario.label, scenario.title))))


def _nodes(scenario: ScenarioPlanned, number: int) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return a name and the lines of its text for each part, by table and label."""
    parts = dict.fromkeys(
        part for chain in scenario.chains for part in (*chain.drivers, *reversed(chain.starts))
    )
    return {
        f"{part.place}.{part.label}": (
            f"s{number}n{index}",
            (part.label, part.use) if part.use != part.label else (part.label,),
        )
        for index, part in enumerate(parts)
    }


_USERS = 10  # of a session, by default
_LONGEST = 200  # characters of a body


def request_lines(suite: Suite, seed: int, number: int) -> Iterator[str]:
    """Yield `number` requests of each kind of each scenario, from the stream of the first block."""
    if not suite.workloads:
        yield "no scenario has kinds: each sends one request again and again"
    for label, workload in suite.workloads.items():
        if label not in suite.scenarios:
            continue
        deck = counted(len(workload.deck), "request or flow" if workload.after else "request")
        deck = deck.replace("request or flows", "requests or flows")
        heading = f"scenario {label}: requests of block 1; each {deck} have the shares"
        yield click.style(heading, bold=True)
        if (session := suite.scenarios[label].session) is not None:
            yield from _login(session)
        firsts = _firsts(workload, seed, number)
        for (kind, share), requests in zip(workload.shares.items(), firsts, strict=True):
            earlier = workload.after.get(kind)
            yield f"  {kind}: share {share}" if earlier is None else f"  {kind}: follows {earlier}"
            yield from (f"    {line}" for request in requests for line in request)


def _login(session: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield the login of a session as the suite has it: its values may be passwords."""
    request, expect = as_table(session.get("request")), as_table(session.get("expect"))
    users, status = session.get("users", _USERS), expect.get("status", HTTPStatus.OK)
    yield f"  login, before the load and not measured: {users} users, expected status {status}"
    line = f"{request.get('method', 'GET')} {request.get('path')}"
    yield f"    {safe.word(line)}"
    for key in ("headers", "form", "body"):
        if key in request:
            value = request[key]
            content = value if isinstance(value, str) else json.dumps(value)
            yield f"      {key}: {safe.word(content[:_LONGEST])}"


def _firsts(mix: Mix, seed: int, number: int) -> list[list[list[str]]]:
    firsts: list[list[list[str]]] = [[] for _ in mix.shares]
    is_full = len(firsts) - len(mix.after)
    with suppress(BenchforgeError):  # a feed ran out: the requests up to there are shown
        for record in islice(mix.records(seed, 1), MOST):
            if len(firsts[record.kind]) < number:
                head, body = record.head.decode().splitlines(), record.body.decode()
                firsts[record.kind].append([*_lines(head, body)])
                steps = map(flows.shown, record.later)
                for index, step in zip(record.kinds[1:], steps, strict=True):
                    headers = (f"{name}: {value}" for name, value in step.headers.items())
                    head = [f"{step.method} {step.path}", *headers]
                    firsts[index].append([*_lines(head, step.body or "")])
                is_full -= len(firsts[record.kind]) == number
            if not is_full:
                break
    return firsts


def _lines(head: Sequence[str], body: str) -> Iterator[str]:
    first, *headers = head
    yield safe.word(first.removesuffix(" HTTP/1.1"))
    yield from (f"  {safe.word(header)}" for header in headers)
    if body:
        cut = f"... ({len(body)} characters)" if len(body) > _LONGEST else ""
        yield f"  {safe.word(body[:_LONGEST])}{cut}"
