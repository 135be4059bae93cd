"""What a command says while another one measures."""

from benchforge.cli.screen.say import say


def waits(holder: str) -> None:
    """Say which process measures, and that this one waits for its end."""
    say(f"{holder} is measuring: waiting until it ends (Ctrl-C stops waiting)")
