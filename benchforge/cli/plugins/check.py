"""`benchforge plugins check`: a part asked as a run would ask it; nothing is started."""

import textwrap
from pathlib import Path

import click

from benchforge.author.examine import Examined, Read, examine, reading_rows
from benchforge.author.recorded import Recording
from benchforge.author.wanted import chosen, wanted
from benchforge.cli.options import pairs
from benchforge.cli.say import counted, say, show
from benchforge.errors import Unusable
from benchforge.parts.part import Driver
from benchforge.registry import Registry

DEFECTS, NO_READING = 1, 4
_SHOWN = 20


@click.command("check")
@click.argument("name")
@click.option("--set", "settings", metavar="OPTION=VALUE", multiple=True, help="As in a suite.")
@click.option(
    "--output",
    "outputs",
    metavar="PATH",
    multiple=True,
    type=click.Path(path_type=Path),
    help="What the tool once printed: a file, or a folder with stdout.txt and whatever it wrote.",
)
def command(name: str, settings: tuple[str, ...], outputs: tuple[Path, ...]) -> int:
    """Ask the part NAME everything that a run would ask, and start nothing.

    It prints the commands of standard requests, tells which options and which parts of a request
    never reach them, and reads each --output as it is and in hundreds of damaged forms.

    Exit codes: 0 no defect, warnings aside; 1 defects; 2 there is no such part, or its plugin or an
    option is wrong; 4 an output has no reading.
    """
    registry = Registry()
    kind, one = wanted(registry, name)
    cls = registry.part(kind, one)
    if outputs and not issubclass(cls, Driver):
        raise Unusable(f"--output: a {kind} prints nothing that is read", "it is for load tools")
    recordings = [Recording.of(path) for path in outputs]
    found = examine(cls, chosen(pairs(settings)), recordings)
    show(f"{registry.origins(kind, one)[0]}\n\n{_told(found)}".rstrip())
    for finding in found.findings[:_SHOWN]:
        say(str(finding))
    if (more := len(found.findings) - _SHOWN) > 0:
        say(f"and {more} more")
    wrong = counted(len(found.defects), "defect")
    say(f"{kind}-{one}: {wrong}, {counted(len(found.findings) - len(found.defects), 'warning')}")
    if found.defects:
        return DEFECTS
    return NO_READING if any(read.reading is None for read in found.readings) else 0


def _told(found: Examined) -> str:
    blocks = [
        title + "\n" + textwrap.indent("\n".join(lines), "  ")
        for title, lines in found.answers.items()
        if lines
    ]
    return "\n".join([*blocks, *("\n" + _read(read) for read in found.readings)])


def _read(read: Read) -> str:
    tried = f"damaged in {read.damages} ways: {read.refusals} refused"
    if read.reading is None:
        return f"{read.name}: no reading: {read.refused}\n  {tried}"
    rows = [f"  {name:<12} {text}" for name, text in reading_rows(read.reading)]
    return "\n".join([read.name, *rows, f"  {tried}"])
