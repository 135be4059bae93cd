"""Commands that read results need none of the modules that only Linux or Unix has."""

import subprocess
import sys
from pathlib import Path

import pytest
from front_door import Bench, bench_words, calls
from measured.once import made_once
from measured.small_results import measured, session

OUTPUTS = Path(__file__).parents[1] / "outputs"
# Those that Windows lacks, by the pages of the standard library.
HIDDEN = (
    *("crypt", "curses", "fcntl", "grp", "nis", "pty", "pwd"),
    *("readline", "resource", "spwd", "syslog", "termios", "tty"),
)
WITHOUT = f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HIDDEN}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
for name in {HIDDEN}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Hidden())
from benchforge.cli import called
sys.exit(called(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(
        tmp_path_factory,
        "anywhere",
        lambda folder: measured(calls(bench_words(), folder), folder),
    )


def without(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_modules_are_hidden() -> None:
    before = WITHOUT.partition("from benchforge")[0]
    code = f"""{before}
from importlib import import_module
for name in {HIDDEN}:
    try:
        import_module(name)
    except ModuleNotFoundError:
        print(name)
"""
    shown = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert shown.split() == [*HIDDEN]


def test_a_result_is_reported_verified_and_validated(
    result: Path, tmp_path: Path, bench: Bench
) -> None:
    report = without("report", result, "-o", tmp_path)
    assert report.returncode == 0, report.stderr
    assert (tmp_path / "report.html").stat().st_size > 0
    assert without("validate", result).returncode == 0
    # On a loud machine it may leave something unproved.
    verify, here = without("verify", result), bench("verify", result)
    shown = (verify.returncode, verify.stdout.split())
    assert shown == (here.code, here.out.split()), verify.stderr
    assert verify.returncode in {0, 2}, verify.stderr


def test_results_are_compared_and_followed(result: Path, tmp_path: Path) -> None:
    days = [session(result, tmp_path, day) for day in (1, 2)]
    compare = without("compare", *reversed(days))
    assert compare.returncode == 0, compare.stderr
    assert "one" in compare.stdout
    assert "Traceback" not in compare.stderr
    history = without("history", *days)
    assert history.returncode == 0, history.stderr


def test_numbers_of_other_tools_are_audited(bench: Bench) -> None:
    printed = OUTPUTS / "wrk/healthy/stdout.txt"
    audit, here = without("audit", printed), bench("audit", printed)
    assert (audit.returncode, audit.stdout.split()) == (here.code, here.out.split())
    assert audit.returncode in {0, 1}, audit.stderr
    assert "wrk" in audit.stdout
