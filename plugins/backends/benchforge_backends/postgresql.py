"""PostgreSQL: a private, throw-away cluster, or one that already runs."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self
from urllib.parse import parse_qs, quote, unquote, urlsplit

from pydantic import AfterValidator, Field, model_validator

from benchforge.plugin import Command, Finished, Need, Site, Succeeds, Task, WrongOption, text_of
from benchforge.plugin.databases import TcpBackend, hba, password_of, verifier

Psql = Callable[..., Command]

_PROGRAMS = ("postgres", "initdb", "pg_ctl", "pg_isready", "psql")
_OURS = {"port", "listen_addresses", "unix_socket_directories", "data_directory"}
_LONGEST_IDENTIFIER = 63
# Each trial copies the cluster, and a quarter of its 1,300 files are of this database.
_SMALLER = (
    *("-c", "UPDATE pg_database SET datistemplate = false WHERE datname = 'template0'"),
    *("-c", "DROP DATABASE template0"),
)
_OF_TLS = {"ssl", "ssl_cert_file", "ssl_key_file"}
_CERTIFICATE, _KEY = "server.crt", "server.key"
# The data is thrown away, so nothing is gained by bringing it to the disk in time.
_DEFAULTS: Mapping[str, str | int | float | bool] = {
    "fsync": False,
    "full_page_writes": False,
    "synchronous_commit": False,
    "max_connections": 200,
}


def _setting(key: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)?", key, re.ASCII):
        raise ValueError(f"{key!r} is not the name of a setting, such as 'shared_buffers'")
    if key.lower() in _OURS:
        raise ValueError(f"{key!r} is set by benchforge: say listen = 'unix' or 'tcp'")
    if key.lower() in _OF_TLS:
        raise ValueError(f"{key!r} is set by benchforge, which makes a certificate: say tls = true")
    return key.lower()


def _reachable(url: str) -> str:
    if urlsplit(url).scheme not in {"postgresql", "postgres"}:
        raise ValueError("should be like 'postgresql://user@host:5432/database'")
    return url


def _identifier(name: str) -> str:
    if not 0 < len(name.encode()) <= _LONGEST_IDENTIFIER or not name.isprintable():
        raise ValueError(f"{name!r} is not a name of 1 to {_LONGEST_IDENTIFIER} bytes")
    if name in {"template0", "template1"}:
        raise ValueError(f"{name!r} is a template of PostgreSQL")
    return name


def _role(name: str) -> str:
    if name.startswith("pg_"):
        raise ValueError(f"{name!r} begins with 'pg_', as PostgreSQL's own users do")
    return _identifier(name)


class Postgresql(TcpBackend):
    """A private PostgreSQL cluster for each trial, copied from a filled template; or a running one.

    Good to know:

    - The cluster is not durable: fsync, full_page_writes and synchronous_commit are off, unless
      `settings` turns them on.
    - The cluster has no database template0.
    - Each trial copies a thousand files. If your disk is slow at that, start benchforge with
      TMPDIR=/dev/shm: then the files are in memory.
    - A dataset is loaded with the defaults. `settings` apply to the trials only.
    - The URL that servers receive has sslmode=disable, so that clients do not try TLS on each
      connect. With `tls` the URL has no sslmode: libpq and asyncpg then choose TLS. Give a server
      that must not use TLS its own URL.
    - The path of a unix socket has at most 107 bytes.
    - On a host of its own, with `listen = "tcp"`, it takes connections of the trial's other hosts
      only, with a password that is made for the trial (SCRAM-SHA-256).
    - `user` owns the cluster. With `password`, connections over TCP need it (SCRAM-SHA-256).
    """

    name: ClassVar[str] = "postgresql"
    frozen_with_server: ClassVar[bool] = True
    serves_hosts: ClassVar[bool] = True
    offers: ClassVar[tuple[str, ...]] = ("url", "DATABASE_URL")
    ports: ClassVar[tuple[str, ...]] = ("postgresql",)
    fixed_port: ClassVar[str] = "postgresql"

    settings: dict[Annotated[str, AfterValidator(_setting)], bool | int | float | str] = Field(
        default_factory=dict
    )
    "Settings as in postgresql.conf; true is written as on."
    user: Annotated[str, AfterValidator(_role)] = "bench"
    "User of the database, a superuser."
    database: Annotated[str, AfterValidator(_identifier)] | None = None
    """Name of the database. Default: that of the dataset; "benchmarks" without one."""
    tls: bool = False
    "TLS over TCP, with a certificate that benchforge makes for each trial."
    existing: Annotated[str, AfterValidator(_reachable)] | None = Field(default=None, alias="url")
    "URL of a database that runs already. benchforge does not start, fill or check it."

    @model_validator(mode="after")
    def _tls_over_tcp(self) -> Self:
        if self.tls and self.listen == "unix":
            message = "PostgreSQL speaks TLS over TCP only"
            raise WrongOption(message, "tls", "listen", hint="say listen = 'tcp' too")
        return self

    def hosts(self, url: str) -> Iterable[str]:
        """Return every host of a URL, before the path and among its parameters."""
        parts = urlsplit(url)
        for host in parts.netloc.rpartition("@")[2].split(","):
            yield urlsplit(f"//{host}").hostname or ""
        parameters = parse_qs(parts.query)
        for named in (*parameters.get("host", ()), *parameters.get("hostaddr", ())):
            yield from named.split(",")

    def needs(self) -> Iterable[Need]:
        if self.existing is not None:
            return [Need("psql", debian="postgresql-client")]
        openssl = [Need("openssl", debian="openssl")] if self.tls else []
        return [*(Need(name, debian="postgresql") for name in _PROGRAMS), *openssl]

    def version(self, site: Site) -> Command | None:
        if self.existing is not None:
            return self._ask_existing(site, "SHOW server_version")
        return Command(site.programs["postgres"], "--version")

    def files(self, site: Site) -> Mapping[str, str]:
        """Return the settings: arguments, with a password in them, could be read by everybody."""
        guarded = self._guarded(site)
        peers = {_hba_of(site): hba(site, private=self.password is not None)} if guarded else {}
        if not self.settings:
            return peers
        lines = [f"include = {_quoted(str(site.scratch / 'data/postgresql.conf'))}"]
        lines += [f"{name} = {_quoted(_value(value))}" for name, value in self.settings.items()]
        return {_conf_of(site): "\n".join([*lines, ""]), **peers}

    def template(self, site: Site) -> Sequence[Task]:
        """Make the cluster, load the dataset, count its rows; `settings` do not apply here."""
        if self.existing is not None:
            return ()
        pg_ctl, data = site.programs["pg_ctl"], site.scratch / "data"
        log = site.folder / "server.log"
        options = _as_options({**_DEFAULTS, **_where(site, "unix")})
        words = ["-A", "trust", "-U", self.user, "-E", "UTF8", "--locale=C.UTF-8"]
        initdb = [site.programs["initdb"], "-D", data, *words, "--no-sync", "--no-instructions"]
        # What stands after -o goes through a shell.
        start = [pg_ctl, "start", "-w", "-s", "-D", data, "-l", log, "-o", shlex.join(options)]
        stop = [pg_ctl, "stop", "-w", "-s", "-D", data, "-m", "fast"]
        return [
            Task(Command(*initdb, ordinary_user=True), "make a cluster"),
            Task(
                Command(*start, ordinary_user=True), "start the new cluster", partial(_started, log)
            ),
            *self._fill(site),
            sql(at(site, site.scratch, self.user)("postgres", *_SMALLER), "drop template0"),
            Task(Command(*stop, ordinary_user=True), "stop the new cluster"),
        ]

    def prepare(self, site: Site) -> Iterable[Task]:
        if not self.tls:
            return []
        words = ["-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=benchforge"]
        files = ["-keyout", site.scratch / _KEY, "-out", site.scratch / _CERTIFICATE]
        make = [site.programs["openssl"], "req", "-x509", *words, *files]
        # PostgreSQL takes a key of its own user only.
        return [Task(Command(*make, ordinary_user=True), "make a certificate")]

    def command(self, site: Site) -> Command | None:
        if self.existing is not None:
            return None
        tls: dict[str, str | bool] = {}
        if self.tls:
            tls = {"ssl": True, "ssl_cert_file": str(site.scratch / _CERTIFICATE)}
            tls |= {"ssl_key_file": str(site.scratch / _KEY)}
        defaults = {name: value for name, value in _DEFAULTS.items() if name not in self.settings}
        files = {"config_file": str(site.folder / _conf_of(site))} if self.settings else {}
        if self._guarded(site):
            files["hba_file"] = str(site.folder / _hba_of(site))
        options = _as_options({**defaults, **files, **self._places(site), **tls})
        data = site.scratch / "data"
        return Command(site.programs["postgres"], "-D", data, *options, ordinary_user=True)

    def ready(self, site: Site) -> Succeeds:
        """Return a question that is answered as soon as connections are taken."""
        if self.existing is not None:
            return Succeeds(self._ask_existing(site, "SELECT 1"))
        to = ("-h", self._host(site), "-p", _port(site))
        who = ("-U", self.user, "-d", self._database(site))
        return Succeeds(Command(site.programs["pg_isready"], *to, *who, ordinary_user=True))

    def verify(self, site: Site) -> Iterable[Task]:
        """Count the rows again, for a template that was damaged since."""
        data, psql = self.data(site), at(site, self._host(site), self.user)
        if self._guarded(site):
            change = f"ALTER ROLE {quoted(self.user)} PASSWORD '{verifier(self._secret(site))}'"
            yield sql(psql("postgres", "-c", change), "set the password")
        yield from count(psql, self._database(site), data[1].rows) if data else []

    def gives(self, site: Site) -> Mapping[str, str]:
        url = self.existing or self._url(site)
        return {"url": url, "DATABASE_URL": url}

    def _url(self, site: Site) -> str:
        database, port = quote(self._database(site), safe=""), _port(site)
        user = quote(self.user, safe="")
        if self.listen == "tcp":
            plain = "" if self.tls else "?sslmode=disable"
            secret = f":{quote(self._secret(site), safe='')}" if self._guarded(site) else ""
            return f"postgresql://{user}{secret}@{site.address}:{port}/{database}{plain}"
        folder = quote(str(site.scratch))
        return f"postgresql://{user}@/{database}?host={folder}&port={port}&sslmode=disable"

    def _guarded(self, site: Site) -> bool:
        return self.listen == "tcp" and bool(site.peers or self.password)

    def _secret(self, site: Site) -> str:
        return self.password or password_of(site)

    def _places(self, site: Site) -> dict[str, str]:
        """Return where the cluster listens: with a password, benchforge's own socket is beside."""
        socket = {"unix_socket_directories": str(site.scratch)} if self.password else {}
        return _where(site, self.listen) | socket

    def _fill(self, site: Site) -> Iterator[Task]:
        psql, database = at(site, site.scratch, self.user), self._database(site)
        if database != "postgres":  # initdb makes this one
            create = f"CREATE DATABASE {quoted(database)}"
            yield sql(psql("postgres", "-c", create), "create the database")
        if (data := self.data(site)) is None:
            return
        folder, dataset = data
        for name in dataset.files:
            yield sql(psql(database, "-f", folder / name), f"load {name}")
        yield from count(psql, database, dataset.rows)
        # Else the first readers write hint bits, and autovacuum comes while something is measured.
        clean = "VACUUM (FREEZE, ANALYZE)"
        yield sql(psql(database, "-c", clean), "vacuum the database")

    def _database(self, site: Site) -> str:
        data = self.data(site)
        return self.database or (data[1].into if data else "benchmarks")

    def _host(self, site: Site) -> object:
        return site.scratch if self.listen == "unix" or self.password else site.address

    def _ask_existing(self, site: Site, query: str) -> Command:
        """Ask a database that already runs; other users may read our words, not our environment."""
        url, password = _without_password(self.existing or "")
        environment = {"PGPASSWORD": password} if password else {}
        words = ("-XAtq", "-d", url, "-c", query)
        return Command(site.programs["psql"], *words, environment=environment)


