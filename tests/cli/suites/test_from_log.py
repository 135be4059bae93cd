"""A suite from an access log: kinds and shares as logged, values that run, and no secret."""

import csv
import gzip
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from front_door import Bench
from hypothesis import given, settings
from hypothesis import strategies as st
from present import present

from benchforge.cli.suites.new.from_log.kinds import (
    HOLE,
    Patterns,
    log_lines,
    merge_rare,
    read,
    segments,
)
from benchforge.cli.suites.new.from_log.written import formulas, from_log, texts
from benchforge.errors import Unusable
from benchforge.parts.registry import Registry
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
    wrote = bench("new", "suite", "mine", "--from-log", "access.log", code=0)
    assert wrote.out == Path(__file__).with_name("from_log.txt").read_text()
    folder = tmp_path / "mine"
    text = (folder / "suite.toml").read_text()
    assert text == Path(__file__).with_name("from_log.toml").read_text()
    with (folder / "products_item.csv").open() as file:
        ids = [int(row["id"]) for row in csv.DictReader(file)]
    assert 680 < len(ids) <= 700, "ids that fewer than three clients sent are left out"
    assert set(ids) <= set(range(1, 91))
    with (folder / "search.csv").open() as file:
        assert {row["q"] for row in csv.DictReader(file)} == {"lamp", "chair", "blue table"}
    for written in folder.iterdir():
        assert not [item for item in SECRETS if item in written.read_text()], written.name
    # It is sound: the kinds are there with the first request of each.
    (case,) = expand(load(folder / "suite.toml", Registry()))
    assert list(present(case.workload).first) == ["products_item", "search", "home", "page"]
    bench("plan", "mine/suite.toml", "--requests", "1", code=0)
    assert list(expand(load(folder / "suite.toml", Registry(), profile="highest")))
    # What is a comment becomes a kind of its share when its signs are removed.
    begin = text.index("#[scenarios.mix.kinds.orders_item_post]")
    comment, end = text[begin:].split("\n\n", 1)
    body = comment.replace("\n#", "\n").removeprefix("#").replace('"CHANGE-ME": 1', '"product": 7')
    (folder / "whole.toml").write_text(f"{text[:begin]}{body}\n\n{end}")
    posted = bench("plan", "mine/whole.toml", "--requests", "1", code=0)
    assert "  orders_item_post: share 4\n    POST /orders/" in posted.out


def test_columns_without_a_value_to_keep_are_named(bench: Bench, tmp_path: Path) -> None:
    targets = [f"/list?state={('open', 'closed')[n % 2]}&user=u{n}&page={n % 9}" for n in range(60)]
    (tmp_path / "access.log").write_text("".join(map(line, targets, range(60))))
    wrote = bench("new", "suite", "mine", "--from-log", "access.log")
    fill = "fill in: CHANGE-ME in list.csv (user): each value may be a secret"
    assert fill in wrote.out, wrote.all
    with (tmp_path / "mine" / "list.csv").open() as file:
        rows = [*csv.DictReader(file)]
    assert {row["state"] for row in rows} == {"open", "closed"}
    assert {row["user"] for row in rows} == {"CHANGE-ME"}


@pytest.mark.parametrize("path", ["/authors", "/logging", "/catalogins", "/tokenize"])
def test_part_of_the_word_login_makes_no_session(bench: Bench, tmp_path: Path, path: str) -> None:
    lines = [line(f"/products/{n}", n) for n in range(1, 90)]
    lines += [line(path, n, 201, "POST") for n in range(9)]
    (tmp_path / "access.log").write_text("".join(lines))
    bench("new", "suite", "mine", "--from-log", "access.log", code=0)
    text = (tmp_path / "mine" / "suite.toml").read_text()
    assert "session" not in text
    assert f'#path = "{path}"' in text


@pytest.mark.parametrize(("status", "stored"), [(200, "body = "), (302, "form = ")])
def test_a_login_becomes_a_session(bench: Bench, tmp_path: Path, status: int, stored: str) -> None:
    lines = [line(f"/products/{n % 9}", n) for n in range(1, 90)]
    lines += [line("/api/login", n, status, "POST") for n in range(9)]
    lines += [line("/orders", n, 201, "POST") for n in range(9)]
    (tmp_path / "access.log").write_text("".join(lines))
    bench("new", "suite", "mine", "--from-log", "access.log", code=0)
    path = tmp_path / "mine" / "suite.toml"
    text = path.read_text().replace('"CHANGE-ME": 1', '"id": {products_item.id:raw}')
    begin, end = text.index("# POST"), text.index("[repeat]")
    comments = re.sub(r"(?m)^#(?=\S)", "", text[begin:end])
    path.write_text(text[:begin] + comments + text[end:])
    (tmp_path / "mine" / "users.csv").write_text("name,password\nada,one\nbob,two\n")
    refused = bench("plan", path, "--requests", "1")
    assert "10" in refused.err, refused.all
    path.write_text(path.read_text().replace("users = 10 ", "users = 2 "))
    planned = bench("plan", path, "--requests", "2", code=0)
    assert "orders_post: share" in planned.out
    says = f"login, before the load and not measured: 2 users, expected status {status}"
    assert says in planned.out
    assert "    POST /api/login\n" in planned.out
    assert "{users.password}" in planned.out
    assert f"\n{stored}" in path.read_text()
    session = present(load(path, Registry()).scenarios["mix"].session)
    assert "/api/login" in str(session["request"])


