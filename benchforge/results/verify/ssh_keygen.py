"""Signatures that ssh-keygen makes with a person's own key, and checks with a list of signers."""

import os
import subprocess
from pathlib import Path

from benchforge.errors import ProgramMissing, Unusable
from benchforge.model.files.file import FileFault, parse
from benchforge.model.files.folder import SIGNATURE, SIGNED, accepted
from benchforge.model.files.manifest import Manifest
from benchforge.results.recomputed.verified import Verified
from benchforge.results.verify.form import trials_in_words
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.locate import locate
from benchforge.text import door

_MOST_BYTES = 1 << 16
NAMESPACE = "benchforge@result"
"What a signature is for: ssh-keygen refuses one that was made for another purpose."
_WITHIN_S = 60


def check_signature(folder: Path, signers: Path, verified: Verified) -> str:
    """Add to `verified` a wrong signature, or one of nobody known; return the signer, or "".

    Raises Unusable for what cannot be read, ProgramMissing without ssh-keygen.
    """
    file = folder / SIGNATURE
    if not os.path.lexists(file):
        reason = "is missing: nobody signed the result"
        verified.cannot.append(FileFault(file, "", None, reason))
        return ""
    manifest = accepted(parse(folder, SIGNED, Manifest))
    try:
        signature = door.read(folder, SIGNATURE, _MOST_BYTES)
    except OSError as error:
        raise Unusable(f"{file}: {error.strerror}") from error
    signer, wrong = _origin(manifest.text(), signature, signers)
    if not signer:
        reason = f"is by nobody whom {signers} lists: {wrong}"
        verified.cannot.insert(0, FileFault(file, "", None, reason))
        return ""
    if wrong:
        reason = f"is not a signature of {signer} on {SIGNED}: {wrong}"
        verified.differing.insert(0, FileFault(file, "", None, reason))
        return ""
    return f"signed by {signer}: {trials_in_words(manifest.model.trials)}"


def signature(content: bytes, key: Path) -> bytes:
    """Return a signature of a content, with a private key, or with a public one that an agent has.

    ssh-keygen may ask for a passphrase. Raises Unusable, and ProgramMissing without ssh-keygen.
    """
    with scratch_folder() as folder:
        (folder / "manifest").write_bytes(content)
        words = ("-q", "-Y", "sign", "-f", key, "-n", NAMESPACE, folder / "manifest")
        # It has our streams and our terminal.
        if subprocess.run([_program(), *words], check=False).returncode:
            raise Unusable(f"{key}: ssh-keygen did not sign with it", "ssh-keygen printed why")
        return (folder / "manifest.sig").read_bytes()


def _origin(content: bytes, signature: bytes, signers: Path) -> tuple[str, str]:
    """Return who signed a content, by a list in the format of allowed_signers (ssh-keygen(1)).

    The signer is empty if the list lacks the key; the second is what is wrong, empty if nothing is.
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
            return "", _first_line(named.stderr)
        signer = named.stdout.splitlines()[0]
        checked = _answer(folder, "-Y", "verify", "-I", signer, "-n", NAMESPACE, *options)
        return signer, _first_line(checked.stderr) if checked.returncode else ""


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
