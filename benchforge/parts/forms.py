"""Patterns of texts in words, for errors and for the reference."""

from collections.abc import Mapping

from benchforge.model.values.cpus import JSON_PATTERN as CPUS

PATH_OF_A_REQUEST = "a path that begins with '/', in ASCII and without spaces"

WORDS: Mapping[str, str] = {
    r"^/[!-~]*$": PATH_OF_A_REQUEST,
    r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$": "the name of a header, such as Accept",
    r"^[\t -~]*$": "one line of ASCII",
    r"^\w[\w.-]*$": "letters, digits, '_', '-' and '.'",
    r"^[A-Za-z0-9_.-]+$": "letters of ASCII, digits, '_', '-' and '.'",
    r"^([A-Za-z0-9]|-r )[^\r\n]*$": "a requirement such as 'flask>=3' or '-r requirements.txt'; of "
    "a project with pyproject.toml or uv.lock, instead name the Python that `uv sync` makes in its "
    'folder: python = "../app/.venv/bin/python"',
    r"^[^-\s][^\x00-\x1f]*$": "the name of a branch, tag or commit",
    CPUS: "text such as '0-3,8'",
}
