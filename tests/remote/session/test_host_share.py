"""Code, runtimes, secrets and certificates of the user's own, on hosts."""

import base64
import io
import json
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from dask_lab import connected
from front_door import needed
from hosts_lab import program, told_by
from hypothesis import given, settings
from hypothesis import strategies as st
from measured.on_disk import trials_of
from present import present
from suite_texts.files import suite_text

from benchforge.errors import Unusable
from benchforge.parts.registry import Registry
from benchforge.remote.archive import FileCache
from benchforge.remote.session.host_share import imported, share_of, user_files
from benchforge.run.locate import locate
from benchforge.suite.load import load
from benchforge.suite.measuring.host_faults import LARGEST

HERE = Path(__file__)


def unpacked(packed: bytes, into: Path) -> dict[str, bytes | str]:
    """Return the files of an archive by name, and the targets of its links."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        return {
            item.name: item.linkname if item.issym() else tar.extractfile(item).read()  # type: ignore[union-attr]
            for item in tar
        }


def test_what_is_brought_of_a_folder(tmp_path: Path) -> None:
    code = tmp_path / "code"
    for path in ("pkg", ".git", "pkg/__pycache__", "env/bin", "results/old", "empty"):
        (code / path).mkdir(parents=True)
    (code / "env/pyvenv.cfg").touch()
    (code / "results/old/result.json").touch()
    for name in ("pkg/a.py", ".git/config", "pkg/__pycache__/a.pyc", "env/bin/x", ".env"):
        (code / name).write_text(name)
    (tmp_path / "shared.py").write_text("shared")
    (code / "pkg/b.py").symlink_to("a.py")
    (code / "c.py").symlink_to(tmp_path / "shared.py")
    (code / "lost").symlink_to("nowhere")
    (code / "again").symlink_to(code / "pkg")
    (tmp_path / "bench").mkdir()
    suite = tmp_path / "bench/suite.toml"

    brought = user_files(suite, [suite.parent / "../code"], {})

    assert brought.suite == "bench/suite.toml"
    assert unpacked(brought.files.packed, tmp_path) == {
        "code/pkg/a.py": b"pkg/a.py",
        "code/.env": b".env",
        "code/pkg/b.py": "a.py",
        "code/c.py": b"shared",
        "code/again": "pkg",
    }


def test_what_holds_on_this_machine_only_is_refused(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (tmp_path / "media").mkdir()
    (code / "media").symlink_to(tmp_path / "media")
    with pytest.raises(Unusable, match="a link to a folder outside of"):
        user_files(tmp_path / "suite.toml", [code], {})
    (code / "media").unlink()
    with (code / "large.bin").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(Unusable, match="256 MiB are more than a host gets") as error:
        user_files(tmp_path / "suite.toml", [code], {})
    assert "code/large.bin (256 MiB)" in error.value.hint
    (code / "pyvenv.cfg").touch()
    with pytest.raises(Unusable, match="in a virtual environment"):
        user_files(tmp_path / "suite.toml", [code / "large.bin"], {})


NAMES = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/d".join)


@settings(max_examples=10)
@given(st.dictionaries(NAMES, st.binary(max_size=20), max_size=6))
def test_a_host_gets_the_files_as_they_are_each_time(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    tmp_path = tmp_path_factory.mktemp("files")
    entries = {name: content for name, content in files.items() if f"{name}/d" not in str(files)}
    code, suite = tmp_path / "code", tmp_path / "suite.toml"
    code.mkdir()
    for name, content in entries.items():
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        if not (code / name).is_dir():
            (code / name).write_bytes(content)
    brought = user_files(suite, [code], {})
    digest, packed = brought.files.digest, brought.files.packed
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        cache = FileCache()
        assert not cache.has(digest)
        for index in range(0, len(packed), 64):
            part = base64.b64encode(packed[index : index + 64]).decode()
            cache.take(digest, part, not index, index + 64 >= len(packed))
        assert cache.has(digest)
        for _ in range(2):
            folder = cache.unpacked(digest)
            assert contents(folder / "code") == contents(code)
            (folder / "code").mkdir(exist_ok=True)
            (folder / "code/left").write_text("by a server")
        (archive,) = (tmp_path / "cache").rglob("*.tar.gz")
        for damaged in (packed[:20], b"no archive", user_files(suite, [HERE], {}).files.packed):
            archive.write_bytes(damaged)
            with pytest.raises(Unusable, match="cannot be unpacked as they were packed"):
                cache.unpacked(digest)
            assert not cache.has(digest)


def contents(folder: Path) -> dict[str, bytes]:
    files = (item for item in folder.rglob("*") if item.is_file())
    return {str(item.relative_to(folder)): item.read_bytes() for item in files}


def test_imports_are_read_without_importing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import flask.json\nfrom . import x\ndef f(): from b.c import d")
    (tmp_path / "wrong.py").write_text("import (")
    assert set(imported(tmp_path.glob("*.py"))) == {"flask.json", "b.c"}


SUITE = suite_text("remote/session/host_share")
APP = """
import os

import markupsafe

WORD = "old"


def app(environ, start):
    right = environ.get("HTTP_AUTHORIZATION", "").startswith("load-")
    print("the token is", os.environ.get("API_TOKEN"), flush=True)
    body = f"{WORD} {'LOAD_TOKEN' in os.environ}".encode()
    start("200 OK" if right else "401 No", [("Content-Length", str(len(body)))])
    return [body]
