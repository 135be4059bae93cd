"""`benchforge plugins check`: the questions of a run to a part, without a process."""

import textwrap
from pathlib import Path

import click

from benchforge.cli.console.options import PATH
from benchforge.cli.console.say import say, show
from benchforge.cli.plugins.examination.examine import Examined, examine
from benchforge.cli.plugins.examination.hostile import Read
from benchforge.cli.plugins.examination.inputs import Recording
from benchforge.cli.plugins.wanted import OPTION_VALUES, chosen, wanted
from benchforge.errors import Unusable
from benchforge.parts.part import Driver
from benchforge.parts.reader import Reader
from benchforge.parts.registry import Registry
from benchforge.parts.sound import unsound
from benchforge.text.readable import counted

DEFECTS, NO_READING = 1, 4
_SHOWN = 20


@click.command("check")
@click.argument("name")
@OPTION_VALUES
@click.option(
    "--output",
    "outputs",
    metavar="PATH",
    multiple=True,
    type=PATH,
    help="Recorded output of the tool: a file, or a folder with stdout.txt and other files.",
)
def command(name: str, settings: tuple[tuple[str, str], ...], outputs: tuple[Path, ...]) -> int:
    """Check the part NAME without starting a process.

    This prints the commands for standard requests, and lists the options and the parts of a request
    that never reach these commands. It parses each --output as it is and in hundreds of damaged
    forms.

    Exit codes: 0 no defects; 1 defects; 2 there is no such part, or its plugin or an option is
    wrong; 4 an output has no reading.
    """
    registry = Registry()
    kind, part_name = wanted(registry, name)[0]
    cls = registry.part(kind, part_name)
    if fault := unsound(cls):  # the registry does not look at the parts of benchforge itself
        raise Unusable(f"{kind}-{part_name}: {fault}", "repair it")
    if outputs and not issubclass(cls, Driver | Reader):
        hint = "use it with load tools or readers"
        raise Unusable(f"--output: benchforge reads no output of a {kind}", hint)
    recordings = [Recording.of(path) for path in outputs]
    examined = examine(cls, chosen(settings), recordings)
    show(f"{registry.origins(kind, part_name)[0]}\n\n{_text(examined)}".rstrip())
    for finding in examined.findings[:_SHOWN]:
        say(str(finding))
    if (more := len(examined.findings) - _SHOWN) > 0:
        say(f"and {more} more")
    wrong = counted(len(examined.defects), "defect")
    warnings = counted(len(examined.findings) - len(examined.defects), "warning")
    say(f"{kind}-{part_name}: {wrong}, {warnings}")
    if examined.defects:
        return DEFECTS
    return 0 if all(read.lines for read in examined.readings) else NO_READING


def _text(examined: Examined) -> str:
    answers = {title: "\n".join(lines) for title, lines in examined.answers.items() if lines}
    blocks = [f"{title}\n{textwrap.indent(lines, '  ')}" for title, lines in answers.items()]
    return "\n".join([*blocks, *(f"\n{_read(read)}" for read in examined.readings)])


def _read(read: Read) -> str:
    tried = f"\n  damaged in {read.damages} ways: {read.refusals} refused"
    if not read.lines:
        return f"{read.name}: no reading: {read.refused}{tried * bool(read.damages)}"
    return "\n".join([read.name, *(f"  {line}" for line in read.lines)]) + tried
