"""Other users, as whom programs of tests run."""

import subprocess

import pytest

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
# On a machine that refuses all namespaces but the one of that user.
WITHOUT_NAMESPACES = (
    *("unshare", "--user", "--map-root-user", "sh", "-c"),
    'for name in net pid ipc mnt; do echo 0 > /proc/sys/user/max_${name}_namespaces; done; \
echo 1 > /proc/sys/user/max_user_namespaces; \
exec unshare --user --map-user=1000 --map-group=1000 "$@"',
    "-",
)
SYSTEM_PYTHON = "/usr/bin/python3"  # one that every user may read

as_root = pytest.mark.skipif(
    subprocess.run([*NOBODY, "true"], check=False, capture_output=True).returncode != 0,
    reason="only root can become another user",
)
