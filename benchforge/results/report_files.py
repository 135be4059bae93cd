"""The files that show a result: written beside it, and compared with it later."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchforge.errors import Unusable
from benchforge.model.files.folder import MANIFEST, SIGNATURE, SIGNED, SUMMARY, TRIALS
from benchforge.model.files.manifest import is_measured
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.part import Reporter
from benchforge.parts.registry import Registry
from benchforge.run.disk.manifest import LISTED, listed
from benchforge.run.disk.scratch import scratch_folder
from benchforge.text import door

REPORTERS = ("markdown", "html", "csv")
"Every run writes what these make."
ON_DEMAND = {
    "brief": ("brief.md", "brief.svg"),
    "github": ("github.md",),
    "json": ("numbers.json",),
    "junit": ("junit.xml",),
}
"Ours that write where somebody asks for them, each with its files."
_TAKEN = {SUMMARY, LISTED, MANIFEST, SIGNED, SIGNATURE}


def reporter(registry: Registry, name: str) -> Reporter:
    """Return a reporter without options. Raises Unusable where there is none of that name."""
    part = registry.part("reporter", name)()
    assert isinstance(part, Reporter)  # noqa: S101 - the kind says so
    return part


def write_reports(
    summary: Summary,
    trials: Sequence[Trial],
    registry: Registry,
    folder: Path,
    names: Sequence[str] = REPORTERS,
    into: Path | None = None,
) -> list[Path]:
    """Write reports of a result's folder into it, or into another one.

    Each is formed elsewhere first: a file is there whole, or as before. A reporter may also append
    to a file that the environment names. Raises OSError for a file, Unusable for a broken reporter.
    """
    written: list[Path] = []
    into = into or folder
    with scratch_folder() as scratch:
        for by, name in formed(summary, trials, registry, folder, names, scratch):
            if "/" in name:
                door.make(into, name.rpartition("/")[0])
            if into == folder and by.name not in {*REPORTERS, *ON_DEMAND}:
                listed(folder, name, scratch)
            door.write(into, name, door.pieces(scratch, name))
            written.append(into / name)
            elsewhere = os.environ.get(by.appended_to) if by.appended_to else None
            if elsewhere:
                with Path(elsewhere).open("ab") as end:
                    end.writelines(door.pieces(scratch, name))
                written.append(Path(elsewhere))
    return written


def renew_reports(
    summary: Summary, trials: Sequence[Trial], registry: Registry, folder: Path
) -> list[Path]:
    """Write those anew that exist: they may be of fewer trials. Raises as `write_reports`."""
    written: list[Path] = []
    with scratch_folder() as scratch:
        names = wanted_earlier(folder)
        for _, name in formed(summary, trials, registry, folder, names, scratch):
            if door.holds(folder, name) and door.sha256(folder, name) != door.sha256(scratch, name):
                door.write(folder, name, door.pieces(scratch, name))
                written.append(folder / name)
    return written


def wanted_earlier(folder: Path) -> list[str]:
    """Return the reporters on demand that a folder has a file of: no other is formed in vain."""
    files = [(name, folder / file) for name, files in ON_DEMAND.items() for file in files]
    return list(dict.fromkeys(name for name, file in files if os.path.lexists(file)))


def formed(
    summary: Summary,
    trials: Sequence[Trial],
    registry: Registry,
    folder: Path,
    names: Sequence[str],
    target: Path,
) -> Iterator[tuple[Reporter, str]]:
    """Form reports in an empty folder, beside the trials: yield by whom each is, and its name."""
    (target / TRIALS).symlink_to((folder / TRIALS).resolve())
    for name in names:
        part = reporter(registry, name)
        try:
            made = [str(file.relative_to(target)) for file in part.report(summary, trials, target)]
            for file in made:
                if is_measured(file) or file.split("/", maxsplit=1)[0] in _TAKEN:
                    raise ValueError(f"{file} is a name of the result itself")  # noqa: TRY301 - the reporter's error
                door.size_of(target, file)  # a file, and no link
        except (OSError, MemoryError):
            raise
        except Exception as error:
            message = f"reporter {name}: {type(error).__name__}: {error}"
            raise Unusable(message, "its author can fix it; other reports are written") from error
        yield from ((part, file) for file in made)
