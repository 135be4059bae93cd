"""What cannot be kept: each error says what to do about it, and not about another one."""

import errno
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchforge.errors import CannotKeep
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.run.disk.space import enough

WHOLE = "finished trials were kept; to continue: benchforge run --resume "


def fails_with(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def mkdir(path: object, *words: object, **named: object) -> None:
        raise OSError(number, "no", str(path))

    monkeypatch.setattr(os, "mkdir", mkdir)


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, f"free some space; {WHOLE}"),
        (errno.EDQUOT, f"free some space; {WHOLE}"),
        (errno.EROFS, WHOLE),
        (errno.EACCES, WHOLE),
    ],
)
def test_space_is_to_be_freed_where_it_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    keep = ResultWriter.new(tmp_path, "small", datetime.now(UTC))
    fails_with(number, monkeypatch)
    with pytest.raises(CannotKeep) as caught:
        keep.trial_folder(1)
    assert caught.value.hint.startswith(hint)


def test_a_folder_that_cannot_be_looked_at_is_not_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: Path) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", "there")

    monkeypatch.setattr("benchforge.run.disk.space.free_b", denied)
    with pytest.raises(CannotKeep, match="there: Permission denied") as caught:
        enough(tmp_path, "free some")
    assert caught.value.hint == "choose another folder with -o, or make this one writable"


def test_a_result_whose_empty_folder_was_not_copied_goes_on(tmp_path: Path) -> None:
    keep = ResultWriter.new(tmp_path, "small", datetime.now(UTC))
    shutil.rmtree(keep.folder / "trials")
    keep.swept()
    assert keep.trial_folder(1).is_dir()
