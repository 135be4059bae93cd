"""A little git repository with a server in it, for tests."""

import sys
from pathlib import Path

from front_door import PROGRAMS, captured
from suite_texts.files import suite_text

_REPLY = "    body, kind, pause_s = answer.body(), 'text/plain', 0\n"
SERVE = (PROGRAMS / "servers/changes.py").read_text().replace("    # change\n", _REPLY)
SERVE = SERVE.replace("import contextlib\n", "import answer\nimport contextlib\n")  # at its start
# Each waits, so that a load of it leaves the CPUs to other tests.
FAST = 'import time\n\n\ndef body():\n    time.sleep(0.002)\n    return b"fast"\n'
SLOW = 'import time\n\n\ndef body():\n    time.sleep(0.05)\n    return b"slow"\n'
COMMAND = f"""
use = "command"
command = ['{sys.executable}', "serve.py", "{{port}}"]
directory = "app"
"""
LOAD = suite_text("support/repository")


def git(folder: Path, *words: str | Path) -> str:
    """Return what git prints."""
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    done = captured(["git", "-C", str(folder), *who, *map(str, words)], check=True)
    return done.stdout.strip()


def commit(folder: Path, answer: str, says: str) -> str:
    """Commit an answer of the server, and return the commit's id."""
    (folder / "app" / "answer.py").write_text(answer)
    git(folder, "add", "--all", "app")
    git(folder, "commit", "--quiet", "--message", says)
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path) -> tuple[str, str]:
    """Make one whose first commit, `v1`, answers fast, and whose second one slowly."""
    (folder / "app").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "app" / "serve.py").write_text(SERVE)
    first = commit(folder, FAST, "fast")
    git(folder, "tag", "--annotate", "v1", "--message", "one")
    return first, commit(folder, SLOW, "slow")


def suite(ref: str = "v1", more: str = "", blocks: int = 1) -> str:
    """Return the text of a suite with `before` at a ref, and `after` as it lies."""
    earlier = f'[servers.before]{COMMAND}ref = "{ref}"\n'
    return f"benchforge = 1\n{earlier}[servers.after]{COMMAND}{LOAD}blocks = {blocks}\n{more}"
