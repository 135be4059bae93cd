"""A page of a command, as a file that opens without a network."""

from pathlib import Path

from benchforge_reporters.html.frame import rendered

from benchforge.cli.screen.say import say
from benchforge.errors import CannotKeep


def write_page(file: Path, template: str, page: object) -> None:
    """Write the page that a template makes. Raises CannotKeep where the file cannot be written."""
    text = rendered(template, page=page)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotKeep(f"{file}: {error.strerror}", "choose another file with --html") from error
    say(f"written to {file}")
