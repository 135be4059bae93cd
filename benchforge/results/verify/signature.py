"""The signature of a result: who signed which of its files."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from benchforge.errors import Unusable
from benchforge.model.files.file import FileFault, parse
from benchforge.model.files.folder import MANIFEST, SIGNATURE, SIGNED, TRIALS, accepted
from benchforge.model.files.manifest import Manifest, is_measured, place_of
from benchforge.results.recomputed.manifest import changed_files
from benchforge.results.recomputed.verified import Verified
from benchforge.results.verify.ssh_keygen import origin
from benchforge.run.disk.manifest import listable
from benchforge.text import door
from benchforge.text.readable import conjoined, listed

_MOST_BYTES = 1 << 16


def check_signature(folder: Path, signers: Path, verified: Verified) -> str:
    """Add to `verified` what the signature contradicts, and what it leaves open.

    Returns who signed what, in words; nothing where no signer is known. Raises Unusable where the
    signature or the list of signers cannot be read, and ProgramMissing without ssh-keygen.
    """
    place = folder / SIGNATURE
    if not os.path.lexists(place):
        verified.cannot.append(FileFault(place, "", None, "is missing: nobody signed the result"))
        return ""
    manifest = accepted(parse(folder, SIGNED, Manifest))
    try:
        signature = door.read(folder, SIGNATURE, _MOST_BYTES)
    except OSError as error:
        raise Unusable(f"{place}: {error.strerror}") from error
    by = origin(manifest.text(), signature, signers)
    if not by.signer:
        why = f"is by nobody whom {signers} lists: {by.wrong}"
        verified.cannot.append(FileFault(place, "", None, why))
        return ""
    if by.wrong:
        why = f"is not a signature of {by.signer} on {SIGNED}: {by.wrong}"
        verified.differing.append(FileFault(place, "", None, why))
        return ""
    # What is formed of others is formed anew when the run goes on.
    measured = manifest.model.model_copy(update={"files": manifest.model.measured})
    for value in changed_files(replace(manifest, model=measured)):
        if isinstance(value, FileFault):
            verified.differing.append(value)
        elif value.cannot:
            verified.cannot.append(manifest.fault(value.cannot, *value.path))
    if unsigned := list(_unsigned(folder, manifest.model)):
        why = f"was signed without {listed(unsigned)}"
        verified.cannot.append(FileFault(folder / SIGNED, "", None, why))
    return f"signed by {by.signer}: {trials_in_words(manifest.model.trials)}"


def trials_in_words(numbers: Iterable[int]) -> str:
    """Return trials by their numbers, such as `trials 1 to 4 and 7`."""
    spans: list[list[int]] = []
    ordered = sorted(set(numbers))
    if not ordered:
        return "no trial"
    for before, number in pairwise([ordered[0] - 2, *ordered]):
        if number == before + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    words = (f"{one[0]} to {one[-1]}" if len(one) > 1 else str(one[0]) for one in spans)
    return f"trial{'s' * (len(ordered) > 1)} {conjoined(words)}"


def _unsigned(folder: Path, signed: Manifest) -> Iterator[str]:
    """Yield what of a result a signature does not cover: trials first."""
    names = [name for name in listable(folder) if name not in signed.files]
    places = dict.fromkeys(place_of(name) for name in names if is_measured(name))
    numbers = [int(place.partition("/")[2]) for place in places if place.startswith(f"{TRIALS}/")]
    if numbers:
        yield trials_in_words(numbers)
    yield from (name for name in names if is_measured(name) and not place_of(name))
    now = parse(folder, MANIFEST, Manifest)
    files = {} if isinstance(now, list) else now.model.files
    for name, digest in files.items():
        if not is_measured(name) and signed.files.get(name) != digest:
            yield name
