"""`*` in place of a label: all parts of a kind that have the option."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from suite_texts.files import suite_text

from benchforge.parts.registry import Registry
from benchforge.suite.load import load

SUITE = suite_text("suite/overrides")


def workers(
    folder: Path, text: str = SUITE, profile: str | None = None, sets: Sequence[str] = ()
) -> dict[str, object]:
    (folder / "a.toml").write_text(text)
    pairs = [(path, value) for path, _, value in (item.partition("=") for item in sets)]
    suite = load(folder / "a.toml", Registry(), profile=profile, settings=pairs)
    return {label: server.options.get("workers") for label, server in suite.servers.items()}


@pytest.mark.parametrize(
    ("profile", "sets", "expected"),
    [
        (None, (), (4, None, None)),
        ("small", (), (1, 2, None)),
        (None, ["servers.*.workers=3"], (3, 3, None)),
        ("small", ["servers.*.workers=3"], (3, 3, None)),
        ("small", ["servers.*.workers=3", "servers.flask.workers=5"], (5, 3, None)),
        (None, ["servers.flask.workers=5", "servers.*.workers=3"], (3, 3, None)),
        (None, ['servers."*".workers=3'], (3, 3, None)),
    ],
)
def test_what_is_said_later_holds_and_a_label_comes_before_the_star(
    tmp_path: Path, profile: str | None, sets: Sequence[str], expected: tuple[object, ...]
) -> None:
    assert tuple(workers(tmp_path, profile=profile, sets=sets).values()) == expected


def test_in_the_suite_itself_a_star_is_a_default(tmp_path: Path) -> None:
    actual = workers(tmp_path, SUITE + '[servers."*"]\nworkers = 7\n')
    assert actual == {"flask": 4, "other": 7, "waitress": None}


def test_tables_merge(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SUITE.replace("workers = 4", 'environment = { A = "a" }'))
    suite = load(tmp_path / "a.toml", Registry(), profile="told")
    actual = {label: server.options["environment"] for label, server in suite.servers.items()}
    debug = {"DEBUG": "1"}
    assert actual == {"flask": {"A": "a"} | debug, "other": debug, "waitress": debug}
