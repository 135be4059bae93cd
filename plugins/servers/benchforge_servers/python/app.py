"""An app: the code that a server serves, a built-in one or the user's own."""

import difflib
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from benchforge.plugin import Need, WrongOption
from benchforge_servers.digest import folder_digest

INSTALL = "pip install '.[servers]', in a clone of benchforge"
PROTOCOLS = {
    "wsgi": (
        "cheroot",
        "cherrypy",
        "gevent",
        "granian",
        "gunicorn",
        "tornado",
        "uwsgi",
        "waitress",
    ),
    "asgi": ("granian", "gunicorn", "hypercorn", "uvicorn"),
    "aiohttp": ("aiohttp", "gunicorn"),
    "tornado": ("tornado",),
    "cherrypy": ("cherrypy",),
    "socket": ("gevent", "threads", "tornado"),
    "api_hour": ("api_hour",),
}
"What apps speak, and which servers serve them."

_BUILT_IN = Path(__file__).parents[1] / "apps"
_OWN = re.compile(r"[\w.]+:[\w.]+(\(\))?")


class App(BaseModel):
    """What is known of an app: what an app.toml says, or what the suite says of the user's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    built_in: bool = True
    code: str | None = None
    "The built-in app whose folder holds the code, where several are made from one."
    protocol: str | None = None
    "One of PROTOCOLS; None for the user's own, whose server finds out."
    target: str = Field(alias="object")
    "Place of the app as module:attribute."
    modules: list[str] = Field(default_factory=list)
    "Modules that it imports."
    requires: list[str] = Field(default_factory=list)
    "Packages to install for these modules."
    environment: list[str] = Field(default_factory=list)
    "Environment variables that it reads."
    description: str = ""

    def needs(self) -> Iterable[Need]:
        """Return the modules that it imports, with what to install."""
        packages = " ".join(f"'{name}'" for name in self.requires)
        install = f"pip install {packages}, or {INSTALL}"
        return [Need(name, install, "module") for name in self.modules]


_SHOWN = 8  # apps in a hint


@cache
def built_in() -> tuple[str, ...]:
    """Return the names of the apps that come with the plugin."""
    return tuple(sorted(file.parent.name for file in _BUILT_IN.glob("*/app.toml")))


@cache
def app_of(name: str) -> App:
    """Return what is known of an app that the suite names."""
    if ":" in name:
        return App(built_in=False, object=name)
    return App.model_validate(tomllib.loads((_BUILT_IN / name / "app.toml").read_text()))


def folder_of(name: str, directory: str | None, suite_folder: Path) -> Path:
    """Return where the app's modules are; the user's own lie relative to the suite."""
    if ":" not in name:
        return _BUILT_IN / (app_of(name).code or name)
    return (suite_folder / (directory or ".")).absolute()


def fingerprint(name: str, directory: str | None, suite_folder: Path) -> str:
    """Return a digest of the code: a built-in app's files, or all the user's Python files.

    Raises BenchforgeError where they cannot be read, and for the whole file system.
    """
    if app_of(name).built_in:
        return _fingerprint_of_built_in(name)
    return _fingerprint(name, directory, suite_folder)


@cache
def _fingerprint_of_built_in(name: str) -> str:
    """Return it without looking again: of these files nothing changes while we run."""
    return _fingerprint(name, None, Path())


def _fingerprint(name: str, directory: str | None, suite_folder: Path) -> str:
    folder, app = folder_of(name, directory, suite_folder), app_of(name)

    def served(path: Path) -> bool:
        return not _is_made(path) and (app.built_in or path.suffix == ".py")

    return folder_digest(folder, directory, served, app.target, "name the folder of the app alone")


def check_own(name: str, **options: str | None) -> None:
    """Raise WrongOption for a built-in app with an option of one's own: it would be ignored."""
    for option, value in options.items():
        if value is not None and ":" not in name:
            message = f"{name!r} is built in, and {option!r} is for an app of your own"
            raise WrongOption(message, option, "app", hint="leave it out")


def _is_made(path: Path) -> bool:
    """Whether a file is no code of the user's: environments, caches, what is hidden."""
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _checked_name(name: str) -> str:
    if ":" in name:
        if not _OWN.fullmatch(name):
            message = f"{name!r} is no 'module:attribute'"
            raise WrongOption(message, hint="write it so, or as 'module:make_app()'")
        return name
    if name in built_in():
        return name
    near = difflib.get_close_matches(name, built_in(), 1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    raise WrongOption(
        f"no app named {name!r}",
        hint=f"{guess}built in: {', '.join(built_in()[:_SHOWN])}, ...; "
        "an app of your own is written as 'module:attribute', with its directory",
    )


AppName = Annotated[str, AfterValidator(_checked_name)]
"The name of a built-in app, or module:attribute; with () at its end, what the function makes."
