"""Parts by kind and name, imported only when somebody asks for them; and who listens to hooks."""

import contextlib
import difflib
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, EntryPoint
from types import FunctionType, MethodType, ModuleType
from typing import Any, Self

import pluggy

from benchforge.errors import BenchforgeError, Unusable
from benchforge.model.values.bounds import in_time
from benchforge.model.values.distribution import DISTRIBUTION, entry_points, own_distribution
from benchforge.parts import hookspecs
from benchforge.parts.fault import in_a_line
from benchforge.parts.kinds import GROUP, KINDS, Kind
from benchforge.parts.part import Part
from benchforge.parts.sound import unnamed, unsound

IMPORT_WITHIN_S = 30
_LATE = f"it was not done after {IMPORT_WITHIN_S} s"
_REPAIR = "repair or uninstall it; suites that do not name it still run"


@dataclass(frozen=True)
class Origin:
    """Where a plugin comes from: its entry point, and the distribution that has it."""

    name: str
    value: str
    distribution: str = ""
    version: str = ""

    @classmethod
    def of(cls, point: EntryPoint) -> Self:
        """Return the origin of an entry point."""
        return cls(point.name, point.value, *(_named_version(point.dist) if point.dist else ()))

    def __str__(self) -> str:
        distribution = f", of {self.distribution} {self.version}" if self.distribution else ""
        return f"{self.name} ({self.value}{distribution})"


@cache
def _named_version(distribution: Distribution) -> tuple[str, str]:
    """Name and version; each of the two parses all metadata, which several plugins share."""
    return distribution.name, distribution.version


def brought() -> tuple[EntryPoint, ...]:
    """Return the entry points of benchforge itself, whatever else is installed."""
    return tuple(own_distribution().entry_points.select(group=GROUP))


