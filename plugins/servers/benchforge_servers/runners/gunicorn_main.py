"""Start gunicorn by its own words, without the control socket that newer ones open.

All instances of a user would share it, and the first to stop would delete it. Older ones refuse
the word that forbids it, so the gunicorn that is there is asked.
"""

import sys

from gunicorn.app.wsgiapp import run
from gunicorn.config import KNOWN_SETTINGS


def forbid_control_socket() -> None:
    """Add the word to the command line, where gunicorn knows it."""
    if any(setting.name == "control_socket_disable" for setting in KNOWN_SETTINGS):
        sys.argv.insert(1, "--no-control-socket")


if __name__ == "__main__":
    del sys.path[0]  # the folder of the runners; gunicorn puts the app's in its place
    forbid_control_socket()
    run()
