"""Functions that draw pages, charts and JUnit files."""

from benchforge.report.answer.headline import Headline, difference, headline, in_rounds, short
from benchforge.report.answer.quote import Quoted, quote
from benchforge.report.answer.ratio import LIMIT, RatioAxis, interval_text, numbers, pair_ratio
from benchforge.report.charts.chart_file import chart_file, drawing_file, poster
from benchforge.report.charts.course import COURSE_HEIGHT, course_drawing
from benchforge.report.charts.drawing import (
    COLOURS,
    Chart,
    ChartAxis,
    ChartRow,
    colours_of,
    grid,
    interval_bar,
    mark,
    ratio_ticks,
    stretched,
    svg,
    tick_texts,
    titled,
)
from benchforge.report.junit_xml import Element, JunitSuite, JunitTest, junit_xml
from benchforge.report.page.frame import rendered

# Drawing: answers, charts, pages and JUnit files.
__all__ = [
    "COLOURS",
    "COURSE_HEIGHT",
    "LIMIT",
    "Chart",
    "ChartAxis",
    "ChartRow",
    "Element",
    "Headline",
    "JunitSuite",
    "JunitTest",
    "Quoted",
    "RatioAxis",
    "chart_file",
    "colours_of",
    "course_drawing",
    "difference",
    "drawing_file",
    "grid",
    "headline",
    "in_rounds",
    "interval_bar",
    "interval_text",
    "junit_xml",
    "mark",
    "numbers",
    "pair_ratio",
    "poster",
    "quote",
    "ratio_ticks",
    "rendered",
    "short",
    "stretched",
    "svg",
    "tick_texts",
    "titled",
]
