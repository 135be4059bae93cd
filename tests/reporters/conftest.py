"""A browser for the tests of a module."""

from collections.abc import Iterator

import pytest
from browser import Headless


@pytest.fixture(scope="module")
def headless() -> Iterator[Headless]:
    with Headless() as browser:
        yield browser
