"""Users who log in before the load: their cookies and tokens are in its requests."""

import json
from collections import Counter
from pathlib import Path

import pytest
from front_door import Bench, needed_tool
from measured.case import cases, read_trial, trial_of
from present import present
from suite_texts.files import suite_text


def suite(
    folder: Path, loader: str = "pace", duration: str = "0.3s", **changes: tuple[str, str]
) -> Path:
    rows = "".join(f"member{n},of member{n}\n" for n in range(9))
    (folder / "users.csv").write_text(f"name,password\n{rows}")
    text = suite_text("run/mix/sessions", loader=loader, duration=duration, folder=folder)
    for earlier, later in changes.values():
        assert earlier in text
        text = text.replace(earlier, later)
    path = folder / "members.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("loader", ["pace", "wrk", "wrk2", "k6", "locust"])
def test_each_request_is_of_a_user_who_logged_in(tmp_path: Path, loader: str) -> None:
    needed_tool(f'use = "{loader}"')
    users = {"users": ("connections = 4", "users = 4")} if loader in {"locust", "k6"} else {}
    duration = "0.3s" if loader == "pace" else "1s"  # the others take whole seconds
    (case,) = cases(suite(tmp_path, loader, duration, **users))
    trial, reading = read_trial(case, tmp_path)
    assert reading.good == reading.responses > 0
    pages = Counter((tmp_path / "pages.log").read_text().splitlines())
    known_values = {f"member{n}" for n in range(5)}
    # What is not there asks benchforge itself, without a session.
    assert {page for page in pages if "benchforge-asks-" not in page} == known_values
    assert min(pages[name] for name in known_values) > 1
    text = trial.model_dump_json()
    assert present(trial.stream).kinds["page"].request.headers == {"X-Token": "{token}"}
    assert "Cookie: session" not in text


def test_sessions_are_verified_without_their_server(bench: Bench, tmp_path: Path) -> None:
    result = bench("run", suite(tmp_path), "-o", "results", code=0).result
    (trial,) = (json.loads(file.read_text()) for file in result.glob("trials/*/trial.json"))
    assert trial["stream"]["records"] > 0
    verified = bench("verify", result)
    assert "stream" not in verified.err, verified.all


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ("users = 5", "users = 10", "session.users: feed 'users' has 9 rows, 'each once': fewer"),
        ("{token}", "{tokn}", "hole '{tokn}': no feed has that name"),
        ("take = { token", "take = { users", "'users' is the label of a feed, too"),
        ("json:/user", "body:/user", "take.token"),
        ("{users.password}", "{token}", "hole '{token}': the login itself takes it"),
        ('path = "/login"', 'path = "no slash"', "session.request.path"),
    ],
)
def test_wrong_sessions(bench: Bench, tmp_path: Path, first: str, second: str, says: str) -> None:
    refused = bench("check", suite(tmp_path, change=(first, second)), code=2)
    assert says in refused.err, refused.all
    assert "members.toml:" in refused.err


def test_a_login_without_its_value_fails_the_trial(tmp_path: Path) -> None:
    (case,) = cases(suite(tmp_path, change=("/user/token", "/user/key")))
    trial = trial_of(case, tmp_path)
    assert "login: the answer has no value at 'json:/user/key'" in present(trial.failure).message
