"""Results that were changed after they were measured: what proves it, and what does not."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tampering
from front_door import Bench, answering, bench_words, calls, needed
from hypothesis import given
from hypothesis import strategies as st
from measured.on_disk import edited
from measured.once import made_once
from measured.real_result import listed_anew
from suite_texts.files import suite_text

from benchforge.errors import BenchforgeError
from benchforge.parts.registry import Registry
from benchforge.results.verify.form import trials_in_words
from benchforge.results.verify.recompute.compare import verify
from benchforge.run.disk.manifest import MOST_BYTES

Originals = tuple[Path, Path]
Forge = Callable[[Path, Path], None]

SUITE = suite_text("results/forged", answering=answering(), html=answering("--type", "text/html"))


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Originals:
    """Two results of one suite."""

    def measured(folder: Path) -> Path:
        (folder / "forged.toml").write_text(SUITE)
        bench = calls(bench_words(), folder)
        for parent in ("first", "second"):
            bench("run", folder / "forged.toml", "-o", folder / parent, code=0)
        return folder

    folder = made_once(tmp_path_factory, "forged", measured)
    (first,), (second,) = (folder / "first").iterdir(), (folder / "second").iterdir()
    return first, second


@pytest.fixture
def result(originals: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(originals[0], tmp_path / "result"))


def rewritten(header: Any, text: str) -> None:
    assert text != header["suite"]
    header["suite"] = text
    header["suite_sha256"] = hashlib.sha256(text.encode()).hexdigest()


def older_with_another_report(result: Path, _: Path) -> None:
    edited(result / "result.json", lambda header: header.update(benchforge="0.0.9"))
    edited(result / "summary.json", lambda summary: summary.update(benchforge="0.0.9"))
    (result / "report.md").write_text("ours is faster")


def commands_swapped(result: Path, _: Path) -> None:
    names = {"one": "two", "two": "one"}
    text = json.loads((result / "result.json").read_text())["suite"]
    swapped = re.sub(r"(?<=\[servers\.)(one|two)", lambda name: names[name[0]], text)
    edited(result / "result.json", lambda header: rewritten(header, swapped))


def digests_swapped_too(result: Path, other: Path) -> None:
    commands_swapped(result, other)
    cases = json.loads((result / "result.json").read_text())["cases"]
    item, two = (case["digest"] for case in cases)
    for file in (result / "result.json", *result.glob("trials/*/trial.json")):
        text = file.read_text().replace(item, "swapped").replace(two, item)
        file.write_text(text.replace("swapped", two))


def trial_of_another_run(result: Path, other: Path) -> None:
    content = result / "trials/0001"
    document = json.loads((content / "trial.json").read_text())
    trials = sorted(other.glob("trials/*/trial.json"))
    same = (file for file in trials if json.loads(file.read_text())["case"] == document["case"])
    shutil.rmtree(content)
    shutil.copytree(next(same).parent, content)
    moved = {name: document[name] for name in ("number", "seed", "started", "block", "position")}
    edited(content / "trial.json", lambda trial: trial.update(moved))


def trials_dropped(result: Path, _: Path) -> None:
    for number in ("0003", "0004"):
        shutil.rmtree(result / "trials" / number)


def expectation_removed(result: Path, _: Path) -> None:
    text = json.loads((result / "result.json").read_text())["suite"].replace('body = "pong"', "")
    edited(result / "result.json", lambda header: rewritten(header, text))


def url_edited(result: Path, _: Path) -> None:
    url = "http://10.0.0.1:80/ping"
    edited(result / "trials/0002/trial.json", lambda trial: trial.update(url=url))


def isolation_edited(result: Path, _: Path) -> None:
    shared: dict[str, Any] = {"network": "host", "pid": False}
    edited(result / "trials/0002/trial.json", lambda trial: trial["namespaces"].update(shared))


def counter_edited(result: Path, _: Path) -> None:
    def counted(trial: Any) -> None:
        counters = trial["observation"]["counters"]
        name = next(name for name, value in counters.items() if isinstance(value, int))
        counters[name] += 5

    edited(result / "trials/0002/trial.json", counted)


def trial_linked(result: Path, _: Path) -> None:
    path = result / "trials/0002"
    path.rename(result.parent / "elsewhere")
    path.symlink_to(result.parent / "elsewhere")


def without_summary(result: Path, _: Path) -> None:
    (result / "summary.json").unlink()


# What is done; what `verify` says of it by the manifest; and, where somebody who knows the format
# writes manifest and summary anew, what it says then: nothing where a signature alone shows it.
FORGERIES: list[tuple[Forge, str, str]] = [
    (older_with_another_report, "contradicted: {result}/report", "not proved: {result}/report.md"),
    (commands_swapped, "result.json", "cases.0.digest: "),
    (digests_swapped_too, "result.json", ".argv: "),
    (trial_of_another_run, "trials/0001", ""),
    (trials_dropped, 'files."trials/0003/trial.json": was removed', ""),
    (expectation_removed, "result.json", "cases.0.digest: "),
    (url_edited, "trials/0002/trial.json", "processes."),
    (isolation_edited, "trials/0002/trial.json", ""),
    (counter_edited, "trials/0002/trial.json", ""),
    (trial_linked, "trials/0002/trial.json: is a link", "is a link"),
    (without_summary, "no summary.json", "no summary.json"),
]


def reported_anew(result: Path, bench: Bench) -> None:
    """Have the summary and the reports follow from what was changed."""
    version = json.loads((result / "result.json").read_text())["benchforge"]
    if version != "0.0.9" and (result / "summary.json").exists():
        bench("report", result, "--write")


@pytest.mark.samples(4)
@pytest.mark.parametrize(("forge", "listed", "says"), FORGERIES)
def test_the_manifest_shows_a_change_and_without_it_what_follows_from_other_files_does(
    bench: Bench, result: Path, originals: Originals, forge: Forge, listed: str, says: str
) -> None:
    forge(result, originals[1])
    reported_anew(result, bench)
    run = bench("verify", result, "--all")
    assert run.code == (2 if forge in {without_summary, trial_linked} else 1), run.all
    assert listed.format(result=result) in run.all
    if forge is not without_summary:
        assert bench("validate", result).code in {1, 2}
    listed_anew(result)
    run = bench("verify", result, "--all")
    assert (run.code != 0) is bool(says), run.all
    assert says.format(result=result) in run.all


def test_blocks_that_were_dropped_with_their_plan_are_open_without_a_signature(
    bench: Bench, result: Path
) -> None:
    """Nothing but the suite's text says how many blocks there were, and it was edited, too."""
    tampering.block_dropped(result)
    reported_anew(result, bench)
    listed_anew(result)
    told = bench("verify", result, code=0)
    _, open_, last = told.out.splitlines()
    assert "blocks after the last one" in open_
    assert "nobody signed it: whether the raw files were measured, and whether more was" in last
    assert "whether more was" in bench("verify", result, "--level", "numbers", code=0).out


