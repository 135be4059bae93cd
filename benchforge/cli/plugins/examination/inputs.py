"""What a part is asked with: requests of every kind, and a place to serve at."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from pydantic import Field, JsonValue, ValidationError

from benchforge.errors import Unusable
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.reading import Reading
from benchforge.model.values.frozen import Frozen
from benchforge.parts.command import Finished, Need
from benchforge.parts.part import Driver, Server, Service
from benchforge.parts.site import Output, Site, Target
from benchforge.run.locate import locate

FACTS, OUT, ERR = "recording.json", "stdout.txt", "stderr.txt"

TRIAL_FOLDER = Path("/trial")
ROOT = "http://127.0.0.1:8080"
SECURE = "https://127.0.0.1:8443"
CA_FILE = TRIAL_FOLDER / "ca.pem"
JSON = {"Content-Type": "application/json"}
GET = "GET /"
BACKEND = {"url": "postgresql://127.0.0.1:5432/agents", "BACKEND_URL": "postgresql://127.0.0.1/a"}


class _Facts(Frozen):
    options: dict[str, JsonValue] = Field(default_factory=dict)
    exit_code: int = 0
    path: str = "/"


@dataclass(frozen=True)
class Recording:
    """What one run left: files by name, stdout.txt and stderr.txt among them."""

    name: str
    options: Mapping[str, JsonValue]
    exit_code: int
    path: str
    "Path of the request."
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, place: Path) -> Self:
        """Read a recording: a file holds what was printed, and a folder all that a run left.

        That is stdout.txt, stderr.txt, the files that the tool wrote, and recording.json with
        `options`, `exit_code` and `path`, each of which may be missing but the first.
        Raises Unusable when it cannot be read.
        """
        try:
            if not place.is_dir():
                return cls(str(place), {}, 0, "/", {OUT: place.read_bytes()})
            files = {one.name: one.read_bytes() for one in sorted(place.iterdir()) if one.is_file()}
            facts = _Facts.model_validate(
                {key: value for key, value in json.loads(files.get(FACTS, b"{}")).items()
                 if key in _Facts.model_fields}
            )  # fmt: skip
        except OSError as error:
            raise Unusable(f"{error.filename or place}: {error.strerror}") from None
        except (ValueError, AttributeError, ValidationError) as error:
            first = str(error).splitlines()[0]
            hint = "it holds JSON: options, exit_code and path"
            raise Unusable(f"{place / FACTS}: {first}", hint) from None
        if OUT not in files:
            hint = "the folder of a recording contains it, and other files of the tool"
            raise Unusable(f"{place}: no {OUT}", hint)
        return cls(str(place), facts.options, facts.exit_code, facts.path, files)

    def read(self, part: Driver, folder: Path) -> Reading:
        """Return the reading of a part. The files are written to `folder`.

        Raises what the part's own `read` raises, and TypeError where it returns no reading.
        """
        for name in (OUT, ERR):
            (folder / name).write_bytes(b"")
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        done = Finished(self.exit_code, folder / OUT, folder / ERR, 1.0, 0.0, 0.0)
        # The same for two readings, wherever they are read.
        target = Target(ROOT + self.path, Request(path=self.path), folder, {}, Path("/bin/python"))
        reading: object = part.read(Output(target, (done,)))
        if not isinstance(reading, Reading):
            raise TypeError(f"it returns {type(reading).__name__}, and no Reading")
        return reading


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
