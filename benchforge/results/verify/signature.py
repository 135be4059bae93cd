"""The signature of a result: who signed its manifest."""

import os
from pathlib import Path

from benchforge.errors import Unusable
from benchforge.model.files.file import FileFault, parse
from benchforge.model.files.folder import SIGNATURE, SIGNED, accepted
from benchforge.model.files.manifest import Manifest
from benchforge.results.recomputed.verified import Verified
from benchforge.results.verify.form import trials_in_words
from benchforge.results.verify.ssh_keygen import origin
from benchforge.text import door

_MOST_BYTES = 1 << 16


def check_signature(folder: Path, signers: Path, verified: Verified) -> str:
    """Add to `verified` a signature that is wrong, or by nobody who is known.

    Returns who signed what, in words; nothing where no signer is known. Raises Unusable where the
    signature or the list of signers cannot be read, and ProgramMissing without ssh-keygen.
    """
    signature_ = folder / SIGNATURE
    if not os.path.lexists(signature_):
        verified.cannot.append(
            FileFault(signature_, "", None, "is missing: nobody signed the result")
        )
        return ""
    manifest = accepted(parse(folder, SIGNED, Manifest))
    try:
        signature = door.read(folder, SIGNATURE, _MOST_BYTES)
    except OSError as error:
        raise Unusable(f"{signature_}: {error.strerror}") from error
    by = origin(manifest.text(), signature, signers)
    if not by.signer:
        reason = f"is by nobody whom {signers} lists: {by.wrong}"
        verified.cannot.insert(0, FileFault(signature_, "", None, reason))
        return ""
    if by.wrong:
        reason = f"is not a signature of {by.signer} on {SIGNED}: {by.wrong}"
        verified.differing.insert(0, FileFault(signature_, "", None, reason))
        return ""
    return f"signed by {by.signer}: {trials_in_words(manifest.model.trials)}"
