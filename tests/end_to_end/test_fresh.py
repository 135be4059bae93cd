"""Each trial begins anew: fresh processes, another seed of hashes, restored backends."""

import json
import sys
from pathlib import Path

from front_door import PROGRAMS, Bench, needed, needed_module
from suite_texts.files import suite_text


def test_processes_and_their_hashes_are_new_in_each_trial(bench: Bench, tmp_path: Path) -> None:
    words = [sys.executable, str(PROGRAMS / "servers/says_who.py"), "--port", "{port}"]
    suite = tmp_path / "fresh.toml"
    suite.write_text(suite_text("end_to_end/fresh", backends="", command=words, named=""))
    bench("run", suite, code=0)
    outs = sorted(tmp_path.glob("results/*/trials/*/server-one.out"))
    content = [json.loads(out.read_text()) for out in outs]
    seeds = [json.loads((out.parent / "trial.json").read_text())["seed"] for out in outs]
    assert [item["seed"] for item in content] == [str(seed) for seed in seeds]
    # Pids may come again, since each trial has its own; when a process began does not.
    assert len({item["started"] for item in content}) == 2
    assert len(set(seeds)) == len({item["hash"] for item in content}) == 2


def test_a_row_of_one_trial_is_not_there_in_the_next(bench: Bench, tmp_path: Path) -> None:
    needed("postgres")
    needed_module("psycopg2")
    words = [sys.executable, str(PROGRAMS / "servers/remembers.py"), "{port}"]
    backend = '[backends.rows]\nuse = "postgresql"\ndataset = "agents"\n'
    suite = tmp_path / "fresh.toml"
    named = 'backends = ["rows"]'
    suite.write_text(suite_text("end_to_end/fresh", backends=backend, command=words, named=named))
    bench("run", suite, code=0)
    folders = sorted(tmp_path.glob("results/*/trials/*"))
    assert [int((folder / "answer.bin").read_bytes()) for folder in folders] == [1, 1]
    for folder in folders:
        trial = json.loads((folder / "trial.json").read_text())
        assert trial["reading"]["responses"] > 1  # each of which left a row behind
