"""The base of servers of an app: a built-in one, or the user's own."""

import difflib
import importlib.util
import re
import symtable
import tomllib
from abc import ABC
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, model_validator

from benchforge.plugin import (
    Command,
    Fillable,
    Need,
    RunsPython,
    Server,
    ServesCode,
    Site,
    WrongOption,
)
from benchforge_servers.digest import folder_digest

INSTALL = "pip install '.[servers]', in a clone of benchforge"
PROTOCOLS = {
    "wsgi": (
        *("cheroot", "cherrypy", "gevent", "granian"),
        *("gunicorn", "tornado", "uwsgi", "waitress"),
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
_SHOWN = 8  # apps in a hint


class App(BaseModel):
    """An app: as its app.toml describes a built-in one, or the suite the user's own.

    What an app.toml does not say is as in that of the app whose code it has.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str | None = None
    "The built-in app whose folder holds the code, where several are made from one."
    protocol: str | None = None
    "One of PROTOCOLS; None for the user's own, whose server finds out."
    target: str = Field("app:app", alias="object")
    "Place of the app as module:attribute."
    modules: list[str] = Field(default_factory=list)
    "Modules that it imports."
    requires: list[str] = Field(default_factory=list)
    "Packages to install for these modules, where their names differ."
    environment: list[str] = Field(default_factory=list)
    "Environment variables that it reads."
    description: str = ""

    def needs(self) -> Iterable[Need]:
        packages = " ".join(f"'{name}'" for name in self.requires or self.modules)
        install = f"pip install {packages}, or {INSTALL}"
        return [Need(name, install, "module") for name in self.modules]


@cache
def built_in() -> tuple[str, ...]:
    """Return the names of the apps that come with the plugin."""
    return tuple(sorted(file.parent.name for file in _BUILT_IN.glob("*/app.toml")))


@cache
def app_of(name: str) -> App:
    """Return what is known of an app that the suite names."""
    if ":" in name:
        return App(object=name)
    described = tomllib.loads((_BUILT_IN / name / "app.toml").read_text())
    inherited = app_of(described["code"]).model_dump(by_alias=True) if "code" in described else {}
    return App.model_validate(inherited | described)


def folder_of(name: str, directory: str | None, suite_folder: Path) -> Path:
    """Return where the app's modules are; the user's own lie relative to the suite."""
    if ":" not in name:
        return _BUILT_IN / (app_of(name).code or name)
    return (suite_folder / (directory or ".")).absolute()


def _fingerprint(name: str, directory: str | None, suite_folder: Path) -> str:
    """Return a digest of the code. Raises BenchforgeError where it cannot be read."""
    folder = folder_of(name, directory, suite_folder)

    def served(path: Path) -> bool:
        # Environments, caches and what is hidden are no code of the user's.
        made = any(part.startswith(".") or part == "__pycache__" for part in path.parts)
        return not made and (":" not in name or path.suffix == ".py")

    hint = "name the folder of the app alone"
    return folder_digest(folder, directory, served, app_of(name).target, hint)


_built_in_fingerprint = cache(_fingerprint)  # these files do not change while benchforge runs


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
    form = "an app of your own is written as 'module:attribute', with its directory"
    hint = f"{guess}built in: {', '.join(built_in()[:_SHOWN])}, ...; {form}"
    raise WrongOption(f"no app named {name!r}", hint=hint)


AppName = Annotated[str, AfterValidator(_checked_name)]
"The name of a built-in app, or module:attribute; with () at its end, what the function makes."


# Programs of a folder of their own: a part's file is named like the library that it must not hide.
RUNNERS = Path(__file__).parents[1] / "runners"

# A module with one of these may have names that no look at its text tells.
_UNTOLD = re.compile(r"import \*|__getattr__|globals\(\)|\bexec\(|\bsetattr\(")


class AppServer(ServesCode, RunsPython, Server, ABC):
    """A Python server that is given an app; whoever speaks the app's protocol can serve it."""

    speaks: ClassVar[tuple[str, ...]]
    "The protocols of apps that it can serve, whatever its options."
    decides: ClassVar[str] = ""
    "The option that decides what it speaks, if there is one."
    choices: ClassVar[Mapping[str, str]] = {}
    "Value of that option by the protocol that it then speaks."
    modules: ClassVar[tuple[str, ...]]
    "Modules that it imports itself."

    app: AppName
    "Name of a built-in app, or module:attribute of your own app."
    environment: dict[str, Fillable] = Field(default_factory=dict)
    """Environment variables, in addition to those that backends provide, such as DATABASE_URL. \
{backends.<label>.<name>} is replaced."""

    backlog: PositiveInt = 128
    """Length of the queue of connections that the server has not accepted yet. The kernel limits \
it to net.core.somaxconn."""

    @model_validator(mode="after")
    def _app_fits(self) -> Self:
        for option in ("directory", "ref"):
            if getattr(self, option) is not None and ":" not in self.app:
                message = f"{self.app!r} is built in, and {option!r} is for an app of your own"
                raise WrongOption(message, option, "app", hint="leave it out")
        protocol = self.served_app.protocol
        if protocol is not None and protocol not in self.spoken():
            raise self._refusal(protocol)
        return self

    def spoken(self) -> tuple[str, ...]:
        """Return the protocols that it can serve with these options."""
        return self.speaks

    def imports(self) -> tuple[str, ...]:
        """Return what it imports itself with these options."""
        return self.modules

    @property
    def served_app(self) -> App:
        """The app that the suite names."""
        return app_of(self.app)

    def needs(self) -> Iterable[Need]:
        yield from super().needs()
        yield from (Need(module, INSTALL, "module") for module in self.imports())
        yield from self.served_app.needs()

    def version(self, site: Site) -> Command | None:
        if not self.modules:
            return Command(site.python, "--version")
        library = self.modules[0]
        code = f"from importlib.metadata import version; print({library!r}, version({library!r}))"
        return Command(site.python, "-c", code)

    def fingerprint(self, suite_folder: Path) -> str:
        if ":" not in self.app:
            return _built_in_fingerprint(self.app, None, Path())
        return _fingerprint(self.app, self.directory, suite_folder)

    def code(self, suite_folder: Path) -> Path | None:
        return folder_of(self.app, self.directory, suite_folder) if (":" in self.app) else None

    def check_code(self, suite_folder: Path) -> None:
        """Raise WrongOption if the user's own app, its module or their folder is missing."""
        super().check_code(suite_folder)
        if (folder := self.code(suite_folder)) is None:
            return
        if folder.resolve() == Path(folder.anchor):
            hint = "name the folder of the app alone"
            raise WrongOption(f"{folder} is the whole file system", "directory", hint=hint)
        # A server's further words may name further folders to import from.
        words = "PYTHONPATH" in self.environment or "arguments" in self.model_fields_set
        elsewhere = words or self.runtime is not None
        check(self.served_app.target, folder.resolve(), elsewhere=elsewhere)

    def folder(self, site: Site) -> Path:
        """Return the folder that the app is imported from."""
        return site.own(folder_of(self.app, self.directory, site.suite_folder))

    def process_environment(self, site: Site) -> dict[str, str]:
        """Return the environment of the server. Raises BenchforgeError when it is ambiguous."""
        return site.environment({key: text.filled(site) for key, text in self.environment.items()})

    def words(self, *options: str) -> list[str]:
        """Return options as words of a command line, those without a value left out."""
        values = {name.replace("_", "-"): getattr(self, name) for name in options}
        return [
            f"--{'' if value else 'no-'}{name}" if isinstance(value, bool) else f"--{name}={value}"
            for name, value in values.items()
            if value is not None
        ]

    def _refusal(self, protocol: str) -> WrongOption:
        chosen = getattr(self, self.decides, None)
        with_this = f" with {self.decides} {chosen!r}" if chosen else ""
        others = ", ".join(f"use = {name!r}" for name in PROTOCOLS[protocol] if name != self.name)
        ways = [f"{self.decides} = {self.choices[protocol]!r}"] if protocol in self.choices else []
        ways += [f"one of: {others}"] if others else []
        spoken = f"{self.name}{with_this} serves {' and '.join(self.spoken())}"
        message = f"app {self.app!r} speaks {protocol}, {spoken}"
        return WrongOption(
            message, "app", *filter(None, [self.decides]), hint=f"use {', or '.join(ways)}"
        )


def check(target: str, folder: Path, *, elsewhere: bool) -> None:
    """Raise WrongOption for a module that is neither in a folder nor possibly `elsewhere`."""
    module, _, attribute = target.partition(":")
    steps = module.split(".")
    if not _begins_in(folder, steps[0]):
        if not elsewhere and not _installed(steps[0]):
            raise _no_module(module, folder)
        return
    file = _file_of(folder, steps)
    if file is None:
        raise _no_module(module, folder)
    name = attribute.removesuffix("()").partition(".")[0]
    if file.suffix == ".py" and not _begins_in(file.parent, name):
        _check_name(name, file, compiles_here=not elsewhere)


def _begins_in(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or _module_in(folder, name) is not None


def _module_in(folder: Path, name: str) -> Path | None:
    files = (folder / f"{name}.py", *sorted(folder.glob(f"{name}.*so")), folder / f"{name}.pyc")
    return next((file for file in files if file.is_file()), None)


def _file_of(folder: Path, steps: Iterable[str]) -> Path | None:
    """Return the file of a dotted module, the folder of a package without one; None for neither."""
    parent = folder
    *packages, last = steps
    for step in packages:
        parent /= step
        if not parent.is_dir():
            return None
    if (parent / last).is_dir():
        return _module_in(parent / last, "__init__") or parent / last
    return _module_in(parent, last)


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _no_module(module: str, folder: Path) -> WrongOption:
    names = list(dict.fromkeys(_modules(folder)))
    near = difflib.get_close_matches(module, names, 1)
    ends = [name for name in names if name.rpartition(".")[2] == module.rpartition(".")[2]]
    guess = "".join(f"did you mean {name!r}? " for name in (near or ends)[:1])
    option = f"'directory' is the folder that {module.partition('.')[0]!r} is imported from"
    hint = f"{guess}{option}; it starts at the suite's folder"
    return WrongOption(f"no module {module!r} in {folder}", "app", "directory", hint=hint)


def _modules(folder: Path) -> Iterator[str]:
    for file in sorted(folder.glob("*.py")):
        yield file.stem
    for file in sorted(folder.glob("*/*.py")):
        yield f"{file.parent.name}.{file.stem}".removesuffix(".__init__")


def _check_name(name: str, file: Path, *, compiles_here: bool) -> None:
    try:
        text = file.read_bytes().decode("utf-8-sig")
        table = symtable.symtable(text, str(file), "exec")
    except SyntaxError as error:
        if compiles_here:
            message = f"{file}:{error.lineno}: {error.msg}"
            raise WrongOption(message, "app", hint="correct it: it cannot be imported") from error
        return
    except (OSError, ValueError, RecursionError):  # unreadable to us: the server will tell
        return
    names = set(_bound(table))
    if name in names or _UNTOLD.search(text):
        return
    near = difflib.get_close_matches(name, names, 1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    hint = f"{guess}an app is written as 'module:attribute', or as 'module:make_app()'"
    raise WrongOption(f"{file} has no {name!r}", "app", hint=hint)


def _bound(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names that a module binds, in its functions also by `global`."""
    at_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        bound = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
        if bound and (at_top or symbol.is_declared_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _bound(inner)
