"""What takes secrets out of texts, files and models: each form in which programs write them."""

import base64
import json
import shlex
from html import escape
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.trial import Failure
from benchforge.suite.secrets import pieces, redact, redacted, redacted_bytes, secrets_of_suite

SECRET = 'k3y of/ours+"é"\\&'  # noqa: S105 - of a test
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=30)


def forms_of(secret: str) -> list[str]:
    data = secret.encode()
    return [
        secret,
        quote(secret, safe=""),
        quote(secret),
        quote_plus(secret),
        quote(quote(secret, safe=""), safe=""),
        quote(secret, safe="").lower() if secret.islower() else quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(secret))[3:-3],
        repr(secret)[1:-1],
        escape(secret),
        shlex.quote(secret).strip("'") if "'" not in secret else secret,
        base64.b64encode(data).decode(),
        base64.urlsafe_b64encode(data).decode(),
    ]


@given(TEXTS)
def test_no_form_of_a_secret_is_left(secret: str) -> None:
    for form in forms_of(secret):
        assert form not in redact(f"before {form} behind", [secret]).replace("***", ""), form


@given(st.text(min_size=8, max_size=20), st.text(max_size=4), st.text(max_size=4))
def test_no_alignment_of_base64_is_left(secret: str, first: str, behind: str) -> None:
    data = (first + secret + behind).encode(errors="surrogatepass")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        hidden = redact(f'"{encode(data).decode()}"', [secret])
        assert "***" in hidden
        count = len(first.encode(errors="surrogatepass"))
        # What is left at either side holds no whole byte of it.
        assert len(hidden.strip('"').partition("***")[0]) * 6 // 8 <= count


def test_a_login_of_basic_is_hidden_by_its_password() -> None:
    for user in ("a", "ab", "abc"):
        word = base64.b64encode(f"{user}:correct-horse".encode()).decode()
        hidden = redact(f"Authorization: Basic {word}", ["correct-horse"])
        assert hidden.startswith("Authorization: Basic ")
        assert hidden.endswith("***")


def test_bytes_that_are_no_text_stay() -> None:
    data = b"\xff\xfe" + SECRET.encode() + b"\x80\x00" + SECRET.encode("latin-1")
    assert redacted_bytes(data, [SECRET]) == b"\xff\xfe***\x80\x00***"
    assert redacted_bytes(b"\xff\x00 nothing", [SECRET]) == b"\xff\x00 nothing"


def test_a_secret_of_digits_is_no_piece_of_a_number() -> None:
    text = "0.30000000000000004 12345678 912345678 12345678.5 pin=12345678,"
    hidden = redact(text, ["00000000", "12345678"])
    assert hidden == "0.30000000000000004 *** 912345678 ***.5 pin=***,"


def test_a_model_keeps_its_numbers_and_its_own_words() -> None:
    request = Request(path="/correct-horse", headers={"X": "a correct-horse b"})
    assert redacted(request, ["correct-horse"]) == Request(path="/***", headers={"X": "a *** b"})
    failure = Failure(stage="ask", message="a behaviour", hint="", log="", subject="behaviour")
    hidden = redacted(failure, ["behaviour"])
    assert (hidden.subject, hidden.message) == ("behaviour", "a ***")


@pytest.mark.parametrize(
    ("secret", "other"),
    [
        ("postgresql://me:p%40ssword@db/x", {"p%40ssword", "p@ssword"}),
        ("postgresql:///x?host=h&password=p%40ssword", {"p%40ssword", "p@ssword"}),
        ("Bearer abcdefghijk", {"abcdefghijk"}),
        ("Basic bWU6Y29ycmVjdC1ob3JzZQ==", {"bWU6Y29ycmVjdC1ob3JzZQ==", "me:correct-horse",
                                            "correct-horse"}),
        ("first line\nsecond line\n", {"first line", "second line"}),
    ],
)  # fmt: skip
def test_what_programs_write_of_a_secret_is_one_too(secret: str, other: set[str]) -> None:
    assert set(pieces(secret)) == {secret, *other}


def test_a_path_keeps_its_slash() -> None:
    assert list(pieces("/a/secret/path")) == ["a/secret/path"]


def test_labels_and_names_of_variables_are_no_secrets() -> None:
    tables: dict[str, JsonValue] = {
        "servers": {"token-app": {"use": "wsgi", "environment": {"TOKEN": {"env": "SHOP_TOKEN"}}}},
        "profiles": {"tokens": {"servers": {"x": {"password": "correct-horse"}}}},
        "scenarios": {"a": {"request": {"path": "/?api_key=abcdefgh&x=1"}}},
        "loaders": {"x": {"max_token_size": "big", "tokenizers": "false"}},
    }
    expected = {"big", "correct-horse", "abcdefgh"}
    assert {secret for _, secret in secrets_of_suite(tables)} == expected
