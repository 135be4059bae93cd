"""A file that an option names."""
# ruff: noqa: PLC0415 - most commands read no suite, or write no page

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchforge.cli.console.say import keep_secret, say
from benchforge.errors import can_write

if TYPE_CHECKING:
    from benchforge.parts.registry import Registry
    from benchforge.report.page.document import PageDocument
    from benchforge.suite.suite import Suite


def without_suites(paths: Sequence[Path]) -> Sequence[Path]:
    """Return the paths without suites, and name these; return all where no result is named."""
    results = [path for path in paths if path.suffix != ".toml"]
    for suite in (path for path in paths if results and path not in results):
        say(f"{suite}: skipped, since it is a suite and not a result")
    return results or paths


def write_file(file: Path, content: str, hint: str = "choose another file") -> None:
    """Write a file whole or not at all, or into a pipe or a device. Raises CannotKeep."""
    from benchforge.run.disk.result_writer import whole

    with can_write(file, hint):
        if file.exists() and not file.is_file():
            file.write_text(content, encoding="utf-8")
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            whole(file.parent, file.name, content)


def write_page(file: Path, page: "PageDocument") -> None:
    """Write a document as a page. Raises CannotKeep where the file cannot be written."""
    from benchforge.report.page.frame import rendered

    write_file(file, rendered("document.html.j2", page=page), "choose another file with --html")
    say(f"written to {file}")


def loaded(
    path: Path,
    registry: "Registry",
    profile: str | None = None,
    settings: Sequence[tuple[str, str]] = (),
    only: Sequence[str] = (),
    text: str | None = None,
) -> "Suite":
    """Read a suite as `load` does. Raises SuiteErrors, which holds everything that is wrong."""
    from benchforge.suite.load import load

    suite = load(path, registry, profile=profile, settings=settings, only=only, text=text)
    keep_secret(suite.secrets)
    return suite
