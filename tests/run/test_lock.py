"""One benchforge measures at a time, and whoever comes meanwhile is told at once."""

import os
from pathlib import Path

import pytest

from benchforge.errors import Unusable
from benchforge.run.sandbox import machine_lock


@pytest.fixture(autouse=True)
def another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock of our own: the machine's may be held by somebody who measures."""
    monkeypatch.setattr(machine_lock, "NAME", f"\0benchforge test {tmp_path}")


def test_the_holder_is_named_however_many_have_asked() -> None:
    told: list[str] = []
    with machine_lock.measuring():
        for _ in range(200):
            with pytest.raises(Unusable) as caught, machine_lock.measuring():
                pytest.fail("it is held twice")
            told.append(caught.value.message)
    assert f"process {os.getpid()} (" in told[0]
    assert set(told[1:]) <= {told[0], lock_is_full()}
    with machine_lock.measuring():
        pass


def lock_is_full() -> str:
    return "another benchforge is measuring: its process is unknown, because of too many requests"
