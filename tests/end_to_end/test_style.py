"""What people read keeps the style of docs/contributing.md, and the linter finds what does not."""

from collections.abc import Mapping

import pytest

from docs.style.linter import FIELD_STARTS, HELP_STARTS, OPTION_STARTS, Text, faults, texts

FORBIDDEN = [
    "The user is told which port it is.",
    "The scenario's request is then asked again.",
    "What was said is kept.",
    "Who asks for more gets it.",
    "The seed of the order.",
    "The load ends after so many\nrequests.",
    "Print what there is.",
    "It starts the same again.",
    "Use one that is installed.",
    "Use this in place of that.",
    "It stands beside the result.",
    "This is no error.",
]
ALLOWED = [
    "The report prints the port.",
    "There is no error.",
    "It is no longer there.",
    "Write `in place of`, which is code.",
    "```text\nThe user is told.\n```",
    "A paragraph of the orderly kind.",
]


def lines(text: str) -> list[str]:
    return list(faults([Text("page.md", text, {}, first_line=1)]))


@pytest.mark.parametrize("text", FORBIDDEN + ALLOWED)
def test_a_forbidden_phrase_is_found_and_no_other(text: str) -> None:
    assert len(lines(text)) == (text in FORBIDDEN)


def test_a_fault_has_its_line_its_phrase_and_what_to_write() -> None:
    assert lines("# Title\n\nGood.\n`so many` and so\nmany.\n") == [
        "page.md:4: 'so many': write: number of"
    ]


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("Of the load.", OPTION_STARTS),
        ("Whether it is kept.", OPTION_STARTS),
        ("That are open at once.", OPTION_STARTS),
        ("Say what is wrong.", HELP_STARTS),
        ("Of the suite.", FIELD_STARTS),
        ("None without a load.", FIELD_STARTS),
    ],
)
def test_an_option_begins_with_a_noun_or_a_verb(text: str, starts: Mapping[str, str]) -> None:
    assert len(list(faults([Text("server.port", text, starts)]))) == 1
    assert not list(faults([Text("server.port", "Number of ports.", starts)]))


def test_every_page_help_option_and_field_is_looked_at_and_keeps_the_style() -> None:
    items = list(texts())
    assert list(faults(items)) == []
    places = {text.place for text in items}
    assert {
        "README.md",
        "docs/how-to/serve.md",
        "benchforge run --help",
        "benchforge run --time-limit DURATION",
        "Repeat.seed",
        "loaders.pace.rate",
        "servers.nginx",
        "docs/reference/result.md",
        "benchforge/model/trial/trial.py Trial.block",
        "plugins/servers/benchforge_servers/python/app_server.py App.target",
    } <= places
