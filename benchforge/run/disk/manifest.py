"""Writing the manifest of a result: when a run ends, and when its reports are formed anew."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchforge.model.files.file import Parsed, parse
from benchforge.model.files.folder import CEILING, MANIFEST, SIGNATURE, SIGNED, TRIAL, TRIALS
from benchforge.model.files.manifest import Manifest, is_measured, place_of
from benchforge.text import door

MOST_BYTES = 1 << 30
"Largest file that is listed: programs of a trial may write as much as the disk holds."
_TRIAL = re.compile(rf"{TRIALS}/(?P<number>\d+)/{re.escape(TRIAL)}")

LISTED = "reports.sha256"
"What reporters of plugins wrote into a result, as `sha256sum` lists files; ours have known names."

_LINE = re.compile("(?P<digest>[0-9a-f]{64})  (?P<name>.+)")


def manifest_of(folder: Path) -> Manifest:
    """Return the manifest of a result whose run ended, as its files are now. Raises OSError.

    What an earlier manifest says of measured files stays: nobody may have changed them since.
    """
    manifest = parse(folder, MANIFEST, Manifest)
    measured = manifest.model.measured if isinstance(manifest, Parsed) else {}
    return _of({**dict(_digests(folder, listable(folder))), **measured})


def with_reports_anew(manifest: Manifest, folder: Path) -> Manifest:
    """Return a manifest with the summary and the reports as they are now."""
    names = door.files(folder.resolve(), lambda name: not is_measured(name))
    formed = filter(_is_whole, names)
    return _of({**manifest.measured, **dict(_digests(folder, formed))})


def listable(folder: Path) -> Iterator[str]:
    """Yield the files of a result that a manifest lists, links too; none of unfinished trials."""
    wholeness: dict[str, bool] = {}
    for name in door.files(folder.resolve()):
        trial_place = place_of(name)
        if trial_place and trial_place not in wholeness:
            documents = (f"{trial_place}/{document}" for document in (TRIAL, CEILING))
            wholeness[trial_place] = any(door.holds(folder, path) for path in documents)
        if wholeness.get(trial_place, True) and _is_whole(name):
            yield name


def _is_whole(name: str) -> bool:
    half = name.rpartition("/")[2].startswith(door.HALF)
    return not half and name not in {MANIFEST, SIGNED, SIGNATURE}


def _digests(
    folder: Path, names: Iterable[str], most: int = MOST_BYTES
) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            yield name, door.sha256(folder, name, most)
        except OSError:  # a link, a pipe, or what a program of a trial closed to us
            continue


def _of(files: dict[str, str]) -> Manifest:
    numbers = (match["number"] for match in map(_TRIAL.fullmatch, files) if match)
    return Manifest(trials=tuple(sorted(map(int, numbers))), files=dict(sorted(files.items())))


def listed(folder: Path, name: str, formed: Path) -> None:
    """List a report that is about to be moved here from the folder `formed`. Raises OSError."""
    digests = {**_listed_digests(folder), name: door.sha256(formed, name)}
    lines = (f"{digest}  {report}\n" for report, digest in sorted(digests.items()))
    door.write(folder, LISTED, "".join(lines).encode())


def reports(folder: Path) -> frozenset[str]:
    """Return the names of the reports in a result that were not changed since."""
    digests = _listed_digests(folder)
    listed_reports = _digests(folder, digests, sys.maxsize)
    return frozenset(name for name, digest in listed_reports if digest == digests[name])


def _listed_digests(folder: Path) -> Mapping[str, str]:
    try:
        text = door.read(folder, LISTED, door.MIB).decode()
    except (OSError, ValueError):
        return {}
    lines = map(_LINE.fullmatch, text.splitlines())
    return {line["name"]: line["digest"] for line in lines if line}