"""
SERVE = """
import sys

import brought_word
from answerer import Answerer, serve


class Word(Answerer):
    def do_GET(self):
        self.send(200, brought_word.WORD.encode())


serve(sys.argv[2], Word, sys.argv[1])
"""
SECRETS = {"APP_TOKEN": "app-secret-5678", "LOAD_TOKEN": "load-secret-1234"}
MACHINES = '[hosts.load]\nssh = "load"\n[hosts.app]\nssh = "app"\n[hosts.db]\nssh = "db"\n'


def site(folder: Path) -> Path:
    """Make the user's code and the folder of the suite; return the suite."""
    (folder / "code/mysite").mkdir(parents=True)
    (folder / "code/mysite/main.py").write_text(APP)
    program(folder, "serve.py", SERVE)
    (folder / "bench").mkdir()
    return folder / "bench/suite.toml"


def test_a_host_gets_the_secrets_and_files_of_its_own_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    path = site(tmp_path)
    text = SUITE.replace("PYTHON", "3.11").replace('ref = "v1"\n', "")
    suite = load(path, Registry(), text=text + MACHINES)
    shares = {label: share_of(suite, label, {}, {}) for label in ("load", "app", "db")}
    # The host of `mine`, behind a proxy, is asked with the requests of the load tool.
    assert shares["app"].suite.environment == SECRETS
    assert shares["load"].suite.environment == {"LOAD_TOKEN": SECRETS["LOAD_TOKEN"]}
    assert shares["db"].suite.environment == {}
    assert "a-literal-password" in shares["app"].suite.text
    assert "a-literal-password" not in shares["load"].suite.text
    assert "code/serve.py" in unpacked(shares["app"].files.packed, tmp_path)
    assert unpacked(shares["load"].files.packed, tmp_path) == {}
    assert {"os", "markupsafe"} <= shares["app"].imports


def wheel(folder: Path) -> None:
    """Write a wheel that holds one word."""
    folder.mkdir()
    about = "brought_word-1.0.dist-info"
    with zipfile.ZipFile(folder / "brought_word-1.0-py3-none-any.whl", "w") as file:
        tags = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        metadata = "Metadata-Version: 2.1\nName: brought-word\nVersion: 1.0\n"
        files = {"brought_word.py": 'WORD = "by uv"\n', f"{about}/METADATA": metadata}
        files |= {f"{about}/WHEEL": tags}
        files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
        for name, content in files.items():
            file.writestr(name, content)


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["ssh", "dask"])
def test_own_code_a_commit_a_runtime_secrets_and_tls_on_hosts(tmp_path: Path, engine: str) -> None:
    needed("git", "nginx", "openssl", "uv")
    path = site(tmp_path)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@y"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "v1"]):
        subprocess.run([*git, *words], cwd=tmp_path / "code", check=True)
    (tmp_path / "code/mysite/main.py").write_text(APP.replace('"old"', '"new"'))
    wheel(tmp_path / "wheels")
    uv = {"UV_NO_INDEX": "1", "UV_FIND_LINKS": str(tmp_path / "wheels"), "UV_OFFLINE": "1"}
    with connected(engine, tmp_path, ("load", "app"), uv) as (hosts, tables):
        python = os.path.realpath("/proc/self/exe")
        text = SUITE.replace("PYTHON", python) + tables
        path.write_text(text)
        environment = {**hosts.environment, **SECRETS}
        missing_count = text.replace('servers = ["old"', 'servers = ["none", "old"')
        missing_count += '[servers.none]\nuse = "command"\ncommand = ["no-such-program"]\n'
        (path.parent / "lacking.toml").write_text(missing_count)
        message = told_by(environment, path.parent, "doctor", "--hosts", "lacking.toml", code=3)
        assert "app lacks no-such-program; app: runtime own: " in message.all
        assert "which is missing" in message.all

        (tmp_path / "app/bin").mkdir()
        (tmp_path / "app/bin/uv").symlink_to(present(locate("uv")))
        message = told_by(environment, path.parent, "doctor", "--hosts", "suite.toml", code=0)
        assert "ok  runtime own: CPython" in message.out

        result = told_by(environment, path.parent, "run", "suite.toml", code=0).result
        answers = {}
        for trial in trials_of(result):
            assert trial["failure"] is None
            assert trial["listener"]["is_server"]
            assert trial["reading"]["responses"] > 0
            answer = result / f"trials/{trial['number']:04d}/answer.bin"
            answers[trial["case"]["server"]] = answer.read_text()
            assert trial["url"].startswith("https:") == (trial["case"]["server"] == "front")
        proxied = {"front": "new False", "plain": "new False"}
        assert answers == {"old": "old False", "program": "by uv", **proxied}
        header = json.loads((result / "result.json").read_text())
        assert header["runtimes"]["own"]["packages"]["brought-word"] == "1.0"
        assert (result / "runtimes/own.txt").read_text().startswith("brought-word==1.0")
        for file in tmp_path.rglob("*"):  # the hosts' homes and folders are below it, too
            content = file.read_bytes() if file.is_file() else b""
            assert not any(word in content for word in (b"app-secret", b"load-secret")), file
        told_by(environment, path.parent, "verify", result, code=0)
