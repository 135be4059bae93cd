"""The form of a result: its files are those that were listed, and say nothing that cannot be."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Literal

from benchforge.model.files.file import FileFault, Parsed, parse
from benchforge.model.files.folder import HEADER, MANIFEST, SIGNED, TRIALS
from benchforge.model.files.manifest import Manifest, is_measured, place_of
from benchforge.results.recomputed.large_summary import is_large
from benchforge.results.recomputed.manifest import Digests, changed_files, digests_of
from benchforge.results.recomputed.verified import Recomputed, Values, Verified
from benchforge.results.validity.faults import FolderFiles, contradictions, summed
from benchforge.run.disk.manifest import listable
from benchforge.text.readable import conjoined, listed

Level = Literal["form", "numbers", "evidence"]
"How far a result is verified: its files, its summary from its trials, its trials from raw outputs."

LARGEST_SUMMARY = 4 << 20
"Bytes of a summary from which on it is compared line by line: as values it takes ten times that."


def verified_form(folder: Path) -> Verified:
    """Return what comes of the level `form`: each file that cannot be read is a fault."""
    lists = ListedFiles(folder)
    files = FolderFiles(folder, with_summary=not is_large(folder, LARGEST_SUMMARY), all_of=False)
    files.unread += lists.unread
    verified = Verified(len(files.trials))
    lines = () if files.summary is None else summed(files.summary)
    for fault in (*contradictions(files), *lines):
        verified.add(fault)
    if files.header is not None:
        verified.extend(lists.changed)
    return verified


class ListedFiles:
    """The files of a result beside those that its manifest lists, and those that were signed.

    Each file is digested once. Trials are read after that: lists of 100,000 files take as much.
    """

    def __init__(self, folder: Path) -> None:
        self.changed, self.incomplete = Verified(0), Verified(0)
        "Incomplete: files that nothing lists, or that were not signed where others were."
        self.unread: list[FileFault] = []
        "Faults of manifests that cannot be read."
        digest_of = digests_of(folder)
        for name in (MANIFEST, SIGNED):
            if not os.path.lexists(folder / name):
                continue
            manifest = parse(folder, name, Manifest)
            if not isinstance(manifest, Parsed):
                self.unread.extend(manifest)
                continue
            signed = name == SIGNED
            for value in changed_files(measured(manifest) if signed else manifest, digest_of):
                self.changed.add(value)
            for value in _later_signed(manifest, digest_of) if signed else _later(manifest):
                self.incomplete.add(value)
        if not os.path.lexists(folder / MANIFEST):
            shows = "nothing shows whether a file was changed or removed after the run"
            reason = f"no {MANIFEST}: {shows}"
            self.incomplete.add(FileFault(folder / HEADER, "", None, reason, "unreadable"))


def _later_signed(signed: Parsed[Manifest], digest_of: Digests) -> Values:
    if unsigned := list(_unsigned(signed.file.parent, signed.model)):
        reason = f"was signed without {listed(unsigned)}"
        yield FileFault(signed.file, "", None, reason, "unreadable")
    for reason in _changed_reports(signed.model, digest_of):
        yield Recomputed(signed, ("files",), cannot=reason)


def measured(manifest: Parsed[Manifest]) -> Parsed[Manifest]:
    """Return a manifest of what was measured: other files are formed anew when a run goes on."""
    model = manifest.model
    return replace(manifest, model=model.model_copy(update={"files": model.measured}))


def _later(manifest: Parsed[Manifest]) -> Iterator[Recomputed]:
    """Yield what was measured after the manifest was written, by a run that was killed."""
    names = manifest.model.files
    covered = {place_of(name) for name in names}
    later = dict.fromkeys(
        place_of(name) or name
        for name in listable(manifest.file.parent)
        if name not in names and is_measured(name) and (place_of(name) or name) not in covered
    )
    for name_ in later:
        yield Recomputed(manifest, ("files",), cannot=f"{name_} is not listed")


def _unsigned(folder: Path, signed: Manifest) -> Iterator[str]:
    """Yield what of a result a signature does not cover: trials first."""
    names = [name for name in listable(folder) if name not in signed.files]
    covered = {place_of(name) for name in signed.files} | {""}
    places = dict.fromkeys(map(place_of, names)).keys() - covered
    numbers = [int(name.partition("/")[2]) for name in places if name.startswith(f"{TRIALS}/")]
    if numbers:
        yield trials_in_words(numbers)
    yield from (name for name in names if place_of(name) in covered)


def _changed_reports(signed: Manifest, digest_of: Digests) -> Iterator[str]:
    for name in signed.files.keys() - signed.measured.keys():
        try:
            if digest_of(name) != signed.files[name]:
                yield f"{name} is not the file that was signed"
        except OSError:
            yield f"{name} was signed, and cannot be read"


def trials_in_words(numbers: Iterable[int]) -> str:
    """Return trials by their numbers, such as `trials 1 to 4 and 7`."""
    ordered = sorted(set(numbers))
    if not ordered:
        return "no trial"
    runs = groupby(enumerate(ordered), lambda numbered: numbered[1] - numbered[0])
    spans = [[number for _, number in run] for _, run in runs]
    words = (f"{span[0]} to {span[-1]}" if len(span) > 1 else str(span[0]) for span in spans)
    return f"trial{'s' * (len(ordered) > 1)} {conjoined(words)}"
