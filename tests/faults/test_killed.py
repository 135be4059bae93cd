"""Killed at any moment: what is there is whole, and the next start clears the rest away."""

from pathlib import Path

import pytest
import warm
from front_door import PROGRAMS, forked

from benchforge.errors import CannotKeep
from benchforge.run.disk import leftovers, scratch
from benchforge.run.disk.leftovers import place
from benchforge.run.disk.result_writer import whole

SCRATCH = """
from benchforge.run.disk.scratch import scratch_folder

def ready(folder, number):
    def use():
        with scratch_folder() as own:
            (own / "0").mkdir()
    return use
"""
KEEPS = """
from datetime import UTC, datetime
from benchforge.run.disk.result_writer import ResultWriter

def ready(folder, number):
    files = {"runtimes/py.txt": "six==1", "result.json": "{}"}
    return lambda: ResultWriter.new(folder, f"s{number}", datetime.now(UTC), files)
"""
# A database of some files, built once for all trials; the note beside it is for people.
BUILDS = """
from pathlib import Path
from types import SimpleNamespace
from benchforge.run.programs import template

def ready(folder, number):
    source = folder / str(number)
    source.mkdir()
    for name in "abc":
        (source / name).write_text(name)
    return lambda: template._store(source, template.cache("templates") / f"{number:032x}")
"""
CLEANS = """
from datetime import UTC, datetime
from benchforge.cli.machine.clean import inventory as remains
from benchforge.run.disk.leftovers import cache
remains.family = dict  # nobody uses anything; to look takes as long as a hundred of these

def ready(folder, number):
    template, result = cache("templates") / f"{number:032x}", folder / f"s{number}"
    for one in (template / "a", template / "b", result / "result.json", result / "trials/0001/a"):
        one.parent.mkdir(parents=True, exist_ok=True)
        one.write_text("")
    note = template.with_name(f"{template.name}.for")
    note.write_text("")
    found = [one for one in remains.in_cache() if one.path == template]
    now = datetime.now(UTC)
    pieces = result / "trials/0001", result / "result.json"
    found.append(remains.Remains("result", result, "", now, pieces))
    return lambda: [remains.remove(one) for one in found]
"""
WRITES = """
from benchforge.cli.console.named_file import write_file
from benchforge.cli.suites.new import files as new

def ready(folder, number):
    file = folder / f"duel-{number}.toml"
    file.write_text("once")
    own = folder / str(number)
    texts = {own / "suite.toml": "suite", own / "app.py": "app", own / "s.json": "schema"}

    def write():
        write_file(file, "again")
        new._write(texts)
    return write
"""


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of our own: others may measure meanwhile."""
    warm.start()  # what it makes is in none of them
    for name in ("tmp", "results"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "results"


def killed(folder: Path, code: str) -> int:
    """Kill code in each state that it leaves on the disk; how many attempts there were."""
    done = forked(PROGRAMS / "harness/killed.py", folder, code, folder=folder.parent)
    assert (done.code, done.err) == (0, "")
    return int(done.out)


def names(folder: Path) -> list[str]:
    """All that is below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_scratch_folder_goes_however_it_was_left(results: Path, tmp_path: Path) -> None:
    attempts = killed(results, SCRATCH)
    items = list((tmp_path / "tmp").iterdir())
    assert attempts > len(items) > 5  # before it is made, and once it is gone, nothing is left
    message = leftovers.cleared()
    assert [str(folder) for folder in items if str(folder) not in message] == []
    assert not list((tmp_path / "tmp").iterdir())


def test_a_result_is_there_with_its_header_or_not_at_all(results: Path) -> None:
    attempts = killed(results, KEEPS)
    half = list(results.glob(f"{scratch.BESIDE}*"))
    entries = [path for path in results.iterdir() if path not in half]
    assert attempts - 5 > len(half) > 5
    assert len(entries) >= 1  # the last attempt was not killed
    message = leftovers.cleared(results)
    assert [str(item) for item in half if str(item) not in message] == []
    assert sorted(results.iterdir()) == sorted(entries)
    for item_ in entries:
        assert names(item_) == ["result.json", "runtimes", "runtimes/py.txt", "trials"]
    (usual := results / "usual").mkdir()
    last = next(item for item in entries if item.name.startswith(f"s{attempts - 1}-"))
    assert last.stat().st_mode == usual.stat().st_mode


def test_a_template_is_there_whole_or_not_at_all(results: Path) -> None:
    attempts = killed(results, BUILDS)
    templates = place("templates")
    assert len(list(templates.iterdir())) > 5
    leftovers.cleared()
    items = list(templates.iterdir())
    assert (templates / f"{attempts - 1:032x}").is_dir()
    assert [names(item) for item in items] == [["a", "b", "c"]] * len(items)


def test_what_is_removed_is_there_whole_or_gone(results: Path) -> None:
    """A template of which half is gone would be restored for a trial."""
    attempts = killed(results, CLEANS)
    templates = place("templates")
    message = leftovers.cleared(results)
    assert message.count(str(results / scratch.BESIDE)) > 5
    assert message.count(str(templates / scratch.HALF)) > 2
    assert 5 < len(list(results.iterdir())) < attempts - 5
    for item in results.iterdir():
        assert names(item) == ["result.json", "trials", "trials/0001", "trials/0001/a"]
    folders = [path for path in templates.iterdir() if path.is_dir()]
    assert 2 < len(folders) < attempts - 5
    assert [names(folder) for folder in folders] == [["a", "b"]] * len(folders)
    notes = {path.stem for path in templates.glob("*.for")}
    assert notes <= {folder.name for folder in folders}


def test_what_is_written_for_a_person_is_whole_and_can_be_written_again(results: Path) -> None:
    killed(results, WRITES)
    texts = {path.read_text() for path in results.glob("duel-*.toml")}
    assert texts == {"once", "again"}
    for mine in (path for path in results.iterdir() if path.is_dir()):
        files = {path.name for path in mine.iterdir()}
        assert "suite.toml" not in files or files == {"suite.toml", "app.py", "s.json"}


def test_below_a_folder_that_hands_on_its_group_it_is_ours_too(results: Path) -> None:
    results.chmod(0o2755)
    folder = scratch._made(results, scratch.BESIDE)
    assert leftovers.left(results) == [str(folder)]
    scratch.stays(folder)
    assert leftovers.left(results) == []


def test_cleaning_survives_read_only_files(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = scratch._made(results, scratch.BESIDE)

    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.gettempdir", none)
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(CannotKeep, match="scratch: No usable temporary directory"):
        scratch.scratch_folder().__enter__()
    assert str(folder) in leftovers.cleared(results)


def test_a_full_disk_leaves_no_half_file(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = results / "report.md"
    whole(results, file.name, "before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")  # the kernel names no file

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/results/report.md'"):
        whole(results, file.name, "after")
    assert file.read_text() == "before"
    assert names(results) == ["report.md"]
