"""The program `benchforge`, also as `python -m benchforge`."""

import signal


def main() -> None:
    """Run the command line."""
    # Until it can answer Ctrl-C, that ends us as it ends any program: at once, and silently. Who
    # started us in a shell's background has us ignore it, and that stays.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from benchforge.cli import main as command_line  # noqa: PLC0415 - after the line above

    command_line()


if __name__ == "__main__":
    main()
