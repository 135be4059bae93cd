"""A suite from an access log: kinds and shares as logged, values that run, and no secret."""

import csv
import gzip
import random
import re
import tomllib
from pathlib import Path

import pytest
from benchforge_commands.new.from_log.patterns import HOLE, Patterns, segments
from front_door import Bench
from hypothesis import given
from hypothesis import strategies as st

from benchforge.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load

SECRETS = [
    *("eyJhbGciOiJIUzI1NiJ9x7", "ada@example.org", "hunter2", "4111111111111111", "Zq8rT1kP0wVxY2"),
    *("passwordreset-abcdefgh", "9f86d081884c7d659a2feaa0c55ad015", "+441632960961", "xyzzy"),
]


def line(target: str, client: int = 1, status: int = 200, method: str = "GET") -> str:
    when = "[23/Nov/2026:10:00:07 +0000]"
    return f'203.0.113.{client} - ada {when} "{method} {target} HTTP/1.1" {status} 12 "-" "agent"\n'


def log(folder: Path) -> Path:
    """Write a log of 70 products, 20 searches, 10 lists, and what is to be left out."""
    rng = random.Random(4)
    lines = [line(f"/products/{rng.randint(1, 90)}", rng.randint(1, 40)) for _ in range(700)]
    words = ["lamp", "chair", "blue+table"]
    lines += [line(f"/search?q={words[n % 3]}&page={n % 7}", n % 40) for n in range(200)]
    lines += [line("/", n % 40) for n in range(100)]
    lines += [line("/style.css", n) for n in range(9)]
    lines += [line(f"/orders/{n}", n, 201, "POST") for n in range(40)]
    lines += [line("/products/1", 1, 500), "nonsense\n", "\x00\xff\n", "x" * 100_000 + "\n"]
    lines += [line(f"/search?q={secret}&page=1", 7) for secret in SECRETS for _ in range(9)]
    lines += [line(f"/reset/{secret}", 7) for secret in SECRETS]
    lines += [line(f"/search?q=lamp&token={secret}", n) for n, secret in enumerate(SECRETS)]
    rng.shuffle(lines)
    (folder / "access.log").write_text("".join(lines), encoding="latin-1")
    return folder / "access.log"


def test_the_mix_is_that_of_the_log_and_has_no_secret(bench: Bench, tmp_path: Path) -> None:
    log(tmp_path)
    wrote = bench("new", "suite", "mine", "--from-log", "access.log")
    assert wrote.code == 0, wrote.all
    for says in (
        "left out: 9 were for static files",
        "to complete: POST /orders/{orders_item_post.id",
    ):
        assert says in wrote.out
    assert "}: 40 requests, 3.51 %: a comment in mine/suite.toml, since the log" in wrote.out
    folder = tmp_path / "mine"
    suite = tomllib.loads((folder / "suite.toml").read_text())
    kinds = suite["scenarios"]["mix"]["kinds"]
    assert list(kinds)[:3] == ["products_item", "search", "home"]
    shares = {label: kind["share"] for label, kind in kinds.items()}
    assert abs(shares["products_item"] - 61) < 3
    assert kinds["search"]["request"]["path"] == "/search?q={search.q}&page={search.page}"
    with (folder / "products_item.csv").open() as file:
        ids = [int(row["id"]) for row in csv.DictReader(file)]
    assert len(ids) == 700
    assert set(ids) <= set(range(1, 91))
    with (folder / "search.csv").open() as file:
        assert {row["q"] for row in csv.DictReader(file)} == {"lamp", "chair", "blue table"}
    for written in folder.iterdir():
        assert not [one for one in SECRETS if one in written.read_text()], written.name
    text = (folder / "suite.toml").read_text()
    for yours, ours in (('"mysite.wsgi:application"', '"hello_wsgi"'), ('directory = "."', "")):
        assert yours in text
        text = text.replace(yours, ours)
    lines = len((tmp_path / "access.log").read_text("latin-1").splitlines()) - 2
    assert f"the log has {lines / 60:.1f} requests/s" in text
    assert 'find.rate = [120, 5000]\nscenarios.mix.find.slo = ["latency p99 < 100ms"]\n' in text
    (folder / "suite.toml").write_text(text)
    # It is sound: the kinds are there with the first request of each.
    (case,) = expand(load(folder / "suite.toml", Registry()))
    assert case.workload is not None
    assert list(case.workload.first) == list(kinds)
    assert bench("plan", "mine/suite.toml", "--requests", "1").code == 0
    assert list(expand(load(folder / "suite.toml", Registry(), profile="highest")))
    # What is a comment becomes a kind of its share when its signs are removed.
    begin = text.index("#[scenarios.mix.kinds.orders_item_post]")
    comment, end = text[begin:].split("\n\n", 1)
    body = comment.replace("\n#", "\n").removeprefix("#").replace('"CHANGE-ME": 1', '"product": 7')
    (folder / "whole.toml").write_text(f"{text[:begin]}{body}\n\n{end}")
    posted = bench("plan", "mine/whole.toml", "--requests", "1")
    assert posted.code == 0, posted.all
    assert "  orders_item_post: share 4\n    POST /orders/" in posted.out


