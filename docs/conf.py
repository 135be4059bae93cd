"""How Sphinx builds these pages: plain CommonMark, nothing from the network."""

from pathlib import Path

from sphinx.application import Sphinx

project = "benchforge"
copyright = "benchforge contributors"  # noqa: A001 - the name that Sphinx gives it
extensions = ["myst_parser"]
exclude_patterns = ["_build", "generate", "**/.*"]
html_theme = "furo"
html_title = "benchforge"
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 3
nitpicky = True

HERE = Path(__file__).parent
_TREE = "\n\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n{pages}\n```\n"
# The order of all pages; it stands here, so that the pages themselves are plain CommonMark.
_CONTENTS = {
    "Tutorials": ["tutorials/*", "examples/*/README"],
    "How to": ["how-to/*", "claims", "compare"],
    "Reference": ["toml", "reference/*", "glossary", "stability"],
    "Explanation": [
        "explanation/*",
        "pace",
        "capacity",
        "robustness",
        "validity",
        "architecture",
        "coverage",
        "studies",
        "false-verdicts",
    ],
    "Project": ["contributing", "contributing/*", "decisions/*"],
}


def with_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the tree of all pages behind the text of the first one."""
    if name == "index":
        for caption, patterns in _CONTENTS.items():
            pages = [one for one in patterns if any(HERE.glob(f"{one}.md"))]
            source[0] += _TREE.format(caption=caption, pages="\n".join(pages))


def setup(app: Sphinx) -> None:
    """Have Sphinx ask for the tree when it reads a page."""
    app.connect("source-read", with_contents)