def test_a_result_without_a_manifest_is_not_proved(bench: Bench, result: Path) -> None:
    (result / "manifest.json").unlink()
    run = bench("verify", result, code=2)
    assert run.out.startswith(f"{result}: not proved: ")
    assert "no manifest.json: nothing shows whether a file was changed" in run.out


def test_an_added_file_is_no_part_of_a_trial(bench: Bench, result: Path) -> None:
    (result / "notes.txt").write_text("mine")
    assert bench("verify", result).code == 0
    (result / "trials/0001/added.out").write_text("more")
    assert "added.out: is not in manifest.json" in bench("verify", result, code=1).out


def test_a_report_formed_anew_is_listed_and_a_lost_trial_stays_lost(
    bench: Bench, result: Path
) -> None:
    content = (result / "manifest.json").read_bytes()
    assert bench("report", result, "--write").code == 0
    assert (result / "manifest.json").read_bytes() == content
    shutil.rmtree(result / "trials/0004")
    assert bench("report", result, "--write").code == 0
    assert "trials/0004/trial.json" in (result / "manifest.json").read_text()


def test_a_summary_with_a_plan_of_a_trillion_is_refused(bench: Bench, result: Path) -> None:
    edited(result / "summary.json", lambda item: item["cases"][0].update(planned=10**12))
    run = bench("validate", result / "summary.json", code=1)
    assert "planned: input should be less than or equal to 2000000" in run.out


def keyed(folder: Path, name: str) -> Path:
    """Make a key, and return its path."""
    needed("ssh-keygen")
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
    subprocess.run(words, check=True)
    return folder / name


@pytest.fixture
def signers(tmp_path: Path) -> Path:
    """A list of signers with one key, which lies beside it."""
    keyed(tmp_path, "other")
    key = keyed(tmp_path, "mine").with_suffix(".pub").read_text()
    (tmp_path / "signers").write_text(f"me@example.org {key}")
    return tmp_path / "signers"


def test_a_signature_shows_what_nothing_else_shows(
    bench: Bench, result: Path, signers: Path, originals: Originals
) -> None:
    assert "nobody signed the result" in bench("verify", "--signers", signers, result, code=2).out
    run = bench("sign", result, "--key", signers.parent / "mine", code=0)
    assert "signed trials 1 to 4" in run.err
    run = bench("verify", "--signers", signers, result, code=0)
    assert "signed by me@example.org: trials 1 to 4" in run.out
    run = bench("verify", result)
    assert "it is signed, and by whom was not checked: name the signers" in run.out
    trial_of_another_run(result, originals[1])
    reported_anew(result, bench)
    listed_anew(result)
    run = bench("verify", "--signers", signers, result, "--all", code=1)
    assert "is not the file that signed.json lists" in run.out


