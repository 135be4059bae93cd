"""Other users, as whom programs of tests run."""

import subprocess

import pytest

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
SYSTEM_PYTHON = "/usr/bin/python3"  # one that every user may read

as_root = pytest.mark.skipif(
    subprocess.run([*NOBODY, "true"], check=False, capture_output=True).returncode != 0,
    reason="only root can become another user",
)
