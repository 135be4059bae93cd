"""Pages from templates: one file that loads nothing, with a script of its own."""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from benchforge.report.charts.drawing import COLOURS, SHAPES, SYMBOLS
from benchforge.text import safe

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent
_STYLES = (
    "../charts/theme.css",
    "styles/page.css",
    "styles/charts.css",
    "../charts/marks.css",
    "styles/overview.css",
    "styles/print.css",
)
_ROLES = {"server": "server", "upstream": "upstream", "backend": "backend", "loader": "load tool"}


def rendered(template: str, **values: Any) -> str:
    """Return the page that a template makes of values, each escaped where it is shown.

    The policy of the page names the digests of its style and of its script: even a hole in the
    escaping could not load or run anything.
    """
    style, script = "".join(map(_text, _STYLES)), _text("script.js")
    page = _environment().get_template(template)
    return page.render(
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        style_hash=_digest(style),
        script_hash=_digest(script),
        symbols=SYMBOLS,
        roles=_ROLES.items(),
        shapes=SHAPES,
        colours=COLOURS,
        br=Markup("<br>"),
        **values,
    )


@cache
def _environment() -> "Environment":
    # Whoever lists the parts imports this module, and renders nothing.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    return Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: Any) -> Any:
    """Return text escaped and without control characters; HTML stays as it is."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return Markup(safe.html_lines(value))  # noqa: S704 - escaped
    return "" if value is None else value


@cache
def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
