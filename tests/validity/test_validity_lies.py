"""Each lie of a server under each load tool: a check finds it, or the page says why none does."""

import re
from pathlib import Path

import pytest
from front_door import Bench, needed, needed_module
from planted.lies import (
    EXPECT,
    HONEST,
    LIES,
    OTHERWISE,
    TOOLS,
    TURNS,
    findings,
    label,
    noted,
    page_cells,
    reason,
    server,
)
from planted.turning import suite
from planted.validity import ONCE, PAGE, measured

TRIES = 5


@pytest.mark.exhaustive
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("program", [OTHERWISE, TURNS])
@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool != "weighttp"])
def test_each_lie_by_each_tool(bench: Bench, tmp_path: Path, tool: str, program: str) -> None:
    if tool == "locust":
        needed_module(tool)
    elif tool != "pace":
        needed(tool)
    lies = [lie for of, lie in LIES if of == program]
    left = [HONEST[program], *lies]
    found: dict[str, dict[str, str]] = {}
    for _ in range(TRIES):  # a busy machine may leave a load too short for a lie
        servers = {label(lie): server(program, lie) for lie in left}
        scenario = f'{EXPECT[program]}\nmonitor = "100/s"'
        seen = measured(bench, tmp_path, suite(servers, TOOLS[tool], scenario=scenario, top=ONCE))
        found |= {lie: findings(seen, label(lie)) for lie in left}
        left = [lie for lie in lies if not found[lie] and not reason(lie, tool)]
        left += [honest for honest in HONEST.values() if found.get(honest)]
        if not left:
            break
    assert not left, (tool, {lie: found[lie] for lie in left})
    for lie in lies:
        noted(tool, (program, lie), found[lie])


def test_no_cell_of_the_page_is_silent_without_a_reason() -> None:
    page = PAGE.read_text()
    cells = page_cells(page)
    assert {row for row, _, _ in cells} == set(LIES.values())
    reasons = {int(number) for number in re.findall(r"^(\d+)\. ", page, re.MULTILINE)}
    for row, tool, cell in cells:
        numbers = {int(number) for number in re.findall(r"\[(\d+)\]", cell)}
        assert numbers <= reasons, (row, tool)
        assert numbers or re.search(r"\b(?:[EK]\d|counts|probes|no end)\b", cell), (row, tool, cell)
