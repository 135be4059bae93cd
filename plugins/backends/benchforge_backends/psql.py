"""psql: what makes its commands, and how what it says is judged."""

from collections.abc import Callable, Mapping

from benchforge.plugin import Command, Finished, Site, Task

Psql = Callable[..., Command]


def at(site: Site, host: object, user: str) -> Psql:
    """Return what makes a command for psql, given a database and what to do in it."""
    to = ("-h", host, "-p", site.ports["postgresql"], "-U", user, "-v", "ON_ERROR_STOP=1")
    return lambda database, *words: Command(
        site.programs["psql"], "-XAtq", *to, "-d", database, *words
    )


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
    return [Task(command, "count the rows", _right_rows(rows))]


def _right_rows(expected: Mapping[str, int]) -> Callable[[Finished], str | None]:
    def judge(finished: Finished) -> str | None:
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

    return judge


def quoted(*names: str) -> str:
    """Return an identifier, as SQL writes it whatever its letters."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