def _without_password(url: str) -> tuple[str, str]:
    """Return a URL without its password, and that: of its parameters, which libpq prefers."""
    address, mark, query = url.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&")] if mark else []
    passwords = [unquote(value) for name, _, value in pairs if name == "password"]
    if passwords:
        rest = "&".join("".join(pair) for pair in pairs if pair[0] != "password")
        url = f"{address}?{rest}" if rest else address
    if password := urlsplit(url).password:
        url = url.replace(f":{password}@", "@", 1)
    return url, passwords[-1] if passwords else unquote(password or "")


def _where(site: Site, listen: Literal["unix", "tcp"]) -> dict[str, str]:
    return {
        "port": _port(site),
        "listen_addresses": site.address if listen == "tcp" else "",
        "unix_socket_directories": str(site.scratch) if listen == "unix" else "",
    }


def _port(site: Site) -> str:
    # It names the socket, too.
    return str(site.ports["postgresql"])


def _conf_of(site: Site) -> str:
    return f"backend-{site.label}.conf"


def _hba_of(site: Site) -> str:
    return f"backend-{site.label}-hba.conf"


def _quoted(value: str) -> str:
    """Return a value as it stands in postgresql.conf, where no line can be broken."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n") + "'"


def _as_options(settings: Mapping[str, str | int | float | bool]) -> list[str]:
    return [word for name, value in settings.items() for word in ("-c", f"{name}={_value(value)}")]


def _value(value: str | float | bool) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _started(log: Path, finished: Finished) -> str | None:
    if finished.code == 0:
        return None
    lines = text_of(log).splitlines() if log.is_file() else []
    return next((line for line in lines if "FATAL" in line), f"exit code {finished.code}")


def at(site: Site, host: object, user: str) -> Psql:
    """Return what makes a command for psql, given a database and what to do in it."""
    to = ("-h", host, "-p", site.ports["postgresql"], "-U", user, "-v", "ON_ERROR_STOP=1")
    return lambda name, *words: Command(site.programs["psql"], "-XAtq", *to, "-d", name, *words)


def sql(command: Command, says: str) -> Task:
    """Return a task that says the first error of SQL with its file and line."""
    return Task(command, says, _sql_error)


def _sql_error(finished: Finished) -> str | None:
    if finished.code == 0:
        return None
    lines = finished.complained.splitlines()
    errors = [line for line in lines if "ERROR:" in line or "FATAL:" in line or "error:" in line]
    return next(iter(errors or lines), f"exit code {finished.code}").removeprefix("psql:")


def count(psql: Psql, database: str, rows: Mapping[str, int]) -> list[Task]:
    """Return what compares the rows of all tables with what the dataset declares."""
    if not rows:
        return []
    queries = [
        f"SELECT {_literal(table)}, count(*) FROM {quoted(*table.split('.'))}"  # noqa: S608 - quoted
        for table in rows
    ]
    command = psql(database, "-c", " UNION ALL ".join(queries))
    return [Task(command, "count the rows", partial(_right_rows, rows))]


def _right_rows(expected: Mapping[str, int], finished: Finished) -> str | None:
    if error := _sql_error(finished):
        return error
    lines = finished.printed.splitlines()
    counted = {table: int(rows) for table, _, rows in (line.rpartition("|") for line in lines)}
    wrong = [
        f"{table} has {counted.get(table)} rows instead of {rows}"
        for table, rows in expected.items()
        if counted.get(table) != rows
    ]
    return "; ".join(wrong) or None


def quoted(*names: str) -> str:
    """Return an identifier, as SQL writes it whatever its letters."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
