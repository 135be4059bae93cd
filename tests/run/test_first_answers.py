"""The first answer of a server that speaks or answers otherwise: a name, and a remedy."""

import sys
from pathlib import Path

from front_door import PROGRAMS, Bench
from serving.certificate import pair

HOSTILE = PROGRAMS / "faulty_servers/hostile.py"
SUITE = """benchforge = 1
loaders.load = {{ use = "pace", connections = 2, duration = "0.3s" }}
scenarios.first = {{ request = {{ path = "{path}" }}, servers = ["mine"], loaders = ["load"] }}
repeat = {{ blocks = 1 }}
profiles.smoke = {{ smoke = true }}
[servers.mine]
use = "command"
command = ['{python}', '{hostile}', '{{port}}', {words}]
ready_within = "60s"
{options}
"""


def suite(folder: Path, path: str, words: str = "", options: str = "") -> Path:
    file = folder / "suite.toml"
    fields = {"python": sys.executable, "hostile": HOSTILE, "words": words}
    file.write_text(SUITE.format(path=path, options=options, **fields))
    return file


def refusal(bench: Bench, file: Path) -> tuple[str, str]:
    """Return the message and the hint with which a server is refused."""
    call = bench("serve", file, "mine", code=4)
    message, *hints = (line for line in call.err.splitlines() if line.startswith(("error", "hint")))
    return message, "".join(hints)


def test_a_tls_command_needs_two_options(bench: Bench, tmp_path: Path) -> None:
    """Each hint, followed as it is printed, leads to the next step, and then to a measurement."""
    words = f"'{pair(tmp_path)[1]}'"
    message, hint = refusal(bench, suite(tmp_path, "/right", words))
    assert message == "error: mine: it speaks TLS (HTTPS), and the request came without it"
    assert hint == "hint: say tls = true in servers.mine"
    message, hint = refusal(bench, suite(tmp_path, "/right", words, "tls = true"))
    assert message == "error: mine: certificate not trusted: self-signed certificate"
    assert 'ca_file = "certificate.pem"' in hint
    file = suite(tmp_path, "/right", words, 'tls = true\nca_file = "own.pem"')
    result = bench("run", file, "--profile", "smoke", "-o", "results", code=0).result
    assert "https://127.0.0.1:" in (result / "trials/0001/trial.json").read_text()
    bench("verify", result, code=0)


def test_a_stream_without_end_is_refused_by_name(bench: Bench, tmp_path: Path) -> None:
    message, hint = refusal(bench, suite(tmp_path, "/events-drip"))
    assert message == (
        "error: mine: GET /events-drip: its answer has no end within 10 s: "
        "a stream (text/event-stream) cannot be measured"
    )
    assert hint == "hint: request a path whose answer ends within 10 s"


def test_a_redirect_names_its_location(bench: Bench, tmp_path: Path) -> None:
    message, _ = refusal(bench, suite(tmp_path, "/elsewhere"))
    assert "expected status 200, got 302 (Location: /body-drips)" in message


def test_a_shell_reads_its_own_variable(bench: Bench, tmp_path: Path) -> None:
    file = suite(tmp_path, "/")
    line = "command = \"sh -c 'exec serve -b :$PORT'\"\nenvironment = { PORT = '{port}' }"
    lines = [line if "command =" in item else item for item in file.read_text().splitlines()]
    file.write_text("\n".join(lines))
    assert "$PORT" not in bench("check", file).err