@pytest.fixture(scope="module")
def signed(originals: Originals, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result that was signed."""
    folder = tmp_path_factory.mktemp("signed")
    result = Path(shutil.copytree(originals[0], folder / "result"))
    calls(bench_words(), folder)("sign", result, "--key", keyed(folder, "mine"), code=0)
    return result


@pytest.mark.samples(9)
@pytest.mark.parametrize("subject", tampering.CHANGES)
def test_whatever_changes_in_a_signed_result_is_found_without_a_key(
    signed: Path, tmp_path: Path, subject: str
) -> None:
    """Whoever changed it has written the manifest anew, so that `signed.json` alone shows it."""
    result = Path(shutil.copytree(signed, tmp_path / "result"))
    tampering.CHANGES[subject](result)
    listed_anew(result)
    try:
        verified = verify(result, Registry())
    except BenchforgeError as error:
        assert str(result) in error.message  # noqa: PT017 - either is right
    else:
        assert verified.differing or verified.cannot


def test_an_added_file_that_is_too_large_to_be_listed_is_not_proved(
    bench: Bench, signed: Path, tmp_path: Path
) -> None:
    """No manifest lists such a file, and nothing was said of it."""
    result = Path(shutil.copytree(signed, tmp_path / "result"))
    (result / "trials/0001/huge.out").touch()
    os.truncate(result / "trials/0001/huge.out", MOST_BYTES + 1)
    run = bench("verify", result, "--level", "form", "--all", code=2)
    assert "huge.out: has more than 1 GiB, and is not in signed.json" in run.out
    assert "signed without trials/0001/huge.out" in bench("verify", result, "--all", code=2).out


def test_a_signature_of_somebody_else_or_of_something_else_proves_nothing(
    bench: Bench, result: Path, signers: Path
) -> None:
    assert bench("sign", result, "--key", signers.parent / "other").code == 0
    run = bench("verify", "--signers", signers, result, code=2)
    assert f"is by nobody whom {signers} lists" in run.out
    assert bench("sign", result, "--key", signers.parent / "mine").code == 0
    edited(result / "signed.json", lambda signed: signed["files"].pop("trials/0001/trial.json"))
    run = bench("verify", "--signers", signers, result, code=1)
    assert "is not a signature of me@example.org on signed.json: " in run.out
    (result / "signed.json.sig").write_text("no signature")
    assert bench("verify", "--signers", signers, result).code == 1  # its list lacks a file, too
    (result / "signed.json.sig").unlink()
    (result / "signed.json.sig").symlink_to(signers)
    assert "is a link" in bench("verify", "--signers", signers, result, code=2).err


def test_what_is_measured_after_the_signature_is_not_signed(
    bench: Bench, tmp_path: Path, signers: Path
) -> None:
    (tmp_path / "forged.toml").write_text(SUITE.replace("blocks = 2", "blocks = 1"))
    bench("run", "forged.toml", "--time-limit", "0.1s", "-o", "short")
    (result,) = (tmp_path / "short").iterdir()
    count = len(list(result.glob("trials/*/trial.json")))
    assert bench("sign", result, "--key", signers.parent / "mine").code == 0
    assert bench("run", "--resume", result).code == 0
    run = bench("verify", "--signers", signers, result, code=2)
    text = f"trials 1 to {count}" if count > 1 else "trial 1" if count else "no trial"
    assert f"signed by me@example.org: {text}\n" in run.out
    assert "signed.json: was signed without trial" in run.out
    assert bench("sign", result, "--key", signers.parent / "mine").code == 0
    run = bench("verify", "--signers", signers, result, code=0)
    assert "signed by me@example.org: trials 1 to 2" in run.out


def test_only_the_files_that_the_run_left_are_signed(
    bench: Bench, result: Path, signers: Path
) -> None:
    key = signers.parent / "mine"
    run = bench("sign", result, "--key", signers.parent / "no-key", code=2)
    assert f"{signers.parent}/no-key: ssh-keygen did not sign with it" in run.err
    counter_edited(result, result)
    assert "not signed: " in bench("sign", result, "--key", key, code=1).err
    (result / "manifest.json").unlink()
    assert "its run did not end" in bench("sign", result, "--key", key, code=2).err


def test_without_ssh_keygen_its_package_is_named(result: Path, tmp_path: Path) -> None:
    bench = calls(bench_words(), tmp_path, {**os.environ, "PATH": "/nowhere"})
    run = bench("sign", result, "--key", "key", code=3)
    assert run.err == "error: ssh-keygen is missing\nhint: apt-get install openssh-client\n"


@given(st.sets(st.integers(1, 60)))
def test_trials_in_words_are_those_of_their_numbers(numbers: set[int]) -> None:
    words = trials_in_words(numbers)
    names: set[int] = set()
    for first, last in re.findall(r"(\d+)(?: to (\d+))?", words):
        names |= {*range(int(first), int(last or first) + 1)}
    assert names == numbers
