"""A little git repository with a server in it, for tests."""

import subprocess
import sys
from pathlib import Path

SERVE = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import answer


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        body = answer.body()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
"""
FAST = 'def body():\n    return b"fast"\n'
SLOW = 'import time\n\n\ndef body():\n    time.sleep(0.05)\n    return b"slow"\n'
COMMAND = f"""
use = "command"
command = ['{sys.executable}', "serve.py", "{{port}}"]
directory = "app"
"""
LOAD = """
[loaders.pace]
use = "pace"
connections = 2
duration = "500ms"
[scenarios.s]
servers = ["before", "after"]
loaders = ["pace"]
[repeat]
quiet = "off"
"""


def git(folder: Path, *words: str | Path) -> str:
    """Return what git prints."""
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
    )
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
    before = f'[servers.before]{COMMAND}ref = "{ref}"\n'
    return f"benchforge = 1\n{before}[servers.after]{COMMAND}{LOAD}blocks = {blocks}\n{more}"
