"""Scenarios as a drawing: which part connects to which."""

from collections.abc import Iterator, Sequence

from benchforge.cli.suites.plan.planned import ScenarioPlanned
from benchforge.text import safe

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
    """Return a name and the lines of its text for each part, by table and label.

    A part has a node in each scenario: no process is there for two of them.
    """
    parts = dict.fromkeys(
        part for chain in scenario.chains for part in (*chain.drivers, *reversed(chain.starts))
    )
    return {
        f"{part.place}.{part.label}": (
            f"s{number}n{place}",
            (part.label, part.use) if part.use != part.label else (part.label,),
        )
        for place, part in enumerate(parts)
    }
