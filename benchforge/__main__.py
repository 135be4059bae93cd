"""The program `benchforge`, also as `python -m benchforge`."""

import gc
import os
import signal

_GARBAGE_AFTER = 200_000, 20, 50
"""Objects until the collector looks for cycles, and looks until it looks further. A result has
millions of objects, few in cycles: with Python's own numbers it looks hundreds of times as often.
Imports alone make a hundred thousand objects that stay: `check` ends before the first look."""


def main() -> None:
    """Run the command line."""
    # Until it can answer Ctrl-C, that ends us as it ends any program: at once, and silently. Who
    # started us in a shell's background has us ignore it, and that stays.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(*_GARBAGE_AFTER)
    # A plugin of pydantic would change what every model does. To look for one takes 5 % of `check`.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from benchforge.cli.app import main as command_line  # noqa: PLC0415 - after the line above

    try:
        command_line()
    finally:
        gc.freeze()  # Python would look for cycles once more before it ends: 5 % of `check`


if __name__ == "__main__":
    main()
