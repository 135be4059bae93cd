"""A clock of the test's, which one program reads and another sets back."""

import subprocess
from pathlib import Path

import pytest
from front_door import PROGRAMS, lack, needed


@pytest.fixture
def clock(tmp_path: Path) -> dict[str, str]:
    """What makes a program read a clock of the test's, and the file that sets it back."""
    needed("wrk")
    library, source = tmp_path / "clock.so", PROGRAMS / "harness/clock.c"
    try:
        words = ["cc", "-shared", "-fPIC", "-o", str(library), str(source)]
        subprocess.run(words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        lack(f"no C compiler: {error}")
    return {"LD_PRELOAD": str(library), "SET_BACK": str(tmp_path / "set-back")}
