"""The program `benchforge`, also as `python -m benchforge`."""

import signal


def main() -> None:
    """Run the command line."""
    # Until it can answer Ctrl-C, that ends us as it ends any program: at once, and silently.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from benchforge.cli import main as command_line  # noqa: PLC0415 - after the line above

    command_line()


if __name__ == "__main__":
    main()
