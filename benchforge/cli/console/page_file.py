"""A page of a command, as a file that opens without a network."""

from pathlib import Path

from benchforge.cli.console.named_file import write_file
from benchforge.cli.console.say import say
from benchforge.report.page.document import PageDocument
from benchforge.report.page.frame import rendered


def write_page(file: Path, page: PageDocument) -> None:
    """Write a document as a page. Raises CannotKeep where the file cannot be written."""
    write_file(file, rendered("document.html.j2", page=page), "choose another file with --html")
    say(f"written to {file}")