class Registry:
    """Finds parts: an entry point named `<kind>-<part>` is imported when the part is used.

    Its value is the part's class, or a module with hooks, of which `benchforge_parts` brings parts.
    An entry point of another name is a listener: `listen` imports all of them.
    """

    def __init__(self, points: tuple[EntryPoint, ...] | None = None) -> None:
        listed = tuple(entry_points(GROUP)) if points is None else points
        self._points: dict[str, list[EntryPoint]] = {}
        for point in listed:
            same = self._points.setdefault(point.name, [])
            if all(other.value != point.value for other in same):
                same.append(point)
        self._plugins, self._alone = _manager(), _manager()
        self._brought: dict[tuple[Kind, str], dict[str, type[Part]]] = {}
        self._origins: dict[str, Origin] = {}
        "By the name that pluggy has for a plugin."
        self._broken: dict[EntryPoint, Unusable] = {}
        self._judged: dict[tuple[Kind, str], type[Part] | Unusable] = {}
        "What is known of a part until another plugin comes: a suite asks once for each label."
        self._silenced: set[tuple[str, str]] = set()

    @property
    def hook(self) -> pluggy.HookRelay:
        """The hooks of all plugins that are loaded."""
        return self._plugins.hook

    def names(self, kind: Kind) -> list[str]:
        """Return the names of the parts of a kind, loaded or not."""
        named = {name for kind_, name in map(_named, self._points) if kind_ == kind}
        return sorted(named | {name for kind_, name in self._brought if kind_ == kind})

    def origins(self, kind: Kind, name: str) -> list[Origin]:
        """Return where a part comes from: of all plugins, if several bring one of that name."""
        points = self._points.get(f"{kind}-{name}", ())
        modules = {point.module for point in points}
        others = [self._origins[plugin] for plugin in self._brought.get((kind, name), ())]
        distinct = [origin for origin in others if origin.value.partition(":")[0] not in modules]
        return [*map(Origin.of, points), *distinct]

    def listeners(self) -> list[Origin]:
        """Return the entry points that are named like no part: they hear of every run."""
        return [Origin.of(point) for point in self._listening()]

    def part(self, kind: Kind, name: str) -> type[Part]:
        """Return a part's class. Raises Unusable if no plugin or several bring it, or it fails."""
        if (kind, name) not in self._judged:
            try:
                self._judged[kind, name] = self._part(kind, name)
            except Unusable as error:
                self._judged[kind, name] = error
        outcome = self._judged[kind, name]
        if isinstance(outcome, Unusable):
            raise outcome
        return outcome

    def _part(self, kind: Kind, name: str) -> type[Part]:
        points = self._points.get(f"{kind}-{name}", [])
        if len(points) == 1:
            self._load(points[0])
        if len(origins := self.origins(kind, name)) > 1:
            message = f"{len(origins)} plugins bring a {kind} named {name!r}: "
            message += " and ".join(map(str, origins))
            raise Unusable(message, "uninstall all of them but one")
        part = next(iter(self._brought.get((kind, name), {}).values()), None)
        if part is None and points:
            brought = [
                f"{kind_} {other!r}"
                for (kind_, other), by in self._brought.items()
                if any(self._origins[plugin].value == points[0].value for plugin in by)
            ]
            message = f"plugin {Origin.of(points[0])} brings no {kind} named {name!r}"
            raise Unusable(message, f"it brings: {', '.join(brought) or 'nothing'}")
        if part is None:
            raise Unusable(f"no {kind} named {name!r}", self.nearest(kind, name))
        # Tests judge our own parts: to judge them again would take a fifth of `plugins list`.
        if origins[0].distribution != DISTRIBUTION and (fault := unsound(part)):
            raise Unusable(f"plugin {origins[0]}: {fault}", "see: benchforge plugins check " + name)
        return part

    def nearest(self, kind: Kind, name: str) -> str:
        """Return a hint: the nearest name, and which there are."""
        names = self.names(kind)
        near = difflib.get_close_matches(name, names, 1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        return f"{guess}installed: {', '.join(names) or 'none'}; others come as plugins"

    def register(self, plugin: object, origin: Origin | None = None) -> None:
        """Take a part's class, or an imported plugin's parts. Raises Unusable for a wrong hook."""
        self._judged.clear()
        if isinstance(plugin, type) and issubclass(plugin, Part):
            self._take([plugin], origin or Origin(plugin.__name__, plugin.__module__), repr(plugin))
            return
        name = self._plugins.get_canonical_name(plugin)
        module = getattr(plugin, "__name__", type(plugin).__module__)
        origin = origin or Origin(getattr(plugin, "__name__", type(plugin).__name__), module)
        try:
            with _out_of_the_way():
                parts = _parts_of(plugin, self._alone)
        except pluggy.PluginValidationError as error:
            message = " ".join(str(error).split())
            raise Unusable(f"plugin {origin}: {message}", _REPAIR) from error
        except (Exception, SystemExit) as error:  # a plugin is somebody else's code
            message = f"benchforge_parts: {in_a_line(error)}"
            raise Unusable(f"plugin {origin}: {message}", _REPAIR) from error
        self._take(parts, origin, name, "benchforge_parts: ")
        self._plugins.register(plugin)

    def _take(self, parts: list[type[Part]], origin: Origin, plugin: str, hook: str = "") -> None:
        for part in parts:
            if fault := unnamed(part):
                raise Unusable(f"plugin {origin}: {hook}{fault}", _REPAIR)
        self._origins[plugin] = origin
        for part in parts:
            self._brought.setdefault((part.kind, part.name), {})[plugin] = part

    def listen(self, complain: Callable[[str], None]) -> None:
        """Import every listener; complain about a broken one, and import the others."""
        for point in self._listening():
            try:
                self._load(point)
            except Unusable as error:
                complain(f"{error.message}; its hooks are not called")

    def tell(self, hook: str, complain: Callable[[str], None], **news: object) -> dict[str, object]:
        """Call a hook of each plugin, return answers by plugin, and silence one that raises."""
        answers_by_plugin: dict[str, object] = {}
        for plugin in self._hearing(hook):
            if (plugin, hook) in self._silenced:
                continue
            origin = self._origins[plugin]
            try:
                answers = self._call(plugin, hook, **news)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - complain names the plugin
                self._silenced.add((plugin, hook))
                complain(f"plugin {origin}: {hook}: {in_a_line(error)}; it is not called again")
            else:
                if answers:
                    answers_by_plugin[origin.name] = answers[0]
        return answers_by_plugin

    def consult(self, hook: str, **news: object) -> None:
        """Call a hook of each plugin. Raises Unusable with the plugin's name and reason."""
        for plugin in self._hearing(hook):
            origin = self._origins[plugin]
            try:
                self._call(plugin, hook, **news)
            except BenchforgeError as error:
                raise Unusable(f"plugin {origin}: {error.message}", error.hint) from error
            except (Exception, SystemExit) as error:
                raise Unusable(f"plugin {origin}: {hook}: {in_a_line(error)}", _REPAIR) from error

    def _listening(self) -> list[EntryPoint]:
        listed = (point for points in self._points.values() for point in points)
        return [point for point in listed if _named(point.name)[0] not in KINDS]

    def _hearing(self, hook: str) -> list[str]:
        callers = self._plugins.get_hookcallers
        return [
            name
            for name, plugin in self._plugins.list_name_plugin()
            if any(caller.name == hook for caller in callers(plugin) or ())
        ]

    def _call(self, plugin: str, hook: str, **news: object) -> list[Any]:
        others = [plugin_ for name, plugin_ in self._plugins.list_name_plugin() if name != plugin]
        with _out_of_the_way():
            answers: list[Any] = self._plugins.subset_hook_caller(hook, others)(**news)
        return answers

    def _load(self, point: EntryPoint) -> None:
        """Import a plugin, once. Raises Unusable, the same each time, when it is broken."""
        if point in self._broken:
            raise self._broken[point]
        try:
            self._loaded(point)
        except Unusable as error:
            self._broken[point] = error
            raise

    def _loaded(self, point: EntryPoint) -> None:
        origin = Origin.of(point)
        try:
            with _out_of_the_way(), in_time(IMPORT_WITHIN_S, _LATE):
                plugin = point.load()
        except (Exception, SystemExit) as error:  # a plugin is somebody else's code
            message = f"cannot be imported: {in_a_line(error)}"
            raise Unusable(f"plugin {origin} {message}", _REPAIR) from error
        if repr(plugin) not in self._origins and not self._plugins.is_registered(plugin):
            self.register(plugin, origin)


_HOOKABLE = (FunctionType, MethodType, classmethod, staticmethod)


class _Hooks(pluggy.PluginManager):
    """A manager that looks closely only at what may be a hook: of a module's names few are."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """Return the options of a hook of a plugin; None for what is no hook."""
        if isinstance(plugin, ModuleType) and not isinstance(vars(plugin).get(name), _HOOKABLE):
            return None
        return super().parse_hookimpl_opts(plugin, name)


def _manager() -> pluggy.PluginManager:
    manager = _Hooks("benchforge")
    manager.add_hookspecs(hookspecs)
    return manager


def _parts_of(plugin: object, alone: pluggy.PluginManager) -> list[type[Part]]:
    """Return what a plugin brings. Raises PluginValidationError, and whatever the plugin raises."""
    alone.register(plugin)
    try:
        alone.check_pending()
        return [part for brought in alone.hook.benchforge_parts() for part in brought]
    finally:
        alone.unregister(plugin)


def _named(entry: str) -> tuple[str, str]:
    kind, _, name = entry.partition("-")
    return kind, name


@contextlib.contextmanager
def _out_of_the_way() -> Iterator[None]:
    """Lead what a plugin prints to stderr: stdout may be JSON that somebody reads."""
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        # `unsound` reports it with the plugin's name.
        warnings.filterwarnings("ignore", 'Field name ".*" in ".*" shadows')
        yield