def test_columns_without_a_value_to_keep_are_named(bench: Bench, tmp_path: Path) -> None:
    targets = [f"/list?state={('open', 'closed')[n % 2]}&user=u{n}&page={n}" for n in range(60)]
    (tmp_path / "access.log").write_text("".join(map(line, targets, range(60))))
    wrote = bench("new", "suite", "mine", "--from-log", "access.log")
    assert "fill in: CHANGE-ME in list.csv (user): each value may be a secret" in wrote.out, (
        wrote.all
    )
    with (tmp_path / "mine" / "list.csv").open() as file:
        rows = [*csv.DictReader(file)]
    assert {row["state"] for row in rows} == {"open", "closed"}
    assert {row["user"] for row in rows} == {"CHANGE-ME"}


@pytest.mark.parametrize("path", ["/authors", "/logging", "/catalogins", "/tokenize"])
def test_a_path_with_a_part_of_such_a_word_is_no_login(
    bench: Bench, tmp_path: Path, path: str
) -> None:
    lines = [line(f"/products/{n}", n) for n in range(1, 90)]
    lines += [line(path, n, 201, "POST") for n in range(9)]
    (tmp_path / "access.log").write_text("".join(lines))
    assert bench("new", "suite", "mine", "--from-log", "access.log").code == 0
    text = (tmp_path / "mine" / "suite.toml").read_text()
    assert "session" not in text
    assert f'#path = "{path}"' in text


@pytest.mark.parametrize(("status", "kept"), [(200, "body = "), (302, "form = ")])
def test_a_login_becomes_a_session(bench: Bench, tmp_path: Path, status: int, kept: str) -> None:
    lines = [line(f"/products/{n}", n) for n in range(1, 90)]
    lines += [line("/api/login", n, status, "POST") for n in range(9)]
    lines += [line("/orders", n, 201, "POST") for n in range(9)]
    (tmp_path / "access.log").write_text("".join(lines))
    assert bench("new", "suite", "mine", "--from-log", "access.log").code == 0
    path = tmp_path / "mine" / "suite.toml"
    text = path.read_text().replace("mysite.wsgi:application", "hello_wsgi")
    text = text.replace('directory = "."', "").replace(
        '"CHANGE-ME": 1', '"id": {products_item.id:raw}'
    )
    begin, end = text.index("# POST"), text.index("[repeat]")
    comments = re.sub(r"(?m)^#(?=\S)", "", text[begin:end])
    path.write_text(text[:begin] + comments + text[end:])
    (tmp_path / "mine" / "users.csv").write_text("name,password\nada,one\nbob,two\n")
    refused = bench("plan", path, "--requests", "1")
    assert "10" in refused.err, refused.all
    path.write_text(path.read_text().replace("users = 10 ", "users = 2 "))
    planned = bench("plan", path, "--requests", "2")
    assert planned.code == 0, planned.all
    assert "orders_post: share" in planned.out
    assert f"login, before the load and not measured: 2 users, expected status {status}" in (
        planned.out
    )
    assert "    POST /api/login\n" in planned.out
    assert "{users.password}" in planned.out
    assert f"\n{kept}" in path.read_text()
    session = load(path, Registry()).scenarios["mix"].session
    assert session is not None
    assert "/api/login" in str(session["request"])


def test_a_log_is_read_compressed_and_again_gives_the_same(bench: Bench, tmp_path: Path) -> None:
    plain = log(tmp_path)
    with gzip.open(tmp_path / "access.log.gz", "wb") as file:
        file.write(plain.read_bytes())
    for name in ("access.log", "access.log.gz"):
        assert bench("new", "suite", name[-2:], "--from-log", name).code == 0
    folders = tmp_path / "og", tmp_path / "gz"
    first, second = ({file.name: file.read_text() for file in one.iterdir()} for one in folders)
    first["suite.toml"] = first["suite.toml"].replace("access.log", "access.log.gz")
    assert first == second


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "access.log: no request"),
        (b"\xff\x00" * 50_000, "access.log: no request to make a mix of: "),
        (line("/orders", method="POST").encode(), "1 were POST: a log has no bodies"),
    ],
)
def test_what_is_no_log_is_refused(bench: Bench, tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "access.log").write_bytes(content)
    refused = bench("new", "suite", "mine", "--from-log", "access.log")
    assert (refused.code, says in refused.err) == (2, True), refused.all
    assert not (tmp_path / "mine").exists()
    missing = bench("new", "suite", "mine", "--from-log", "none.log")
    assert (missing.code, "none.log: No such file" in missing.err) == (2, True), missing.all


@given(st.lists(st.text(st.sampled_from("ab1{}/%"), max_size=12), min_size=1, max_size=30))
def test_a_pattern_and_its_values_are_the_path(paths: list[str]) -> None:
    counts = {segments(f"/{path}"): 1 for path in paths}
    patterns = Patterns(counts, {"a", "b", "ab", "a/", "b/", "ab/", ""})
    for path in paths:
        pattern, values = patterns.of(f"/{path}")
        left = iter(values)
        parts = [
            part.replace(HOLE, next(left)) if part in {HOLE, f"{HOLE}/"} else part
            for part in pattern
        ]
        assert "/" + "/".join(parts) == f"/{path}"
