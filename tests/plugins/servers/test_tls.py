"""A server over https that already runs: whose certificate is trusted, and what is told if not."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, needed
from measured.case import cases, trial_of
from present import present
from serving.apps import accepts, free_port, running
from serving.certificate import certificate
from suite_texts.files import suite_text

from benchforge.model.trial.trial import Trial


@pytest.fixture(autouse=True)
def programs() -> None:
    needed("openssl")


@contextlib.contextmanager
def serving(folder: Path, path: Path | None) -> Iterator[int]:
    """Serve on a port of this machine's loopback, over TLS with a certificate."""
    port = free_port()
    words = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    if path is not None:
        both = folder / "both.pem"
        both.write_text(path.with_suffix(".key").read_text() + path.read_text())
        words = [sys.executable, str(PROGRAMS / "servers/counts.py"), "--port", str(port)]
        words += ["--body", "hello", "--certificate", str(both)]
    with running(words, folder, {}, folder / "log", lambda: accepts(port)):
        yield port


def measured(folder: Path, url: str, ca_file: str = "") -> Trial:
    path = folder / "small.toml"
    option = f'ca_file = "{ca_file}"' if ca_file else ""
    path.write_text(suite_text("plugins/servers/tls", url=url, ca_file=option))
    (case,) = cases(path)
    return trial_of(case, folder)


def failure(trial: Trial) -> tuple[str, str]:
    return present(trial.failure).message, present(trial.failure).hint


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_certificate_that_the_suite_trusts_is_measured(tmp_path: Path, host: str) -> None:
    with serving(tmp_path, certificate(tmp_path, "own")) as port:
        trial = measured(tmp_path, f"https://{host}:{port}", "own.pem")
    assert trial.measured, trial.failure
    assert present(trial.reading).responses > 0
    assert [answer.status for answer in trial.answers] == [200, 200]
    assert trial.namespaces["network"] == "host"


@pytest.mark.parametrize(
    ("own", "trusted", "message", "remedy"),
    [
        ({}, "", "not trusted: self-signed certificate", 'ca_file = "certificate.pem"'),
        ({}, "other.pem", "not trusted: ", "ca_file"),
        (
            *({"expired": True}, "own.pem", "not trusted: certificate has expired"),
            "make a new certificate, or set the clock",
        ),
        (
            *({"names": "DNS:elsewhere.test"}, "own.pem", "is not valid for '127.0.0.1'"),
            "use a name that its certificate contains",
        ),
    ],
)
def test_a_wrong_certificate_is_told_with_what_to_do(
    tmp_path: Path, own: dict[str, Any], trusted: str, message: str, remedy: str
) -> None:
    certificate(tmp_path, "other")
    with serving(tmp_path, certificate(tmp_path, "own", **own)) as port:
        actual, hint = failure(measured(tmp_path, f"https://127.0.0.1:{port}", trusted))
    assert actual.startswith("mine: ")
    assert f"certificate {message}" in actual
    assert remedy in hint


@pytest.mark.parametrize(
    ("content", "expected"),
    [(None, "No such file or directory"), ("text", "no certificate in PEM")],
)
def test_a_file_without_a_certificate(tmp_path: Path, content: str | None, expected: str) -> None:
    if content is not None:
        (tmp_path / "trusted.pem").write_text(content)
    with serving(tmp_path, certificate(tmp_path, "own")) as port:
        message, _ = failure(measured(tmp_path, f"https://127.0.0.1:{port}", "trusted.pem"))
    assert message == f"{tmp_path / 'trusted.pem'}: {expected}"


def test_who_speaks_no_tls_is_told_and_not_waited_for(tmp_path: Path) -> None:
    with serving(tmp_path, None) as port:
        trial = measured(tmp_path, f"https://127.0.0.1:{port}")
    actual, _ = failure(trial)
    # The words are OpenSSL's, and differ by its version.
    assert actual.startswith("mine: GET /: TLS: ")
    assert present(trial.failure).stage == "ask"
