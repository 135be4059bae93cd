"""`benchforge sign`: ssh-keygen signs the manifest of a result."""

import contextlib
import os
from pathlib import Path

from benchforge import door
from benchforge.cli.screen.say import say
from benchforge.errors import InvalidFile, Unusable
from benchforge.model.files.file import FileFault, parse
from benchforge.model.files.folder import HEADER, MANIFEST, SIGNATURE, SIGNED, accepted
from benchforge.model.files.manifest import Manifest
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.text.program import program
from benchforge.text.readable import counted
from benchforge_results.recomputed.manifest import changed_files
from benchforge_results.verify.signature import trials_in_words
from benchforge_results.verify.ssh_keygen import signature

KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")


def main(folder: Path, key: Path | None) -> int:
    """Sign the manifest of a result whose files are those that it lists."""
    keep = ResultWriter(folder)
    with keep.held():
        if (folder / HEADER).exists() and not os.path.lexists(folder / MANIFEST):
            raise Unusable(
                f"{folder}: no {MANIFEST}, since its run did not end", f"to end it: {keep.goes_on}"
            )
        manifest = accepted(parse(folder, MANIFEST, Manifest))
        for value in changed_files(manifest):
            if isinstance(value, FileFault) or value.cannot:
                why = str(value) if isinstance(value, FileFault) else value.cannot
                raise InvalidFile(
                    f"{folder}: not signed: {why}", f"`{program()} verify --all` names all changes"
                )
        signed = signature(manifest.text(), key or _own_key())
        with contextlib.suppress(FileNotFoundError):  # an older one is of another manifest
            door.remove(folder, SIGNATURE)
        keep.write(folder / SIGNED, manifest.text())
        keep.write(folder / SIGNATURE, signed)
    files = counted(len(manifest.model.files), "file")
    say(f"{folder}: signed {trials_in_words(manifest.model.trials)}, {files}")
    return 0


def _own_key() -> Path:
    """Return the person's usual key. Raises Unusable where there is none."""
    places = [Path(f"~/.ssh/{name}") for name in KEYS]
    for place in places:
        with contextlib.suppress(RuntimeError):  # this user has no home
            if (key := place.expanduser()).is_file():
                return key
    raise Unusable(
        "no ssh key is in ~/.ssh", "name one with --key, or make one: ssh-keygen -t ed25519"
    )
