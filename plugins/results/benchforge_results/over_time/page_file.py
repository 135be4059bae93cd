"""A page of a command, as a file that opens without a network."""

from pathlib import Path

from benchforge_reporters.html.frame import rendered

from benchforge.cli.screen.say import say
from benchforge_results.named_file import write_file


def write_page(file: Path, template: str, page: object) -> None:
    """Write the page that a template makes. Raises CannotKeep where the file cannot be written."""
    write_file(file, rendered(template, page=page), "choose another file with --html")
    say(f"written to {file}")
