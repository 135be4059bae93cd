"""Packages of a commit: pins of requirements and of lock files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.cli.measure.gate.commits.packages import (
    NotPinnedError,
    nearest,
    of_poetry,
    of_requirements,
)


def test_pins_are_read_from_requirements_and_what_is_none_is_named() -> None:
    files = {
        "requirements.txt": "# all\n-r more/x.txt\nwaitress==3.0.2 \\\n    --hash=sha256:00\n",
        "more/x.txt": "flask[async]==3.0 ; python_version > '3.8'  # why\n",
        "loop.txt": "-r loop.txt\n",
        "out.txt": "-r ../../etc/passwd\n",
        "free.txt": "flask>=3\n",
        "index.txt": "--index-url http://evil.example\n",
        "url.txt": "flask @ http://evil.example/x.whl\n",
    }
    pins = of_requirements("requirements.txt", files.__getitem__)
    assert pins == ("flask[async]==3.0 ; python_version > '3.8'", "waitress==3.0.2")
    for name in ("loop.txt", "out.txt", "free.txt", "index.txt", "url.txt"):
        with pytest.raises(NotPinnedError, match=name):
            of_requirements(name, files.__getitem__)


def test_pins_are_read_from_a_poetry_lock() -> None:
    text = Path(__file__).with_name("poetry.lock").read_text()
    assert of_poetry(text) == ("flask==3.0.0 ; python_version > '3.8'",)
    for wrong in ("[", "package = 1", '[[package]]\nname = "a"', text.replace("3.0.0", "3 \\n -e")):
        with pytest.raises(NotPinnedError):
            of_poetry(wrong)


@given(st.text())
def test_any_text_of_a_lock_ends_in_pins_or_an_error(text: str) -> None:
    for read in (of_poetry, lambda item: of_requirements("r.txt", {"r.txt": item}.__getitem__)):
        try:
            pins = read(text)
        except (NotPinnedError, KeyError):
            continue
        assert all("==" in pin and "\n" not in pin for pin in pins)


def test_the_nearest_lock_is_taken_up_to_the_top(tmp_path: Path) -> None:
    inner = tmp_path / "top/app/src"
    inner.mkdir(parents=True)
    (tmp_path / "uv.lock").touch()
    assert nearest(inner, tmp_path / "top") is None
    (tmp_path / "top/requirements.txt").touch()
    assert nearest(inner, tmp_path / "top") == tmp_path / "top/requirements.txt"
    (tmp_path / "top/app/poetry.lock").touch()
    assert nearest(inner, tmp_path / "top") == tmp_path / "top/app/poetry.lock"
