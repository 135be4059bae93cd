"""Signatures that ssh-keygen makes with a person's own key, and checks with a list of signers."""

import subprocess
from pathlib import Path
from typing import NamedTuple

from benchforge.errors import ProgramMissing, Unusable
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.locate import locate

NAMESPACE = "benchforge@result"
"What a signature is for: ssh-keygen refuses one that was made for another purpose."
_WITHIN_S = 60


class SignatureOrigin(NamedTuple):
    """Who made a signature."""

    signer: str
    "Name in the list of signers; empty if the list does not have the key."
    wrong: str = ""
    "Reason why the signature is not of this content; empty if it is."


def signature(content: bytes, key: Path) -> bytes:
    """Return a signature of a content, with a private key, or with a public one that an agent has.

    ssh-keygen asks for a passphrase on the terminal. Raises Unusable where it does not sign, and
    ProgramMissing without it.
    """
    with scratch_folder() as folder:
        (folder / "manifest").write_bytes(content)
        words = ("-q", "-Y", "sign", "-f", key, "-n", NAMESPACE, folder / "manifest")
        # It has our streams and our terminal.
        if subprocess.run([_program(), *words], check=False).returncode:
            raise Unusable(f"{key}: ssh-keygen did not sign with it", "ssh-keygen printed why")
        return (folder / "manifest.sig").read_bytes()


def origin(content: bytes, signature: bytes, signers: Path) -> SignatureOrigin:
    """Return who signed a content, by a list in the format of allowed_signers (ssh-keygen(1)).

    Raises Unusable where the list cannot be read, and ProgramMissing without ssh-keygen.
    """
    try:
        signers.open("rb").close()
    except OSError as error:
        raise Unusable(f"{signers}: {error.strerror}", "name a list of allowed signers") from error
    with scratch_folder() as folder:
        (folder / "signature").write_bytes(signature)
        (folder / "manifest").write_bytes(content)
        options = ("-f", signers, "-s", folder / "signature")
        named = _answer(folder, "-Y", "find-principals", *options)
        if named.returncode or not named.stdout.strip():
            return SignatureOrigin("", _first_line(named.stderr))
        signer = named.stdout.splitlines()[0]
        checked = _answer(folder, "-Y", "verify", "-I", signer, "-n", NAMESPACE, *options)
        return SignatureOrigin(signer, _first_line(checked.stderr) if checked.returncode else "")


def _answer(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    with (folder / "manifest").open("rb") as content:
        return subprocess.run(
            [_program(), *words],
            stdin=content,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_WITHIN_S,
            check=False,
        )


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "ssh-keygen gives no reason")


def _program() -> Path:
    program = locate("ssh-keygen")
    if program is None:
        raise ProgramMissing("ssh-keygen is missing", "apt-get install openssh-client")
    return program
