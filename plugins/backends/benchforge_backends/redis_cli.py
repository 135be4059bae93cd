"""redis-cli: what makes its commands, and how what it says is judged."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchforge.plugin import Command, Finished, Site, Task
from benchforge.plugin.databases import Dataset

Cli = Callable[..., Command]

# A server that still loads its data answers too, with an error; and the exit code is 0 then.
_PONG = 'test "$("$@" ping)" = PONG'
_UNTIL_PONG = f"for _ in $(seq 1000); do {_PONG} && exit; sleep 0.01; done; exit 1"
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"')


def at(site: Site, place: Path | None, password: str = "") -> Cli:
    """Return what makes a command for redis-cli: at a unix socket, or at the port of the site."""
    environment = {"REDISCLI_AUTH": password} if password else {}
    to = ("-h", site.address, "-p", site.ports["redis"]) if place is None else ("-s", place)
    return lambda *words, stdin=None: Command(
        site.programs["redis-cli"], *to, *words, stdin=stdin, environment=environment
    )


def at_existing(site: Site, url: str) -> Cli:
    """Return the same at a URL; other users may read our words, not our environment."""
    parts = urlsplit(url)
    to: list[object] = ["-s", unquote(parts.path)]
    if parts.scheme == "redis":
        to = ["-h", parts.hostname, "-p", parts.port or 6379]
    if parts.username:
        to += ["--user", unquote(parts.username)]
    environment = {"REDISCLI_AUTH": unquote(parts.password)} if parts.password else {}
    return lambda *words: Command(site.programs["redis-cli"], *to, *words, environment=environment)


def pong(cli: Cli) -> Command:
    """Return a command that exits with 0 when the server can be asked."""
    return _shell(_PONG, cli)


def until_pong(cli: Cli) -> Command:
    """Return a command that waits for that, at most about ten seconds."""
    return _shell(_UNTIL_PONG, cli)


def version(cli: Cli) -> Command:
    """Ask a server that runs for its version."""
    return _shell('"$@" INFO server | grep ^redis_version', cli)


def _shell(script: str, cli: Cli) -> Command:
    asking = cli()
    return Command("sh", "-c", script, "sh", *asking.argv, environment=asking.environment)


def load(cli: Cli, file: Path, database: str) -> Task:
    """Return a task that runs the commands of a file, and says the first that failed."""
    # With --csv each command is answered by one line, and only an error is told without quotes.
    return Task(cli("-n", database, "--csv", stdin=file), f"load {file.name}", _all_done(file))


def _all_done(file: Path) -> Callable[[Finished], str | None]:
    def judge(finished: Finished) -> str | None:
        if error := _complaint(finished):
            return error
        lines = file.read_text(errors="replace").splitlines()
        commands = [number for number, line in enumerate(lines, 1) if line.strip()]
        answers = finished.printed.splitlines()
        for number, answer in zip(commands, answers, strict=False):
            if "ERROR," in _QUOTED.sub("", answer) or answer == "Invalid argument(s)":
                error = answer.removeprefix("ERROR,").strip('"').strip()
                return f"{file}:{number}: {error}"
        if len(answers) != len(commands):
            return f"{file}: {len(commands)} commands, but {len(answers)} answers"
        return None

    return judge


def count(cli: Cli, dataset: Dataset) -> list[Task]:
    """Return what compares the keys of each database with what the dataset declares."""
    return [
        Task(cli("-n", database, "DBSIZE"), "count the keys", _right_keys(database, keys))
        for database, keys in dataset.rows.items()
    ]


def _right_keys(database: str, keys: int) -> Callable[[Finished], str | None]:
    def judge(finished: Finished) -> str | None:
        if error := _complaint(finished):
            return error
        printed = _first_line(finished.printed)
        if printed != str(keys):
            return f"database {database} has {printed} keys instead of {keys}"
        return None

    return judge


def said_nothing(finished: Finished) -> str | None:
    """Judge a command that is answered only when it fails."""
    return _complaint(finished) or _first_line(finished.printed) or None


def _complaint(finished: Finished) -> str | None:
    """Return what redis-cli itself complains of: it goes on with database 0 after a wrong one."""
    code = f"exit code {finished.code}" if finished.code else None
    return _first_line(finished.complained) or code


def _first_line(text: str) -> str:
    return next(iter(text.splitlines()), "").strip()