def test_a_log_is_read_compressed_and_again_gives_the_same(bench: Bench, tmp_path: Path) -> None:
    plain = log(tmp_path)
    (tmp_path / "access.log.gz").write_bytes(gzip.compress(plain.read_bytes()))
    for name in ("access.log", "access.log.gz"):
        bench("new", "suite", name[-2:], "--from-log", name, code=0)
    folders = tmp_path / "og", tmp_path / "gz"
    first, second = (
        {file.name: file.read_text() for file in folder.iterdir()} for folder in folders
    )
    first["suite.toml"] = first["suite.toml"].replace("access.log", "access.log.gz")
    assert first == second


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "access.log: no request"),
        (b"\xff\x00" * 50_000, "access.log: no request to make a mix of: "),
        (line("/orders", method="POST").encode(), "1 were POST: a log has no bodies"),
        (line("/a" * 980).encode(), "1 had more than 16 segments in their path"),
        (b"[" * 16_000 + b'{"request":' * 1_400, "lines are not requests"),
    ],
)
def test_what_is_no_log_is_refused(bench: Bench, tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "access.log").write_bytes(content)
    assert says in bench("new", "suite", "mine", "--from-log", "access.log", code=2).err
    assert not (tmp_path / "mine").exists()


@given(st.lists(st.text(st.sampled_from("ab1{}/%"), max_size=12), min_size=1, max_size=30))
def test_a_pattern_and_its_values_are_the_path(paths: list[str]) -> None:
    counts = [(segments(f"/{path}"), 1) for path in paths]
    patterns = Patterns(counts, {"a", "b", "ab", "a/", "b/", "ab/", ""})
    for path in paths:
        pattern, values = patterns.of(f"/{path}")
        rest = iter(values)
        parts = [
            part.replace(HOLE, next(rest)) if part in {HOLE, f"{HOLE}/"} else part
            for part in pattern
        ]
        assert "/" + "/".join(parts) == f"/{path}"


def test_numbers_and_paths_of_one_client_are_placeholders(bench: Bench, tmp_path: Path) -> None:
    """Also a client with a second address, or with many IPv6 addresses of one network."""
    lines = [line(f"/list?page={n % 5}", n) for n in range(60)]
    lines += [line("/form?ssn=578120943&cvv=913&n=7713", n) for n in (7, 7, 7, 8) * 5]
    lines += [line("/visits/ada-lovelace/7713", 7) for _ in range(20)]
    apart = [line("/list?page=6641").replace("203.0.113.1", f"2001:db8::{n}") for n in range(9)]
    (tmp_path / "access.log").write_text("".join(lines + apart))
    wrote = bench("new", "suite", "mine", "--from-log", "access.log", code=0)
    written = "".join(file.read_text() for file in (tmp_path / "mine").glob("[!s]*.csv"))
    written += (tmp_path / "mine" / "suite.toml").read_text()
    for private in ("578120943", "913", "7713", "6641", "lovelace", "visits", "/form", "ssn"):
        assert private not in written, private
    assert "\nkept from the log: /list?page={list.page}, 69 requests\n" in wrote.out
    assert "\nkept from the log: page in list.csv, 5 different values\n" in wrote.out


def test_without_clients_the_user_names_the_shares(bench: Bench, tmp_path: Path) -> None:
    lines = [line(f"/visits/ada?page={n % 5}", n % 2) for n in range(60)]
    (tmp_path / "access.log").write_text("".join(lines))
    alone = bench("new", "suite", "alone", "--from-log", "access.log")
    assert "the log has 2 clients: each path and value may be of one client" in alone.out
    assert "kept from the log: /{page.id}/{page.id2}, 60 requests\n" in alone.out
    assert "visits" not in (tmp_path / "alone" / "suite.toml").read_text()
    shared = bench("new", "suite", "shared", "--from-log", "access.log", "--behind-proxy")
    assert "kept from the log: /visits/ada?page={visits_ada.page}, 60 requests\n" in shared.out
    assert "private" not in shared.out


