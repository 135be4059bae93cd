"""Secrets in every place of a suite: none is in a result, a cache, an output, or seen by `ps`."""

import base64
import contextlib
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from front_door import PROGRAMS, Told, bench_words, calls, needed

from benchforge.run.locate import locate
from benchforge.suite.secrets import redact

# Each is known by its first letters alone: no form of them is without one of the two.
SECRETS = {
    f"T_{number:02}": f'Zq{number:02}kK/{number:02}+wW "x"&{number:02}Vv' for number in range(8)
}
PLAIN = {f"T_{number:02}": f"Zq{number:02}kKuUwWxX{number:02}Vv" for number in range(8, 20)}
ALL = SECRETS | PLAIN
BY_FILES = ("pace", "wrk", "locust", "k6")
BY_ARGUMENTS = ("ab", "h2load", "hey", "siege", "oha")
OPTIONS = {
    **dict.fromkeys(("wrk", "h2load", "hey", "siege", "oha"), "connections = 2\nduration = '1s'"),
    **dict.fromkeys(("locust", "k6"), "users = 2\nduration = '1s'"),
    "pace": "connections = 2\nduration = '0.2s'",
    "ab": "connections = 2\nrequests = 200\nkeep_alive = false",
}
CLIENTS = (
    *("aiohttp", "geventhttpclient", "http_client", "httplib2", "httpx", "pycurl", "requests"),
    *("tornado", "urllib", "urllib3"),
)
REPORTERS = ("junit", "github", "json", "csv", "html", "markdown")


def env(name: str) -> str:
    return f'{{ env = "{name}" }}'


def there(*tools: str) -> list[str]:
    return [tool for tool in tools if tool in {"pace", "locust"} or locate(tool)]


def suite(
    folder: Path,
    *tools: str,
    clients: tuple[str, ...] = (),
    more: str = "",
    change: tuple[str, str] = ("", ""),
) -> Path:
    """Write a suite with secrets in every place that takes a text, with a change."""
    loaders = "".join(f'[loaders.{tool}]\nuse = "{tool}"\n{OPTIONS[tool]}\n' for tool in tools)
    libraries = "".join(
        f'[clients.{client}]\nuse = "{client}"\nrequests = 5\n' for client in clients
    )
    method = '"POST"' if not {"siege", "oha"} & {*tools} else '"GET"'
    body = f"body = {env('T_03')}, " if method == '"POST"' else ""
    text = f"""\
benchforge = 1
smoke = true
title = "of {PLAIN["T_18"]}"

[servers.tells]
use = "command"
command = ["{sys.executable}", "{PROGRAMS / "faulty_servers/tells_all.py"}", "{{port}}"]
[servers.tells.environment]
T_00 = {env("T_00")}
T_01 = {env("T_01")}
T_04 = {env("T_04")}
T_TOKEN = "{PLAIN["T_19"]}"
{loaders}{libraries}
[scenarios.one]
request = {{ method = {method}, path = {env("SECRET_PATH")}, {body}headers = {{ \
Authorization = {env("LOGIN")}, X-Own = {env("T_10")}, X-Literal-Token = "{PLAIN["T_18"]}" }} }}
servers = ["tells"]
loaders = {json.dumps(list(tools))}
clients = {json.dumps(list(clients))}
expect = {{ status = 200 }}

[repeat]
blocks = 1
{more}
"""
    assert change[0] in text
    (folder / "suite.toml").write_text(text.replace(*change) if change[0] else text)
    return folder / "suite.toml"


def checked(folder: Path, path: Path, **variables: str) -> Told:
    """Check a suite that has an error."""
    mine = environment(folder) | variables
    return calls(bench_words(), folder, mine)("check", path, code=2)


def environment(folder: Path) -> dict[str, str]:
    login = base64.b64encode(f"user:{PLAIN['T_09']}".encode()).decode()
    scratch = folder / "tmp"
    scratch.mkdir(exist_ok=True)
    return {
        **os.environ,
        **ALL,
        "SECRET_PATH": f"/{PLAIN['T_08']}?key={PLAIN['T_11']}",
        "LOGIN": f"Basic {login}",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "TMPDIR": str(scratch),
        "GITHUB_STEP_SUMMARY": str(folder / "steps.md"),
    }


def left_in(data: bytes) -> list[str]:
    """Return the names of the secrets that are found in some bytes, however they are written."""
    text = data.decode(errors="surrogateescape")
    if "Zq" not in text and "***" not in redact(text, ALL.values()):
        return []
    return [name for name, secret in ALL.items() if redact(text, [secret]) != text]


