"""The program on a host: how it ends."""

import os
import subprocess
import sys

import pytest
from front_door import WAITS_S

FAR = [sys.executable, "-m", "benchforge.remote.agent"]


@pytest.mark.parametrize("sent", [b"\n", b"no call\n"])
def test_it_ends_where_nobody_hears_it_or_what_it_gets_is_no_call(sent: bytes) -> None:
    """It answered beats that had waited for it, to a connection that was gone, and stayed."""
    reads, writes = os.pipe()
    far = subprocess.Popen(FAR, stdin=subprocess.PIPE, stdout=writes, stderr=subprocess.DEVNULL)
    os.close(writes)
    os.close(reads)
    with far:
        assert far.stdin is not None
        far.stdin.write(sent)
        far.stdin.flush()  # and it stays open: it is no end that ends the process
        try:
            assert far.wait(WAITS_S) == 3
        finally:
            far.kill()