def test_cells_that_a_spreadsheet_runs_are_named(bench: Bench, tmp_path: Path) -> None:
    values = ["=1%2B2", "%2B3", "-5", "plain"]
    lines = [line(f"/find?q={values[n % 4]}&page={n % 3}", n) for n in range(20)]
    (tmp_path / "access.log").write_text("".join(lines))
    wrote = bench("new", "suite", "mine", "--from-log", "access.log")
    cells = "beware: q in find.csv, lines 2, 3, 4 and 12 more begin with = + - or @: a spreadsheet"
    assert cells in wrote.out, wrote.all
    with (tmp_path / "mine" / "find.csv").open() as file:
        assert {row["q"] for row in csv.DictReader(file)} == {"=1+2", "+3", "-5", "plain"}


def test_json_lines_of_nginx_and_caddy_give_the_same_suite(tmp_path: Path) -> None:
    plain = log(tmp_path)
    entries = [entry for entry in log_lines(plain) if entry]
    caddy, nginx = tmp_path / "caddy.log", tmp_path / "nginx.log"
    with caddy.open("w") as of_caddy, nginx.open("w") as of_nginx:
        for entry in entries:
            uri = entry.path + (f"?{entry.query}" if entry.query else "")
            request = {"remote_ip": entry.client, "method": entry.method, "uri": uri}
            logged = {"ts": 1795428007.25, "request": request, "status": entry.status, "size": 12}
            of_caddy.write(json.dumps(logged) + "\n")
            variables = {"time_iso8601": "2026-11-23T10:00:07+00:00", "status": str(entry.status)}
            variables |= {"remote_addr": entry.client, "request": f"{entry.method} {uri} HTTP/1.1"}
            of_nginx.write(json.dumps(variables) + "\n")
    suite = tmp_path / "suite.toml"
    first, *others = (texts(read(file), plain, suite) for file in (plain, caddy, nginx))
    unread = re.compile(r"# Left out: \d+ lines are not requests.*\n|# In its busiest .*\n")
    for other in others:
        assert [*other] == [*first]
        for file, text in other.items():
            assert unread.sub("", text) == unread.sub("", first[file]), file


