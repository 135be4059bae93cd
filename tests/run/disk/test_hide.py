"""Secrets in what programs wrote: taken out in place, through no link."""

import os
import stat
from pathlib import Path

from benchforge.run.disk.hide import hide_below

SECRET = "correct-horse"  # noqa: S105 - of a test


def test_files_lose_their_secrets_and_keep_their_mode(tmp_path: Path) -> None:
    folder, outside = tmp_path / "trial", tmp_path / "outside"
    (folder / "below").mkdir(parents=True)
    outside.write_text(f"theirs: {SECRET}")
    (folder / "below/log").write_bytes(f"\xff {SECRET} x".encode("latin-1"))
    (folder / "below/log").chmod(0o640)
    (folder / f"of-{SECRET}").write_text("nothing")
    (folder / "plain").write_text("nothing")
    stored = (folder / "plain").stat().st_ino
    os.link(outside, folder / "hard")
    (folder / "link").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    (folder / "telling").symlink_to(f"/nowhere/{SECRET}")
    os.mkfifo(folder / "pipe")

    hide_below(folder, frozenset([SECRET]))

    assert (folder / "below/log").read_bytes() == b"\xff *** x"
    assert stat.S_IMODE((folder / "below/log").stat().st_mode) == 0o640
    assert (folder / "of-***").read_text() == "nothing"
    assert (folder / "plain").stat().st_ino == stored
    assert (folder / "hard").read_text() == "theirs: ***"
    assert outside.read_text() == f"theirs: {SECRET}"
    assert (folder / "link").is_symlink()
    assert not (folder / "telling").is_symlink()
    names = {path.name for path in folder.iterdir()}
    assert names == {"below", "of-***", "plain", "hard", "link", "loop", "pipe"}
