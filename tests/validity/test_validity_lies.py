"""Each lie of a server under each load tool: a check finds it, or the page says why none does."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from front_door import Bench
from planted import lies as planted
from planted.turning import suite
from planted.validity import ONCE, PAGE, Seen, measured

MEMBERS = (4, 1, 1, 1, 1)
"""Liars beside an honest server, of each try: a busy machine may leave a load too short for a \
lie, and a server that is refused in turns takes the others' trials away."""
INTERLEAVED = 'interleave = "100ms"\neach = "2s"\n'


def lying(bench: Bench, folder: Path, tool: str, program: str, lies: Sequence[str]) -> Seen:
    """Measure servers that lie in these ways under a load tool, alone or in turns."""
    more = INTERLEAVED if tool.endswith(planted.IN_TURNS) else ""
    scenario = planted.asks(program, lies)
    text = suite(
        planted.liars(*lies, takes="", name=program),
        planted.TOOLS[tool],
        scenario=scenario,
        top=ONCE,
        more=more,
    )
    return measured(bench, folder, text)


@pytest.mark.parametrize(
    ("tool", "lies"), [("pace", ["nth", "login"]), ("wrk in turns", ["old", "order"])]
)
def test_a_lie_to_the_loads_own_connections_is_found(
    bench: Bench, tmp_path: Path, tool: str, lies: Sequence[str]
) -> None:
    observed = lying(bench, tmp_path, tool, planted.LOADED, ["none", *lies])
    for lie in lies:
        checks = [*observed.checks("E6", planted.label(lie))]
        assert any("random windows of the load" in check["message"] for check in checks), checks
        assert "fail" in {check["status"] for check in checks}, checks
    assert not planted.findings(observed, "none")
    bench("verify", observed.result, code=0)


@pytest.mark.exhaustive
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("program", [planted.LOADED, planted.TURNS])
@pytest.mark.parametrize("tool", planted.TOOLS)
def test_each_lie_is_found_under_each_tool(
    bench: Bench, tmp_path: Path, tool: str, program: str
) -> None:
    lies = [lie for subject, lie in planted.LIES if subject == program]
    rest = ["none", *(lie for lie in lies if (lie, tool) not in planted.CANNOT_POST)]
    actual: dict[str, dict[str, str]] = {lie: {} for lie in lies}
    for members in MEMBERS:
        for first in range(0, len(rest), members):
            part = ["none", *(lie for lie in rest[first : first + members] if lie != "none")]
            observed = lying(bench, tmp_path, tool, program, part)
            for lie in part:
                actual[lie] = planted.findings(observed, lie) or planted.bound(observed, lie)
        rest = [lie for lie in lies if not actual[lie] and (lie, tool) not in planted.SILENT]
        rest += ["none" for _ in actual["none"]]
        if not rest:
            break
    assert not rest, (tool, {lie: actual[lie] for lie in rest})
    for lie in lies:
        planted.noted(tool, (program, lie), actual[lie])


def test_no_cell_of_the_page_is_silent_without_a_reason() -> None:
    page = PAGE.read_text()
    cells = planted.page_cells(page)
    assert {row for row, _, _ in cells} == set(planted.LIES.values())
    reasons = {int(number) for number in re.findall(r"^(\d+)\. ", page, re.MULTILINE)}
    for row, tool, cell in cells:
        numbers = {int(number) for number in re.findall(r"\[(\d+)\]", cell)}
        assert numbers <= reasons, (row, tool)
        search = re.search(r"\b(?:[EK]\d|counts|probes|no end|at most|not measured)\b", cell)
        assert numbers or search, (row, tool, cell)
