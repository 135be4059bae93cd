"""Write the reference: `python -m docs.generate`, or into another folder that is named."""

import sys
from pathlib import Path

from docs.generate import apps, commands, door, exits, links, parts, results, suite, ways

HERE = Path(__file__).parents[1] / "reference"
NOTE = "<!-- Drawn from the code by `make docs`: change the sentences there. -->\n\n"


def pages() -> dict[str, str]:
    """Return the text of each page, by its name."""
    return {
        "suite": suite.page(),
        **parts.pages(),
        "apps-and-datasets": apps.page(),
        "result": results.page(),
        "command-line": commands.page(),
        "exit-codes": exits.page(),
        "plugin": door.page(),
        "links": links.page(),
    }


def main() -> None:
    """Write all pages, and remove those that nothing draws any more.

    Without a folder it also draws the section of docs/validity.md that is made of the code.
    """
    folder = Path(sys.argv[1]) if sys.argv[1:] else HERE
    folder.mkdir(parents=True, exist_ok=True)
    drawn = pages()
    for page in folder.glob("*.md"):
        if page.stem not in drawn:
            page.unlink()
    for name, text in drawn.items():
        (folder / f"{name}.md").write_text(NOTE + text.rstrip() + "\n")
    if folder == HERE:
        ways.PAGE.write_text(ways.drawn(ways.PAGE.read_text()))


if __name__ == "__main__":
    main()
