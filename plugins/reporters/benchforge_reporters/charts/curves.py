"""The curves of a scenario: servers at rising concurrency, and loads over their time."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from markupsafe import Markup

from benchforge.plugin.drawing import COURSE_HEIGHT, course_drawing
from benchforge_reporters.charts.over_time import CAPTION, HEIGHT, over_time
from benchforge_reporters.document.document import Section
from benchforge_reporters.text.standings import scaled, title


class Curve(NamedTuple):
    """A drawing with its height, its title, and a sentence about it."""

    name: str
    "Kind and number of the curve, which name its file."
    drawing: Markup
    height: int
    title: str
    sentence: str


def curves(section: Section, colours: Mapping[str, int]) -> Iterator[Curve]:
    """Yield the curves of a scenario, by the colours of its servers."""
    swept_servers = zip(section.curves, section.sweeps, strict=True)
    for number, (swept, sentence) in enumerate(swept_servers, start=1):
        measured = [level for level in swept.levels if level.value.value is not None]
        labels = [(f"{one.concurrency} at once", str(one.concurrency)) for one in measured]
        values = {place: level.value for place, level in enumerate(measured)}
        drawing = course_drawing(values, labels, scaled(swept), colours.get(swept.server, 0))
        if drawing is not None:
            by_concurrency = f"{title(swept)}: {swept.metric} by concurrency"
            yield Curve(f"sweep-{number}", drawing, COURSE_HEIGHT, by_concurrency, sentence)
    for number, load in enumerate(section.over_time, start=1):
        drawing = over_time(section.over_time, load, colours.get(load.server, 0))
        yield Curve(f"time-{number}", drawing, HEIGHT, f"{load.label} over time", CAPTION)
