"""Commands that read results need none of the modules that only Linux or Unix has."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from front_door import Bench, Told
from measured.small_results import session, shared

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
import contextlib, importlib, io, json
for name in {HIDDEN}:
    with contextlib.suppress(ModuleNotFoundError):
        sys.exit(f"not hidden: {{importlib.import_module(name)}}")
from benchforge.cli.app import called
ended = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = called(words)
    ended.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(ended))
"""
"Calls one command after the other: most of a call is imports."


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared(tmp_path_factory)


def without(folder: Path, *commands: tuple[str | Path, ...]) -> list[Told]:
    """Call them with a folder for scratch: without fcntl they lock none, and others clear it."""
    words = json.dumps([[*map(str, command)] for command in commands])
    line = [sys.executable, "-c", WITHOUT, words]
    (folder / "t").mkdir()
    mine = {**os.environ, "TMPDIR": str(folder / "t")}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=mine)
    assert done.returncode == 0, done.stderr
    return [Told(*ended) for ended in json.loads(done.stdout)]


def test_a_result_is_read_without_programs(result: Path, tmp_path: Path, bench: Bench) -> None:
    made = tmp_path / "made"
    report, validate, verify = without(
        tmp_path, ("report", result, "-o", made), ("validate", result), ("verify", result)
    )
    assert report.code == 0, report.err
    assert (made / "report.html").stat().st_size > 0
    assert validate.code == 0
    # On a loud machine it may leave something unproved.
    run = bench("verify", result)
    assert (verify.code, verify.out.split()) == (run.code, run.out.split()), verify.err
    assert verify.code in {0, 2}, verify.err


def test_compare_history_and_audit(result: Path, tmp_path: Path, bench: Bench) -> None:
    days = [session(result, tmp_path, day) for day in (1, 2)]
    printed = OUTPUTS / "wrk/healthy/stdout.txt"
    compare, history, audit = without(
        tmp_path, ("compare", *reversed(days)), ("history", *days), ("audit", printed)
    )
    assert compare.code == 0, compare.err
    assert "one" in compare.out
    assert "Traceback" not in compare.err
    assert history.code == 0, history.err
    run = bench("audit", printed)
    assert (audit.code, audit.out.split()) == (run.code, run.out.split())
    assert audit.code in {0, 1}, audit.err
    assert "wrk" in audit.out
