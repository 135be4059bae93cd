"""A real browser without a window: Debian's chromium-headless-shell, from `make setup-dev`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from front_door import lack
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
_PROGRAM = "usr/lib/chromium/chromium-headless-shell"
_PLACES = (Path("/"), ROOT / ".tools/system")
_OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@dataclass
class Visit:
    """A page in a browser, and what it did: messages on the console, requests beyond itself."""

    page: Page
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def sideways(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self.page.evaluate(width))


class Headless:
    """A running browser."""

    def __init__(self) -> None:
        actual = [path for path in _PLACES if (path / _PROGRAM).is_file()]
        if not actual:
            lack("missing: chromium-headless-shell")
        folders = {str(file.parent) for file in actual[0].glob("usr/lib/**/*.so*")}
        libraries = "" if actual[0] == Path("/") else ":".join(sorted(folders))
        self._driver = sync_playwright()
        self._browser: Browser = self._driver.start().chromium.launch(
            executable_path=actual[0] / _PROGRAM,
            args=[*_OPTIONS],
            env={**os.environ, "LD_LIBRARY_PATH": libraries},
            timeout=120_000,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._browser.close()
        self._driver.__exit__()

    @contextmanager
    def visit(
        self, file: Path, width: int = 900, *, script: bool = True, dark: bool = False
    ) -> Iterator[Visit]:
        """Open a file in a window of that width."""
        context = self._browser.new_context(
            viewport={"width": width, "height": 900},
            java_script_enabled=script,
            color_scheme="dark" if dark else "light",
        )
        try:
            visit = Visit(context.new_page())
            visit.page.set_default_timeout(120_000)
            visit.page.on("console", lambda message: visit.messages.append(message.text))
            visit.page.on("pageerror", lambda error: visit.messages.append(str(error)))
            visit.page.on("request", lambda request: visit.requests.append(request.url))
            visit.page.goto(file.as_uri())
            yield visit
        finally:
            context.close()
