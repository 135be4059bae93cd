"""The first screen of README.md, from a result: the text of a terminal, a picture of the page.

`PYTHONPATH=tests/support python -m docs.generate.first_screen RESULT` rewrites the text below
`$ make run`, and docs/pictures/report.png. Take a result of a quiet machine.
"""

import re
import sys
from pathlib import Path

from benchforge_reporters.html.report import Html
from benchforge_reporters.terminal.first_screen import FirstScreen
from browser import Headless

from benchforge.parts.registry import Registry
from benchforge.results.conclude import summed
from benchforge.run.disk.scratch import scratch_folder

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs/pictures/report.png"
WIDTH, HEIGHT = 1000, 720
MOST_BYTES = 150_000
_TEXT = re.compile(r"(\$ make run\n```\n\n```text\n).*?(```\n)", re.DOTALL)


def main(result: Path) -> None:
    """Write the picture, and the text into README.md. Raises ValueError for too large a picture."""
    source = summed(result, Registry(), with_trials=True)
    readme = ROOT / "README.md"
    text = FirstScreen().text(source.summary, source.trials, 80).replace("RESULT", str(result))
    readme.write_text(_TEXT.sub(lambda match: match[1] + text + match[2], readme.read_text()))
    with scratch_folder() as place:
        (place / "trials").symlink_to((result / "trials").resolve())
        (page,) = Html().report(source.summary, source.trials, place)
        _picture(Path(page))
    if (size := PICTURE.stat().st_size) > MOST_BYTES:
        raise ValueError(f"{PICTURE}: {size} bytes, more than {MOST_BYTES}")


def _picture(page: Path) -> None:
    PICTURE.parent.mkdir(exist_ok=True)
    with Headless() as headless, headless.visit(page, WIDTH) as visit:
        visit.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        visit.page.screenshot(path=PICTURE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
