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

# Answers: the sentence that answers a comparison, and what may be quoted.
__all__ = ["Headline", "Quoted", "difference", "headline", "in_rounds", "quote", "short"]
# Ratios: their axis, and their texts with intervals.
__all__ += ["LIMIT", "RatioAxis", "interval_text", "numbers", "pair_ratio"]
# Charts: rows on an axis.
__all__ += ["Chart", "ChartAxis", "ChartRow", "colours_of", "course_drawing", "titled"]
# Drawings: pieces of a chart, and their sizes.
__all__ += ["COLOURS", "COURSE_HEIGHT", "grid", "interval_bar", "mark", "ratio_ticks", "tick_texts"]
# Vector graphics: drawings as text and as files.
__all__ += ["chart_file", "drawing_file", "poster", "stretched", "svg"]
# Pages and files: HTML, and XML for JUnit.
__all__ += ["Element", "JunitSuite", "JunitTest", "junit_xml", "rendered"]
