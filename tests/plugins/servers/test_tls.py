"""A server over https that already runs: whose certificate is trusted, and what is told if not."""

import contextlib
import ssl
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from front_door import needed
from measured.case import cases, trial_of
from present import present
from serving.certificate import certificate
from suite_texts.files import suite_text

from benchforge.model.trial.trial import Trial


class Hello(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is inherited
        pass


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a handshake that the other side gives up is what is tested


@pytest.fixture(autouse=True)
def programs() -> None:
    needed("openssl")


@contextlib.contextmanager
def serving(path: Path | None) -> Iterator[int]:
    """Serve on a port of this machine's loopback, over TLS with a certificate."""
    with Quiet(("127.0.0.1", 0), Hello) as server:
        if path is not None:
            secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            secure.load_cert_chain(path, path.with_suffix(".key"))
            wrap = secure.wrap_socket
            server.socket = wrap(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


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
    with serving(certificate(tmp_path, "own")) as port:
        trial = measured(tmp_path, f"https://{host}:{port}", "own.pem")
    assert trial.measured, trial.failure
    assert present(trial.reading).responses > 0
    assert [answer.status for answer in trial.answers] == [200, 200]
    assert trial.namespaces["network"] == "host"


def test_a_certificate_that_nobody_signed_is_told_with_what_to_do(tmp_path: Path) -> None:
    with serving(certificate(tmp_path, "own")) as port:
        actual, hint = failure(measured(tmp_path, f"https://127.0.0.1:{port}"))
    assert actual == "mine: certificate not trusted: self-signed certificate"
    assert 'ca_file = "certificate.pem"' in hint


def test_another_certificate_than_the_one_that_is_trusted_is_refused(tmp_path: Path) -> None:
    certificate(tmp_path, "other")
    with serving(certificate(tmp_path, "own")) as port:
        actual, hint = failure(measured(tmp_path, f"https://127.0.0.1:{port}", "other.pem"))
    assert actual.startswith("mine: certificate not trusted: ")
    assert "ca_file" in hint


def test_an_old_certificate_is_refused(tmp_path: Path) -> None:
    with serving(certificate(tmp_path, "old", expired=True)) as port:
        actual, hint = failure(measured(tmp_path, f"https://127.0.0.1:{port}", "old.pem"))
    assert actual == "mine: certificate not trusted: certificate has expired"
    assert hint == "make a new certificate, or set the clock"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_certificate_of_another_name_is_refused(tmp_path: Path, host: str) -> None:
    with serving(certificate(tmp_path, "own", "DNS:elsewhere.test")) as port:
        actual, hint = failure(measured(tmp_path, f"https://{host}:{port}", "own.pem"))
    assert f"certificate is not valid for '{host}'" in actual
    assert hint == "use a name that its certificate contains"


@pytest.mark.parametrize(
    ("content", "expected"),
    [(None, "No such file or directory"), ("text", "no certificate in PEM")],
)
def test_a_file_without_a_certificate(tmp_path: Path, content: str | None, expected: str) -> None:
    if content is not None:
        (tmp_path / "trusted.pem").write_text(content)
    with serving(certificate(tmp_path, "own")) as port:
        message, _ = failure(measured(tmp_path, f"https://127.0.0.1:{port}", "trusted.pem"))
    assert message == f"{tmp_path / 'trusted.pem'}: {expected}"


def test_who_speaks_no_tls_is_told_and_not_waited_for(tmp_path: Path) -> None:
    with serving(None) as port:
        trial = measured(tmp_path, f"https://127.0.0.1:{port}")
    actual, _ = failure(trial)
    # The words are OpenSSL's, and differ by its version.
    assert actual.startswith("mine: GET /: TLS: ")
    assert present(trial.failure).stage == "ask"
