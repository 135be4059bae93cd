"""A result of an older format is refused by a located line that names both formats."""

import json
from pathlib import Path

import pytest
from front_door import Bench

OTHER = "has format 1, this benchforge reads 2: use the version that wrote it"


@pytest.mark.parametrize("words", [["report"], ["verify"], ["run", "--resume"]], ids=" ".join)
def test_every_command_names_both_formats(bench: Bench, tmp_path: Path, words: list[str]) -> None:
    header = tmp_path / "results" / "macro-20261121T103000Z" / "result.json"
    header.parent.mkdir(parents=True)
    header.write_text(json.dumps({"format": 1, "kind": "result"}))
    outcome = bench(*words, header.parent, code=2)
    assert f"{header}: {OTHER}" in outcome.all
