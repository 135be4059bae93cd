"""What cannot be kept: each error says what to do about it, and not about another one."""

import errno
import os
import shutil
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from made import plain

from benchforge.errors import CannotKeep
from benchforge.model.files.folder import ANSWER, TRIAL
from benchforge.run.disk.result_writer import ResultWriter, whole
from benchforge.run.disk.space import enough

WHOLE = "to continue: benchforge run --resume "


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, f"free some space; {WHOLE}"),
        (errno.EDQUOT, f"free some space; {WHOLE}"),
        (errno.EROFS, f"make it writable; {WHOLE}"),
        (errno.EACCES, f"make it writable; {WHOLE}"),
    ],
)
def test_space_is_to_be_freed_where_it_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    def mkdir(path: object, *words: object, **named: object) -> None:
        raise OSError(number, "no", str(path))

    writer = ResultWriter.new(tmp_path, "small", datetime.now(UTC))
    monkeypatch.setattr(os, "mkdir", mkdir)
    with pytest.raises(CannotKeep) as caught:
        writer.trial_folder(1)
    assert caught.value.hint.startswith(hint)


def test_a_trial_is_on_the_disk_after_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One look at their folder keeps the names of both."""
    writer = ResultWriter.new(tmp_path, "small", datetime.now(UTC))
    folder, synced = writer.trial_folder(1), list[bool]()

    def fsync(descriptor: int) -> None:
        synced.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))

    monkeypatch.setattr(os, "fsync", fsync)
    writer.write(folder / ANSWER, b"right", "content")
    assert (folder / ANSWER).read_bytes() == b"right"
    writer.write(folder / TRIAL, plain.trial())
    assert synced == [False, False, True]


def test_an_unreadable_folder_is_not_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: Path) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", "there")

    monkeypatch.setattr("benchforge.run.disk.space.free_b", denied)
    with pytest.raises(CannotKeep, match="there: Permission denied") as caught:
        enough(tmp_path, "free some")
    assert caught.value.hint == "choose another folder with -o, or make this one writable"


def test_a_result_whose_empty_folder_was_not_copied_goes_on(tmp_path: Path) -> None:
    writer = ResultWriter.new(tmp_path, "small", datetime.now(UTC))
    shutil.rmtree(writer.folder / "trials")
    writer.swept()
    assert writer.trial_folder(1).is_dir()


AS_ANOTHER = """
import os, sys
from datetime import datetime, UTC
from pathlib import Path
from benchforge.errors import CannotKeep
from benchforge.run.disk.result_writer import ResultWriter, whole
os.chdir(sys.argv[1])
os.chmod("..", 0o600)
if os.geteuid() == 0:
    os.setuid(65534)
try:
    ResultWriter.new(Path("results"), "s", datetime.now(UTC))
except CannotKeep as error:
    print(error.message, error.hint, sep="\\n")
"""


def test_a_folder_below_one_that_is_closed_is_refused_before_it_is_made(tmp_path: Path) -> None:
    """A shell that was there before reaches it by a relative path; the trial's processes do not."""
    inner = tmp_path / "closed" / "inner"
    inner.mkdir(parents=True)
    inner.chmod(0o777)
    line = [sys.executable, "-c", AS_ANOTHER, str(inner)]
    ran = subprocess.run(line, capture_output=True, text=True, check=False)
    inner.parent.chmod(0o700)
    assert "this user cannot enter" in ran.stdout, ran.stderr
    assert ran.stdout.endswith("use another folder, or let this user enter that one\n")
    assert not list(inner.glob("results/*"))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_summary_is_kept_as_pydantic_writes_it(tmp_path: Path, count: int) -> None:
    name = 'a "line"\n "cases": [ é'
    cases = [plain.case(plain.named(name), plain.line(name, "s")) for _ in range(count)]
    summary = plain.summary(*cases, name=name)
    whole(tmp_path, "summary.json", summary)
    written = (tmp_path / "summary.json").read_text(encoding="utf-8")
    assert written == summary.model_dump_json(indent=1, by_alias=True) + "\n"
