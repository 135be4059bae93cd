"""Load tools that are the limit, that share a CPU with the server, and that print nonsense."""

import os
import shlex
import sys
from pathlib import Path

import pytest
from front_door import Bench, lack, program_words
from planted.beside import WRK, command, program, suite, undisturbed
from planted.validity import RATE, apart, caught, measured, noted, quiet

from benchforge.run.ceiling import null_program

NO_ANSWER = 4
SATURATED = 'use = "pace"\nconnections = 16\nduration = "3s"'
AB = 'use = "ab"\nconnections = 2\nrequests = 200\nkeep_alive = false'
ANSWERS = ("servers/answers.py", "--port", "{port}")
OUT_OF_WRK, REAL = "$BENCHFORGE_WRK_OUT", '{real} "$@"'
INTERRUPTED = "a wrk that is interrupted, and says that all is well"


@pytest.mark.exhaustive
def test_a_slow_load_tool_against_a_fast_server(bench: Bench, tmp_path: Path) -> None:
    fast = command(sys.executable, null_program.__file__, "--port", "{port}", "--bytes", "4")
    slow = program(*ANSWERS, "--wait", 0.05)
    text = suite({"fast": fast, "healthy": slow}, SATURATED, scenario="expect = { length = 4 }")
    item, other = two_cpus()
    text += f"[placement]\nserver = '{item}'\nloader = '{other}'\n"
    observed = undisturbed(bench, tmp_path, text, "L1", "fast", "fail")
    says = "give the load tool more threads"
    apart(observed, "a load tool in Python against a fast server", "L1", "fast", says)
    assert observed.told.code == NO_ANSWER


def two_cpus() -> tuple[int, int]:
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) == 1:
        lack("one CPU only")
    return usable[0], usable[-1]


@pytest.mark.exhaustive
def test_a_load_tool_on_the_servers_cpu(bench: Bench, tmp_path: Path) -> None:
    item, other = two_cpus()
    servers = {"pong": program(*ANSWERS)}

    def placed(**cpus: int) -> str:
        lines = (f"{role} = '{cpu}'" for role, cpu in cpus.items())
        return suite(servers, more="\n".join(("[placement]", *lines)))

    same = measured(bench, tmp_path, placed(server=item, loader=item))
    fault = "server and load tool on one CPU, as the suite asks"
    caught(fault, same, "P1", server="pong", status="warn", word=RATE)
    # As many connections as it takes for the server to have something to do at all times.
    busy = placed(server=item).replace("connections = 2", "connections = 16")
    anywhere = undisturbed(bench, tmp_path, busy, "P1", "pong", "fail")
    fault = "a load tool that may use the CPU that a suite gives to the server"
    check = caught(fault, anywhere, "P1", server="pong", word=RATE)
    assert "give the load tool CPUs that nobody else may use" in check["message"]
    assert anywhere.told.code == NO_ANSWER
    apart = measured(bench, tmp_path, placed(server=item, loader=other))
    quiet(apart, "P1", "pong")


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    ("tool", "fault", "does"),
    [
        ("wrk", "a wrk that prints garbage", "head -c 300 /dev/urandom"),
        ("wrk", "a wrk whose file is garbage", f'{REAL}; head -c 300 /dev/urandom >"{OUT_OF_WRK}"'),
        ("wrk", "a wrk whose file is cut in half", f'{REAL}; truncate -s 400 "{OUT_OF_WRK}"'),
        ("wrk", "a wrk that is another tool", '{ab} -n 20 "$(eval echo \\"\\${{$#}}\\")"'),
        ("wrk", INTERRUPTED, f"timeout -s INT 1 {REAL}; exit 0"),
        ("ab", "an ab that prints garbage", "head -c 300 /dev/urandom"),
        ("ab", "an ab whose output is cut in half", f"{REAL} | head -n 12"),
        ("ab", "an ab that prints what wrk does", "echo Requests/sec: 4242.42"),
        ("ab", "an ab whose output has half a number", f"{REAL} | sed s/200/2x0/"),
        ("ab", "an ab that does not say what failed", f"{REAL} | sed '/^Failed/d'"),
        ("ab", "an ab that prints nothing", f"{REAL} | head -c 0"),
    ],
)
def test_a_load_tool_that_prints_nonsense(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, fault: str, does: str
) -> None:
    load = AB if tool == "ab" else WRK.replace('"1s"', '"9s"' if fault == INTERRUPTED else '"1s"')
    real = {name: shlex.join(program_words(name)) for name in (tool, "ab")}
    fake = tmp_path / "fake" / tool
    fake.parent.mkdir()
    script = does.format(real=real[tool], ab=real["ab"])
    version = f'case "$*" in -v|-V) exec {real[tool]} "$@";; esac'
    fake.write_text(f"#!/bin/sh\n{version}\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    pong = program(*ANSWERS, "--wait", 0.005)
    result = measured(bench, tmp_path, suite({"pong": pong}, load))
    assert result.told.code == NO_ANSWER, result.told.all
    trials = result.trials("pong")
    assert [trial["attempt"] for trial in trials] == [1, 2, 3]
    assert {trial["failure"]["subject"] for trial in trials} == {"apparatus"}
    assert {trial["failure"]["stage"] for trial in trials} == {"read"}
    assert all(trial["reading"] is None for trial in trials)
    row = {"name": "refused", "status": "fail", "value": None}
    noted(fault, "read", row | {"message": trials[0]["failure"]["message"]}, "")
