"""Results of real runs: one for all tests, and a copy of another one, to be changed."""

from pathlib import Path

import pytest
from measured import real_result, small_results


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_results.shared(tmp_path_factory)


@pytest.fixture
def changed(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    return real_result.copied(real_result.shared(tmp_path_factory), tmp_path)