def check_files(folder: Path) -> None:
    """Look into every file below a folder, whatever its name."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert not left_in(path.read_bytes()), path
        assert not left_in(str(path.relative_to(folder)).encode())


@contextlib.contextmanager
def watched() -> Iterator[set[str]]:
    """Give the programs in whose arguments a secret was seen, while this goes on."""
    names: set[str] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.02):
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    words = (process / "cmdline").read_bytes()
                    if b"Zq" in words:
                        names.add(Path(words.split(b"\0")[0].decode()).name)

    looks = threading.Thread(target=look)
    looks.start()
    try:
        yield names
    finally:
        over.set()
        looks.join()


def measured(tmp_path: Path, path: Path, *words: str) -> tuple[str, set[str]]:
    """Run a suite, look for what it leaves, and return what it printed and whom `ps` gave away."""
    bench = calls(bench_words(), tmp_path, environment(tmp_path))
    with watched() as run:
        ran = bench("run", path, *words, within_s=300)
    assert ran.code in {0, 4}, ran.all  # on a loud machine a load of a second may end without one
    (result,) = tmp_path.glob("results/*")
    printed = ran.all
    later = {"validate": result, "verify": result, "report": result, "plan": path}
    for command, subject in later.items():
        done = bench(command, subject)
        # What is kept of an answer with a secret in it is its digest alone.
        assert done.code == 0 or (command == "verify" and ", 0 contradicted" in done.out), done.all
        printed += done.all
    assert not left_in(printed.encode()), printed
    check_files(result)
    check_files(tmp_path / "cache")
    assert not list((tmp_path / "tmp").iterdir())
    for trial in result.glob("trials/*"):
        assert stat.S_IMODE(trial.stat().st_mode) == stat.S_IMODE(trial.parent.stat().st_mode)
    assert "***" in (result / "trials/0001/trial.json").read_text()
    assert b"***" in (result / "trials/0001/server-tells.out").read_bytes()
    assert b"***" in (result / "trials/0001/server-tells.err").read_bytes()
    return (result / "report.md").read_text() + printed, run


def test_clients_and_tools_that_read_files_show_no_secret(tmp_path: Path) -> None:
    tools = there(*BY_FILES)
    reports = [word for name in REPORTERS for word in ("--report", name)]
    text, result = measured(tmp_path, suite(tmp_path, *tools, clients=CLIENTS), *reports)
    assert result == set()
    assert "every user of this machine" not in text


def test_tools_that_take_arguments_only_are_named(tmp_path: Path) -> None:
    tools = there(*BY_ARGUMENTS)
    text, result = measured(tmp_path, suite(tmp_path, *tools))
    assert result == {*tools}
    output = f"in arguments of {', '.join(sorted(tools))}: while they ran, every user"
    assert output in " ".join(text.split())


@pytest.mark.samples(1)
@pytest.mark.parametrize("kind", ["postgresql", "redis"])
def test_settings_and_urls_of_backends_show_no_secret(tmp_path: Path, kind: str) -> None:
    needed(*{"postgresql": ("postgres", "psql"), "redis": ("redis-server", "redis-cli")}[kind])
    setting = {"postgresql": '"our.own"', "redis": "masterauth"}[kind]
    backend = f"""\
[backends.data]
use = "{kind}"
settings = {{ {setting} = {env("T_05")} }}
"""
    change = ("expect =", 'backends = ["data"]\nexpect =')
    _, result = measured(tmp_path, suite(tmp_path, "pace", more=backend, change=change))
    assert result == set()


def test_a_server_that_is_told_by_its_arguments_is_named(tmp_path: Path) -> None:
    change = ('"{port}"]', f'"{{port}}", {env("T_06")}]')
    text, result = measured(tmp_path, suite(tmp_path, "pace", change=change))
    assert result == {Path(sys.executable).name}
    assert "every user of this machine could read them there" in " ".join(text.split())


def test_what_fails_shows_no_secret(tmp_path: Path) -> None:
    path = suite(tmp_path, "pace", change=("status = 200", 'body = "what nobody says"'))
    bench = calls(bench_words(), tmp_path, environment(tmp_path))
    ran = bench("run", path, code=4)
    assert not left_in(ran.all.encode()), ran.all
    check_files(tmp_path / "results")
    served = bench("serve", path, "tells", code=4)
    assert not left_in(served.all.encode()), served.all


def test_a_short_secret_is_refused_in_its_place(tmp_path: Path) -> None:
    redis = '[backends.x]\nuse = "redis"\nurl = "redis://:short@127.0.0.1"\n'
    call = checked(tmp_path, suite(tmp_path, "pace", more=redis), T_10="seven77")
    assert "request.headers.X-Own: T_10 has fewer than 8 characters" in call.err
    assert "backends.x.url: a secret of fewer than 8 characters" in call.err
    assert "seven77" not in call.err
    assert ":short@" not in call.err


def test_a_secret_that_is_a_name_is_refused(tmp_path: Path) -> None:
    change = ("[scenarios.one]", "[scenarios.a-postgres]")
    call = checked(tmp_path, suite(tmp_path, "pace", change=change), T_10="postgres")
    assert "request.headers.X-Own: this secret is also a name in the suite" in call.err


def test_while_a_run_lasts_and_when_it_is_killed_only_we_can_read(tmp_path: Path) -> None:
    words = bench_words("run", suite(tmp_path, "pace", change=("'0.2s'", "'60s'")))
    mine, null = environment(tmp_path), subprocess.DEVNULL
    with subprocess.Popen(words, cwd=tmp_path, env=mine, stdout=null, stderr=null) as run:
        try:
            while not (heads := list(tmp_path.glob("results/*/trials/0001/request-head"))):
                assert run.poll() is None
                time.sleep(0.05)
        finally:
            run.kill()
    assert stat.S_IMODE(heads[0].stat().st_mode) == 0o600
    assert stat.S_IMODE(heads[0].parent.stat().st_mode) == 0o700
