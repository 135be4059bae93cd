"""The files of a result, against its manifest."""

from collections.abc import Iterator

from benchforge.model.files.file import FileFault, Parsed
from benchforge.model.files.folder import MANIFEST
from benchforge.model.files.manifest import Manifest, is_measured, place_of
from benchforge.results.recomputed.manifest import changed_files
from benchforge.results.recomputed.verified import RecomputedValue
from benchforge.results.verify.recompute.recomputed import Result
from benchforge.run.disk.manifest import listable


def files(result: Result) -> Iterator[RecomputedValue | FileFault]:
    """Each file that the manifest lists, and each that it does not."""
    if result.manifest is None:
        why = f"no {MANIFEST}: nothing shows whether a file was changed or removed after the run"
        yield RecomputedValue(result.header, cannot=why)
        return
    yield from changed_files(result.manifest)
    yield from _later(result.manifest)


def _later(manifest: Parsed[Manifest]) -> Iterator[RecomputedValue]:
    """Yield what was measured after the manifest was written, by a run that was killed."""
    listed = manifest.model.files
    covered = {place_of(name) for name in listed}
    later: dict[str, None] = {}
    for name in listable(manifest.file.parent):
        place = place_of(name) or name
        if name not in listed and is_measured(name) and place not in covered:
            later[place] = None
    for place in later:
        yield RecomputedValue(manifest, ("files",), cannot=f"{place} is not listed")
