"""Right answers of several forms: ids that grow, own paths and statuses, compressed bodies."""

from pathlib import Path

from front_door import Bench
from measured.on_disk import trials_of
from suite_texts.files import suite_text

APP = """\
import gzip, itertools, json
COUNT = itertools.count(1)
ROWS = json.dumps({"rows": [{"id": n} for n in range(50)]}).encode()

def app(environ, start_response):
    headers, status = [("Content-Type", "application/json")], "200 OK"
    if environ["REQUEST_METHOD"] == "POST":
        body, status = b'{"id": %d}' % next(COUNT), "201 Created"
    elif environ["PATH_INFO"].startswith("/notes"):
        body = b'{"id": 1}'
    else:
        body = gzip.compress(ROWS, mtime=0)
        headers.append(("Content-Encoding", "gzip"))
        status = "202 Accepted" if environ["PATH_INFO"] == "/own" else status
    start_response(status, [*headers, ("Content-Length", str(len(body)))])
    return [body]
"""
SUITE = suite_text("end_to_end/right_answers")


def test_right_answers_of_many_forms_are_no_failures(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text(APP)
    (tmp_path / "suite.toml").write_text(SUITE)
    call = bench("run", "suite.toml")
    trials = trials_of(call.result)
    names = {(trial["case"]["scenario"], trial["case"]["server"]) for trial in trials}
    assert names == {("flow", "a"), ("rows", "a"), ("rows", "b")}
    for trial in trials:
        assert trial["failure"] is None, call.all
        classes = trial["reading"]["errors"]
        assert not classes.get("length", 0) + classes.get("status", 0), trial["reading"]
    page = (call.result / "report.md").read_text()
    assert "GET /rows" in page
    assert "b: GET /own" in page
    assert " bytes of gzip, 600 decoded" in page
    proved = bench("verify", call.result)
    assert "0 contradicted" in proved.all, proved.all
