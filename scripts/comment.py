"""Write the comment of a gate on its pull request, or renew the one of an earlier run.

action.yml runs it with TOKEN, NUMBER and SUITE beside the variables of each step. It needs the
standard library alone. A comment that cannot be written is a warning: the verdict stands.
"""
# ruff: noqa: S310 - the runner names the URL

import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = 100
MOST_PAGES = 30
WITHIN_S = 30.0


def called(method: str, path: str, body: str | None = None) -> Any:
    """Return the answer of GitHub's API."""
    request = urllib.request.Request(
        f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues/{path}",
        None if body is None else json.dumps({"body": body}).encode(),
        {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {os.environ['TOKEN']}",
        },
        method=method,
    )
    with urllib.request.urlopen(request, timeout=WITHIN_S) as answer:
        return json.load(answer)


def earlier(number: int, mark: str) -> Iterator[int]:
    """Yield the number of each comment that begins with a mark."""
    for page in range(1, MOST_PAGES + 1):
        rows = called("GET", f"{number}/comments?per_page={PAGE}&page={page}")
        yield from (row["id"] for row in rows if str(row["body"]).startswith(mark))
        if len(rows) < PAGE:
            return


def main() -> None:
    """Write the file that the command line names."""
    file = Path(sys.argv[1])
    if not file.is_file():
        sys.exit(0)  # the gate ended before it had an answer, and said why
    number, suite = int(os.environ["NUMBER"]), json.dumps(os.environ["SUITE"])
    mark = f"<!-- benchforge gate: {suite.replace('--', '- -')} -->"
    text = f"{mark}\n{file.read_text(encoding='utf-8')}"
    try:
        comment = next(earlier(number, mark), None)
        if comment is None:
            called("POST", f"{number}/comments", text)
        else:
            called("PATCH", f"comments/{comment}", text)
    except (OSError, ValueError) as error:
        print(f"::warning::the verdicts are in the job's summary, not in a comment: {error}")


if __name__ == "__main__":
    main()