@pytest.mark.parametrize(
    ("entry", "client"),
    [
        ({"remote_addr": "[2001:db8::1]:4711", "request_uri": "/a?b=1"}, "2001:0db8:0000:0000"),
        ({"remote_addr": "192.0.2.1:4711", "uri": "/a", "args": "b=1"}, "192.0.2.1"),
        ({"remote_addr": "::ffff:192.0.2.1", "request": "GET /a?b=1 HTTP/2.0"}, "192.0.2.1"),
    ],
)
def test_variables_of_nginx(tmp_path: Path, entry: dict[str, str], client: str) -> None:
    fields = {"request_method": "GET", "status": 200, "msec": "1795428007.250", **entry}
    (tmp_path / "nginx.log").write_text(json.dumps(fields) + "\n")
    (logged,) = log_lines(tmp_path / "nginx.log")
    assert logged is not None
    assert (logged.client, logged.path, logged.query, logged.status) == (client, "/a", "b=1", 200)
    assert logged.minute == str(1795428007 // 60)


@pytest.mark.parametrize(
    "name", ["\U0001f600.log", "a\nb = 1\x7f.log", 'say "yes" \\.log', "\udcff"]
)
def test_a_name_of_any_kind(bench: Bench, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("".join(line("/list", n) for n in range(5)))
    bench("new", "suite", "mine", "--from-log", name, code=0)
    checked = bench("check", "mine/suite.toml")
    assert (checked.code, checked.err) == (0, ""), checked.all
    missing = bench("new", "suite", "other", "--from-log", f"no{name}", code=2)
    assert re.fullmatch(r"error: no[^\n]*: No such file[^\n]*\nhint: [^\n]*\n", missing.err)


def test_what_cannot_be_read_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="is not a file"):
        next(log_lines(Path("/dev/zero")))
    (tmp_path / "bad.gz").write_bytes(gzip.compress(b"x" * 999)[:12] + b"\xff" * 99)
    with pytest.raises(Unusable, match=r"bad\.gz: "):
        list(log_lines(tmp_path / "bad.gz"))


_SEGMENTS = st.tuples(st.just("GET"), *[st.sampled_from(["a", "b", "c", "d", "{}"])] * 3)


@given(st.dictionaries(_SEGMENTS, st.integers(1, 9), max_size=60), st.integers(4, 20))
def test_merged_paths_count_all_requests(counts: dict[tuple[str, ...], int], most: int) -> None:
    paths = Counter(counts)
    merge_rare(paths, most)
    assert len(paths) <= most
    assert paths.total() == sum(counts.values())


_PEAK = """
import resource, sys
from pathlib import Path
from benchforge.cli.suites.new.files import write_suite_of_log
write_suite_of_log(Path(sys.argv[1]) / "suite.toml", Path(sys.argv[2]), behind_proxy=False)
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_mb(folder: Path, size: int) -> float:
    """Read a log that fills each bound: new segments, keys and values in each of its lines."""
    rng = random.Random(1)
    letters = str.maketrans("0123456789", "ghijklmnop")
    log = folder / "access.log"
    with log.open("w") as file:
        while file.tell() < size:
            names = [f"{rng.getrandbits(120):x}".translate(letters) for _ in range(28)]
            query = "&".join(f"{name}={name[::-1] * 2}" for name in names[14:])
            file.write(line(f"/{'/'.join(names[:14])}?{query}", rng.randrange(10**6)))
    argv = [sys.executable, "-c", _PEAK, str(folder / f"of-{size}"), str(log)]
    ran = subprocess.run(argv, capture_output=True, text=True, check=True)
    log.unlink()
    return int(ran.stdout.split()[-1]) / 1000


def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    """Four times the values, each of them new, take less than twice the memory."""
    assert peak_mb(tmp_path, 12_000_000) < 2 * peak_mb(tmp_path, 3_000_000)


@pytest.mark.exhaustive
def test_memory_of_a_large_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.disk_usage(tmp_path).free < 3e9:
        pytest.skip("less than 3 GB of the disk is free")
    peak = peak_mb(tmp_path, 1_000_000_000)
    with capsys.disabled():
        sys.stdout.write(f"\na log of 1 GB: {peak:.0f} MB of memory\n")
    assert peak < 500


_CLIENTS = st.sampled_from(["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "-"])
_WORDS = st.sampled_from(
    ["a", "users", "login", "", "..", "%0A", "%FF", "{}", "{{a}", "'", '\\"', "7"]
)
_TARGETS = st.lists(
    _WORDS | st.text(st.characters(min_codepoint=33, max_codepoint=126)), max_size=6
)
_FIELDS = ("request", "status", "uri", "method", "remote_addr", "ts", "args", "time_local", "x")
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_FIELDS), inner),
    max_leaves=6,
)


@st.composite
def _combined(draw: st.DrawFn) -> str:
    keys = draw(st.lists(st.tuples(_WORDS, _WORDS | st.text(max_size=4)), max_size=3))
    query = "&".join(f"{key}={value}" for key, value in keys)
    target = "/" + "/".join(draw(_TARGETS)) + (f"?{query}" if keys else "")
    method = draw(st.sampled_from(["GET", "GET", "GET", "POST", "HEAD"]))
    status = draw(st.integers(0, 999)) if keys[2:] else 200
    return line(target, 1, status, method).replace("203.0.113.1", draw(_CLIENTS))


_JSON = st.dictionaries(st.sampled_from(_FIELDS), _VALUES, min_size=3).map(json.dumps)
_LINES = st.lists(st.tuples(_combined() | _JSON | st.text(), st.integers(1, 6)), max_size=20)


def _any_log(lines: list[tuple[str, int]], behind_proxy: bool) -> bool:
    """Return whether a log ends in a suite."""
    with tempfile.TemporaryDirectory() as folder:
        source, suite = Path(folder, "access.log"), Path(folder, "suite.toml")
        content = "\n".join(text for text, number in lines for _ in range(number))
        source.write_text(content, encoding="utf-8", errors="surrogatepass")
        try:
            log = read(source, behind_proxy=behind_proxy)
        except Unusable as error:
            assert error.message.startswith(f"{source}: no request"), error.message  # noqa: PT017
            assert "\n" not in error.message  # noqa: PT017
            return False
        written = texts(log, source, suite)
        for file, text in written.items():
            file.write_text(text, encoding="utf-8")
        assert all(part.isprintable() for part in [*from_log(log, written), *formulas(written)])
        assert list(expand(load(suite, Registry())))
        return True


@given(_LINES, st.booleans())
@settings(max_examples=20)
def test_any_log_ends_in_a_suite_or_a_refusal(lines: list[tuple[str, int]], proxy: bool) -> None:
    _any_log(lines, proxy)


@pytest.mark.exhaustive
def test_many_logs_end_in_a_suite_or_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    ends: Counter[bool] = Counter()

    @settings(max_examples=1_000)
    @given(_LINES, st.booleans())
    def any_log(lines: list[tuple[str, int]], behind_proxy: bool) -> None:
        ends[_any_log(lines, behind_proxy)] += 1

    any_log()
    with capsys.disabled():
        ended = f"{ends[True]} end in a suite that loads, and {ends[False]} in a located refusal"
        sys.stdout.write(f"\n{ends.total()} logs: {ended}\n")
    assert ends[True] > ends.total() / 10
