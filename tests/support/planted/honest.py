"""What checks E and K say of the honest servers of suites/systems.toml, where it is true."""

from collections.abc import Iterable

from benchforge.model.trial.trial import Trial

OF_THE_LOAD = {"E2": "a second of load is short", "K3": "a busy machine acknowledges late"}
"Checks whose findings about the apparatus accuse no server."
# Findings that are true of these servers, by check: the server's label, and why.
ONE_ANSWER = "it closes each connection after an answer, as its defaults have it"
SHORT_QUEUE = "its queue holds 5 new connections, and the load opens 8 at once"
QUEUE = dict.fromkeys(("cheroot", "cherrypy", "cherrypy_native", "cherrypy_pypy"), SHORT_QUEUE)
CLOSING = ("tornado_socket", "gevent_socket", "threads")
TRUE_OF_SERVERS = {
    "K1": {
        **dict.fromkeys(("gunicorn", "gunicorn_312", "gunicorn_pypy", "uwsgi"), ONE_ANSWER),
        **dict.fromkeys(CLOSING, "its app closes the socket itself"),
    },
    "K2": QUEUE,
    "K3": QUEUE,
}
# The same of what a study published: the scenario and the server, and why.
NO_LENGTH = "its answers have no length: wrk counts the end of each as an error"
PONG = [("pong_socket_published", label) for label in CLOSING]
TRUE_OF_APPS = {
    "E1": {
        ("hello_wsgi_published", "uwsgi"): NO_LENGTH,
        ("page_wsgi_published", "uwsgi"): NO_LENGTH,
        **dict.fromkeys(PONG, "it reads no request, and sends 7 bytes for a declared 5"),
    },
    "K1": dict.fromkeys(PONG, "it closes before it has read: some connections are reset"),
}
HEAD = """
## Honest servers

The test of `suites/systems.toml` loads each server with each app: no check of answers or
connections (E, K) warns or fails, except for these findings, which are true. What a busy machine
raises is measured again, up to five times in all. `make test` measures a cover: each server and
each app at least once.

| check | server | why it is true |
|---|---|---|
"""


def accusations(trials: Iterable[Trial]) -> dict[str, list[str]]:
    """Return what checks E and K say against each server, unless a reason for it is known."""
    actual: dict[str, list[str]] = {}
    for trial in trials:
        subject = trial.case
        for check in trial.checks:
            if check.id[0] not in "EK" or check.status not in {"fail", "warn"}:
                continue
            reasons = (
                check.subject == "apparatus" and OF_THE_LOAD.get(check.id),
                TRUE_OF_SERVERS.get(check.id, {}).get(subject.server),
                TRUE_OF_APPS.get(check.id, {}).get((subject.scenario, subject.server)),
            )
            if not any(reasons):
                actual.setdefault(subject.title, []).append(f"{check.id}: {check.message}")
    return actual


def table() -> str:
    """Return the section of the page."""
    of_servers = [
        f"| {id_} | `{label}` | {reason} |\n"
        for id_, subject in TRUE_OF_SERVERS.items()
        for label, reason in subject.items()
    ]
    of_apps = [
        f"| {id_} | `{label}` with `{scenario}` | {reason} |\n"
        for id_, subject in TRUE_OF_APPS.items()
        for (scenario, label), reason in subject.items()
    ]
    return HEAD + "".join(sorted([*of_servers, *of_apps]))
