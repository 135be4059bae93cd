"""The links to other sites: each with the pages that have it."""

import re
from pathlib import Path

from docs.generate.text import page_of, table

DOCS = Path(__file__).parents[1]
_LINK = re.compile(r"\]\((https?://[^)\s]+)\)")


def page() -> str:
    """Return the page."""
    named: dict[str, list[str]] = {}
    for file in sorted(DOCS.rglob("*.md")):
        if not {"_build", "examples"} & {*file.parts}:
            for link in dict.fromkeys(_LINK.findall(file.read_text())):
                name = file.relative_to(DOCS)
                named.setdefault(link, []).append(f"[{name}](../{name})")
    return page_of(
        "Links to other sites",
        "No page loads anything from another site. These links leave the pages.",
        table(("link", "pages"), [(f"<{url}>", ", ".join(names)) for url, names in named.items()]),
    )
