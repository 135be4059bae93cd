"""What a part is asked with: requests of every kind, and a place to serve at."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchforge.model.trial.answers.answer import Request
from benchforge.parts.command import Need
from benchforge.parts.part import Server, Service
from benchforge.parts.site import Site, Target
from benchforge.run.locate import locate

TRIAL_FOLDER = Path("/trial")
ROOT = "http://127.0.0.1:8080"
SECURE = "https://127.0.0.1:8443"
CA_FILE = TRIAL_FOLDER / "ca.pem"
JSON = {"Content-Type": "application/json"}
GET = "GET /"
BACKEND = {"url": "postgresql://127.0.0.1:5432/agents", "BACKEND_URL": "postgresql://127.0.0.1/a"}


@dataclass(frozen=True)
class Aspect:
    """Two targets that differ in one thing, which a driver has to tell apart."""

    name: str
    base: Target
    other: Target
    needed: bool = True
    "True if numbers are wrong without it. A part may always refuse it."


def targets(programs: Mapping[str, Path]) -> dict[str, Target]:
    """Return what a driver is asked to hit, each under a name for a person."""
    plain = Target(f"{ROOT}/", Request(path="/"), TRIAL_FOLDER, programs, Path(sys.executable))
    return {
        GET: plain,
        "GET /agents?page=2 with headers": _to(
            plain, Request(path="/agents?page=2", headers={"X-Check": "one two"})
        ),
        "POST /agents with a body": _to(
            plain, Request(method="POST", path="/agents", headers=JSON, body='{"name": "Ada"}')
        ),
        "HEAD /": _to(plain, Request(method="HEAD", path="/")),
        "GET / over https, with a CA file": replace(plain, url=f"{SECURE}/", ca_file=CA_FILE),
        "GET / for the warm-up": replace(plain, phase="warm-up"),
    }


def aspects(programs: Mapping[str, Path]) -> list[Aspect]:
    """Return the pairs of targets that every driver has to tell apart, or refuse."""
    plain = targets(programs)[GET]
    post = _to(plain, Request(method="POST", path="/", headers=JSON, body="one"))
    secure = replace(plain, url=f"{SECURE}/")
    return [
        Aspect("the server", plain, replace(plain, url="http://127.0.0.1:8081/")),
        Aspect("the path", plain, _to(plain, Request(path="/agents"))),
        Aspect("the query", plain, _to(plain, Request(path="/?page=2"))),
        Aspect("https", plain, secure),
        Aspect("the method", plain, _to(plain, Request(method="DELETE", path="/"))),
        Aspect("HEAD", plain, _to(plain, Request(method="HEAD", path="/"))),
        Aspect("a header", plain, _to(plain, Request(path="/", headers={"X-Check": "1"}))),
        Aspect("the header Host", plain, _to(plain, Request(path="/", headers={"host": "a.org"}))),
        Aspect("the body", post, _to(post, Request(method="POST", path="/", headers=JSON))),
        Aspect(
            "the text of the body",
            post,
            _to(post, Request(method="POST", path="/", headers=JSON, body="two")),
        ),
        Aspect("the CA file", secure, replace(secure, ca_file=CA_FILE), needed=False),
    ]


def site(part: Service, programs: Mapping[str, Path]) -> Site:
    """Return a place with a backend and whatever the part stands before."""
    upstreams = part.upstreams() if isinstance(part, Server) else ()
    return Site(
        label="mine",
        folder=TRIAL_FOLDER,
        scratch=Path("/scratch"),
        address="127.0.0.1",
        ports={name: 8080 + number for number, name in enumerate(part.ports)},
        python=Path(sys.executable),
        programs=programs,
        backends={"data": BACKEND},
        suite_folder=Path.cwd(),
        as_root=False,
        upstreams={label: {"url": "http://127.0.0.1:8090"} for label in upstreams},
    )


def programs(needs: Iterable[Need]) -> dict[str, Path]:
    """Return where each program is; one that is missing would be in /usr/bin."""
    names = [need.name for need in needs if need.kind == "program"]
    return {name: locate(name) or Path("/usr/bin") / name for name in names}


def _to(target: Target, request: Request) -> Target:
    root = target.url.removesuffix("/")
    return replace(target, url=root + request.path, request=request)
