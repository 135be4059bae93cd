"""`benchforge sign`: ssh-keygen signs the manifest of a result."""

import contextlib
import os
from pathlib import Path

from benchforge.cli.console.options import argument, click_command, option
from benchforge.errors import InvalidFile, Unusable

KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")


class _Options:
    folder: Path = argument(metavar="RESULT")
    key: Path | None = option(
        metavar="FILE",
        help="Private ssh key, or public key if an agent has the private key.  [default: the first "
        "of ~/.ssh/id_ed25519, id_ecdsa and id_rsa]",
    )


@click_command("sign", _Options)
def command(options: _Options) -> int:
    """Sign a result with your ssh key.

    ssh-keygen signs the manifest, which has the SHA-256 of each file, and writes signed.json and
    signed.json.sig into the result. To check the signature: benchforge verify --signers FILE
    RESULT.

    Exit codes: 0 the result is signed; 1 its files are not those that the run left; 2 the result or
    the key cannot be used; 3 ssh-keygen is missing; 5 the signature cannot be written.
    """
    from benchforge.cli.console.say import say
    from benchforge.model.files.file import FileFault, parse
    from benchforge.model.files.folder import HEADER, MANIFEST, SIGNATURE, SIGNED, accepted
    from benchforge.model.files.manifest import Manifest
    from benchforge.results.recomputed.manifest import changed_files, digests_of
    from benchforge.results.verify.form import trials_in_words
    from benchforge.results.verify.ssh_keygen import signature
    from benchforge.run.disk.result_writer import ResultWriter
    from benchforge.text import door
    from benchforge.text.program import program
    from benchforge.text.readable import counted

    folder, writer = options.folder, ResultWriter(options.folder)
    with writer.held():
        if (folder / HEADER).exists() and not os.path.lexists(folder / MANIFEST):
            message = f"{folder}: no {MANIFEST}, since its run did not end"
            raise Unusable(message, f"to end it: {writer.goes_on}")
        manifest = accepted(parse(folder, MANIFEST, Manifest))
        for value in changed_files(manifest, digests_of(folder)):
            if reason := str(value) if isinstance(value, FileFault) else value.cannot:
                hint = f"`{program()} verify --all` names all changes"
                raise InvalidFile(f"{folder}: not signed: {reason}", hint)
        signed = signature(manifest.text(), options.key or _own_key())
        with contextlib.suppress(FileNotFoundError):  # an older one is of another manifest
            door.remove(folder, SIGNATURE)
        writer.write(folder / SIGNED, manifest.text())
        writer.write(folder / SIGNATURE, signed)
    files = counted(len(manifest.model.files), "file")
    say(f"{folder}: signed {trials_in_words(manifest.model.trials)}, {files}")
    return 0


def _own_key() -> Path:
    """Return the person's usual key. Raises Unusable where there is none."""
    places = [Path(f"~/.ssh/{name}") for name in KEYS]
    for path in places:
        with contextlib.suppress(RuntimeError):  # this user has no home
            if (key := path.expanduser()).is_file():
                return key
    hint = "name one with --key, or make one: ssh-keygen -t ed25519"
    raise Unusable("no ssh key is in ~/.ssh", hint)
