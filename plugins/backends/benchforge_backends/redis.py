"""Redis: a private server without persistence, or one that already runs."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar
from urllib.parse import quote, unquote, urlsplit

from pydantic import AfterValidator, Field

from benchforge.plugin import Command, Finished, Need, Probe, Site, Size, Succeeds, Task
from benchforge.plugin.databases import Dataset, TcpBackend, last_word

Cli = Callable[..., Command]

# A server that still loads its data answers too, with an error; and the exit code is 0 then.
_PONG = 'test "$("$@" ping)" = PONG'
_UNTIL_PONG = f"for _ in $(seq 1000); do {_PONG} && exit; sleep 0.01; done; exit 1"  # about 10 s
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"')
# What says where it listens, where it writes, and who may ask it.
_OURS = {
    *("port", "bind", "unixsocket", "unixsocketperm", "protected-mode", "tls-port"),
    *("dir", "dbfilename", "save", "appendonly", "daemonize", "supervised", "pidfile", "logfile"),
    *("requirepass", "include", "databases", "maxmemory"),
}


def at(site: Site, socket: Path | None, password: str = "") -> Cli:
    """Return what makes a command for redis-cli: at a unix socket, or at the port of the site."""
    environment = {"REDISCLI_AUTH": password} if password else {}
    to = ("-h", site.address, "-p", site.ports["redis"]) if socket is None else ("-s", socket)
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


def _shell(script: str, cli: Cli) -> Command:
    asking = cli()
    return Command("sh", "-c", script, "sh", *asking.argv, environment=asking.environment)


def load(cli: Cli, file: Path, database: str) -> Task:
    """Return a task that runs the commands of a file, and says the first that failed."""
    # With --csv each command is answered by one line, and only an error is told without quotes.
    return Task(
        cli("-n", database, "--csv", stdin=file), f"load {file.name}", partial(_all_done, file)
    )


def _all_done(file: Path, finished: Finished) -> str | None:
    if error := _complaint(finished):
        return error
    lines = file.read_text(errors="replace").splitlines()
    commands = [number for number, line in enumerate(lines, 1) if line.strip()]
    answers = finished.printed.splitlines()
    for number, answer in zip(commands, answers, strict=False):
        if "ERROR," in _QUOTED.sub("", answer) or answer == "Invalid argument(s)":
            error = answer.removeprefix("ERROR,").strip('"').strip()
            return f"{file}:{number}: {error}"
    wrong = f"{file}: {len(commands)} commands, but {len(answers)} answers"
    return wrong if len(answers) != len(commands) else None


def count(cli: Cli, dataset: Dataset) -> list[Task]:
    """Return what compares the keys of each database with what the dataset declares."""
    return [
        Task(cli("-n", database, "DBSIZE"), "count the keys", partial(_right_keys, database, keys))
        for database, keys in dataset.rows.items()
    ]


def _right_keys(database: str, keys: int, finished: Finished) -> str | None:
    if error := _complaint(finished):
        return error
    printed = _first_line(finished.printed)
    wrong = f"database {database} has {printed} keys instead of {keys}"
    return wrong if printed != str(keys) else None


def _complaint(finished: Finished) -> str | None:
    """Return what redis-cli itself complains of: it goes on with database 0 after a wrong one."""
    code = f"exit code {finished.code}" if finished.code else None
    return _first_line(finished.complained) or code


def _printed_error(finished: Finished) -> str | None:
    """Judge a command that prints nothing unless it fails."""
    return _complaint(finished) or _first_line(finished.printed) or None


def _first_line(text: str) -> str:
    return next(iter(text.splitlines()), "").strip()


def _setting(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][a-z0-9-]*", name, re.ASCII | re.IGNORECASE):
        raise ValueError(f"{name!r} is not the name of a setting, such as 'io-threads'")
    if name.lower() in _OURS:
        raise ValueError(
            f"{name!r} is set by benchforge: say listen, databases or maxmemory as options of "
            "their own; nothing is written to the disk"
        )
    return name.lower()


def _reachable(url: str) -> str:
    parts = urlsplit(url)
    if not {"redis": parts.hostname and parts.port != 0, "unix": parts.path}.get(parts.scheme):
        raise ValueError("should be like 'redis://127.0.0.1:6379/0' or 'unix:///run/redis.sock'")
    return url


class Redis(TcpBackend):
    """A private Redis server for each trial, with the snapshot of a dataset; or a running one.

    Good to know:

    - Nothing is persisted while it serves (`save ""`, `appendonly no`).
    - A dataset has one command a line, as typed into redis-cli. It is loaded with the defaults;
      `maxmemory` and `settings` apply to the trials only.
    - The path of a unix socket has at most 107 bytes.
    """

    name: ClassVar[str] = "redis"
    offers: ClassVar[tuple[str, ...]] = ("url", "REDIS_URL")
    ports: ClassVar[tuple[str, ...]] = ("redis",)
    frozen_with_server: ClassVar[bool] = True
    fixed_port: ClassVar[str] = "redis"

    databases: Annotated[int, Field(ge=1, le=10_000)] = 16
    "Number of databases. Their names are their numbers, from 0."
    maxmemory: Size | None = None
    "Memory limit for the data in bytes. Default: no limit."
    settings: dict[Annotated[str, AfterValidator(_setting)], bool | int | float | str] = Field(
        default_factory=dict
    )
    "Settings as in redis.conf; true is written as yes."
    existing: Annotated[str, AfterValidator(_reachable)] | None = Field(default=None, alias="url")
    "URL of a Redis that runs already. benchforge does not start, fill or check it."

    def needs(self) -> Iterable[Need]:
        cli = Need("redis-cli", debian="redis-tools")
        if self.existing is not None:
            return [cli]
        return [Need("redis-server", debian="redis-server"), cli]

    def version(self, site: Site) -> Command | None:
        if self.existing is not None:
            script = '"$@" INFO server | grep ^redis_version'
            return _shell(script, at_existing(site, self.existing))
        return Command(site.programs["redis-server"], "--version")

    def files(self, site: Site) -> Mapping[str, str]:
        """Return the settings: arguments, with a password in them, could be read by everybody."""
        settings = self._in_file()
        lines = (f"{name} {_quoted(str(_value(setting)))}" for name, setting in settings.items())
        return {_conf_of(site): "\n".join([*lines, ""])} if settings else {}

    def template(self, site: Site) -> Sequence[Task]:
        """Run the dataset's commands in a new server, count the keys, and keep a snapshot."""
        if (data := self.data(site)) is None:
            return ()
        folder, dataset = data
        cli, log = at(site, _socket(site)), site.folder / "server.log"
        aside = {"daemonize": True, "pidfile": site.scratch / "redis.pid", "logfile": log}
        serve = Command(site.programs["redis-server"], *self._words(site, "unix", aside))
        return [
            Task(serve, "start a new server"),
            Task(_shell(_UNTIL_PONG, cli), "start a new server", last_word(log)),
            *(load(cli, folder / name, dataset.into) for name in dataset.files),
            *count(cli, dataset),
            Task(cli("SHUTDOWN", "SAVE"), "keep a snapshot", _printed_error),
        ]

    def command(self, site: Site) -> Command | None:
        if self.existing is not None:
            return None
        limit = {} if self.maxmemory is None else {"maxmemory": int(self.maxmemory)}
        conf = (site.folder / _conf_of(site),) if self._in_file() else ()
        words = self._words(site, self.listen, limit)
        return Command(site.programs["redis-server"], *conf, *words)

    def ready(self, site: Site) -> Probe:
        """Return a question that is answered as soon as the data is there."""
        return Succeeds(_shell(_PONG, self._cli(site)))

    def verify(self, site: Site) -> Iterable[Task]:
        """Count the keys again, for a template that was damaged since."""
        data = self.data(site)
        return count(self._cli(site), data[1]) if data else []

    def gives(self, site: Site) -> Mapping[str, str]:
        url = self.existing or self._url(site)
        return {"url": url, "REDIS_URL": url}

    def _url(self, site: Site) -> str:
        data = self.data(site)
        database = data[1].into if data else "0"
        if self.listen == "tcp":
            login = f":{quote(self.password, safe='')}@" if self.password else ""
            return f"redis://{login}{site.address}:{site.ports['redis']}/{database}"
        return f"unix://{quote(str(_socket(site)))}?db={database}"

    def _in_file(self) -> dict[str, object]:
        return {**self.settings, **({"requirepass": self.password} if self.password else {})}

    def _cli(self, site: Site) -> Cli:
        if self.existing is not None:
            return at_existing(site, self.existing)
        return at(site, _socket(site) if self.listen == "unix" else None, self.password or "")

    def _words(self, site: Site, listen: str, more: Mapping[str, object]) -> list[object]:
        where: dict[str, object] = {"port": 0, "unixsocket": _socket(site), "unixsocketperm": 700}
        if listen == "tcp":
            where = {"port": site.ports["redis"], "bind": site.address}
        fixed = {"dir": site.scratch, "dbfilename": "dump.rdb", "save": "", "appendonly": False}
        settings = {**where, **fixed, "databases": self.databases, **more}
        return [word for name, value in settings.items() for word in (f"--{name}", _value(value))]


def _socket(site: Site) -> Path:
    return site.scratch / "redis.sock"


def _conf_of(site: Site) -> str:
    return f"backend-{site.label}.conf"


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
