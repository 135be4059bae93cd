"""Secrets of a command line and of a text that is no suite yet: no output has them."""

import shlex
from pathlib import Path

import pytest
from front_door import Bench
from hypothesis import given
from hypothesis import strategies as st

from benchforge.suite.secrets import hiding, masked, secrets_of_words

SECRET = "hunter2-of-ours"  # noqa: S105 - of a test
CLOSED = "http://127.0.0.1:2/"
WORDS = {
    "password of a URL": ["duel", f"http://u:{SECRET}@127.0.0.1:1/", CLOSED],
    "query of a URL": ["duel", f"http://127.0.0.1:1/?token={SECRET}", CLOSED],
    "variable": ["duel", f"API_TOKEN={SECRET} ./serve", CLOSED],
    "quoted variable": ["duel", f"API_TOKEN='a {SECRET}' ./serve", CLOSED],
    "option of a command": ["duel", f"./serve --api-key {SECRET}", CLOSED],
    "malformed header": ["duel", CLOSED, CLOSED, "--header", f"Authorization {SECRET}"],
    "header without a name": ["duel", CLOSED, CLOSED, "--header", SECRET],
    "no command": [f"API_TOKEN={SECRET}"],
    "no suite": ["check", f"postgresql://u:{SECRET}@localhost/shop"],
    "no profile": ["check", "good.toml", "--profile", f"token={SECRET}"],
    "setting": ["check", "good.toml", "--set", f"servers.a.password={SECRET}"],
}
TEXTS = {
    "behind it": f'password = "{SECRET}" x',
    "not closed": f'password = "{SECRET}',
    "without quotes": f"password = {SECRET}",
    "inline table": f'env = {{ API_TOKEN = "{SECRET}" x }}',
    "in it": f'api_key = "{SECRET}\\q"',
    "before it": f'url = "\\q http://u:{SECRET}@localhost/"',
    "array": f'tokens = [\n"{SECRET}" "x"]',
    "table": f'[servers.a.secrets]\nfirst = "{SECRET}',
    "argument": f'command = ["x", "--token={SECRET}" "y"]',
    "NUL": f'password = "{SECRET}\0"',
}
LETTERS = st.text("abcXYZ019", min_size=8, max_size=20)


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
def test_no_error_has_a_secret_option(bench: Bench, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "good.toml").write_text("benchforge = 1\n")
    refused = bench(*words)
    assert refused.code in {2, 4}, refused.all
    assert SECRET not in refused.all


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_no_syntax_error_repeats_a_secret(bench: Bench, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.toml").write_text(f"benchforge = 1\n{text}\n")
    refused = bench("check", "a.toml", code=2)
    assert "error: a.toml:" in refused.err
    assert SECRET not in refused.all


def test_what_is_no_secret_stays_readable(bench: Bench) -> None:
    refused = bench("duel", f"API_TOKEN={SECRET} serve --max-tokens 4096", CLOSED)
    assert "'API_TOKEN=*** serve --max-tokens 4096': no {port} in it" in refused.err


@given(LETTERS, st.lists(st.text(max_size=9), max_size=3), st.sampled_from(["=", " "]))
def test_a_command_in_a_word_hides_as_a_word(secret: str, others: list[str], sign: str) -> None:
    command = shlex.join(others) + f" --token{sign}{secret} x"
    assert secret not in hiding({}, secrets_of_words([command]))(command)


@given(LETTERS, st.text(max_size=30), st.sampled_from(["password = '", 'x.token="', "[token]\n"]))
def test_masks_keep_every_place(secret: str, behind: str, key: str) -> None:
    text = f"{key}{secret}"
    hidden = masked(f"{text}\n{behind}")
    assert secret not in hidden[: len(text)]
    assert len(hidden) == len(f"{text}\n{behind}")
    assert hidden.startswith(key)


@pytest.mark.parametrize("piece", ["token", "[token", "token=", "a:b@", "password = '\n"])
def test_masks_take_linear_time(piece: str) -> None:
    """Quadratic ones would take hours."""
    text = piece * (1_000_000 // len(piece))
    assert len(masked(text)) == len(text)
