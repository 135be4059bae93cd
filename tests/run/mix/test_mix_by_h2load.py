"""A mix by h2load: the paths of the stream, and a comparison with another tool that is marked."""

import json
from itertools import islice
from pathlib import Path

from front_door import Bench, needed
from measured.case import cases
from measured.on_disk import trials_of
from present import present
from suite_texts.files import suite_text


def test_h2load_sends_the_paths_of_the_stream(bench: Bench, tmp_path: Path) -> None:
    needed("h2load")
    path = tmp_path / "mix.toml"
    path.write_text(suite_text("run/mix/mix_by_h2load", folder=tmp_path))
    ran = bench("run", "--details", path, "--set", "repeat.seed=0", code=0)
    by_tool = {trial["case"]["driver"]: trial for trial in trials_of(ran.result)}
    outcomes = {
        tool: {check["id"]: check["status"] for check in trial["checks"] if check["id"] in "R1 R2"}
        for tool, trial in by_tool.items()
    }
    right = {"R1": "pass", "R2": "pass"}
    assert outcomes == {"load": {"R1": "unknown", "R2": "warn"}, "other": right}
    assert by_tool["load"]["reading"]["good_at_least"] > 0
    text = " ".join(ran.out.split())
    assert "the load tool does not report which requests it sent" in text, text
    workload = present(cases(path)[0].workload)
    records = islice(workload.records(0, 1), by_tool["load"]["stream"]["records"])
    wanted = [record.head.decode().partition("\r\n")[0] for record in records]
    sent: dict[int, list[str]] = {}
    for line in (tmp_path / "requests.log").read_text().splitlines():
        connection, head, _ = json.loads(line)
        if "user-agent: h2load" in head.lower():
            assert "accept: text/plain" in head.lower()
            sent.setdefault(connection, []).append(head.partition("\r\n")[0])
    assert len(sent) == 3
    assert all(value == wanted[: len(value)] for value in sent.values()), "another order"
    assert min(len(value) for value in sent.values()) > 10
    bench("verify", ran.result, code=0)
