"""Parts by kind and name, imported only when somebody asks for them."""

import difflib
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

import pluggy

from benchforge import hookspecs
from benchforge.errors import BenchforgeError, Unusable
from benchforge.parts.part import Kind, Part

GROUP = "benchforge"


class Registry:
    """Finds parts: an entry point named `<kind>-<part>` is imported when the part is asked for."""

    def __init__(self, points: tuple[EntryPoint, ...] | None = None) -> None:
        found = tuple(entry_points(group=GROUP)) if points is None else points
        self._points = {point.name: point for point in found}
        self._plugins = pluggy.PluginManager("benchforge")
        self._plugins.add_hookspecs(hookspecs)
        self._parts: dict[tuple[Kind, str], type[Part]] = {}
        # Historic: each plugin that is registered later is asked then.
        self._plugins.hook.benchforge_parts.call_historic(self._take, {})

    @property
    def hook(self) -> pluggy.HookRelay:
        """The hooks of all plugins that are loaded."""
        return self._plugins.hook

    def names(self, kind: Kind) -> list[str]:
        """Return the names of the parts of a kind, loaded or not."""
        start = f"{kind}-"
        named = {name.removeprefix(start) for name in self._points if name.startswith(start)}
        return sorted(named | {name for one, name in self._parts if one == kind})

    def part(self, kind: Kind, name: str) -> type[Part]:
        """Return the class of a part.

        Raises Unusable when there is none of that name, or its plugin is broken.
        """
        if (kind, name) not in self._parts and (point := self._points.get(f"{kind}-{name}")):
            self._load(point)
        if found := self._parts.get((kind, name)):
            return found
        raise Unusable(f"no {kind} named {name!r}", self.nearest(kind, name))

    def nearest(self, kind: Kind, name: str) -> str:
        """Return a hint: the nearest name, and which there are."""
        names = self.names(kind)
        near = difflib.get_close_matches(name, names, 1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        return f"{guess}installed: {', '.join(names) or 'none'}; others come as plugins"

    def register(self, plugin: object) -> None:
        """Take the parts of a plugin that is already imported."""
        self._plugins.register(plugin)

    def consult(self, hook: str, **news: object) -> None:
        """Call a hook of each plugin by itself: one that raises objects.

        Raises Unusable that names the plugin, with its reason.
        """
        plugins = self._plugins.list_name_plugin()
        for name, _ in plugins:
            others = [one for other, one in plugins if other != name]
            try:
                self._plugins.subset_hook_caller(hook, others)(**news)
            except BenchforgeError as error:
                raise Unusable(f"plugin {name}: {error.message}", error.hint) from error
            except Exception as error:  # a plugin is somebody else's code
                said = f"{hook}: {type(error).__name__}: {error}"
                raise Unusable(f"plugin {name}: {said}", "repair or uninstall it") from error

    def _take(self, parts: Iterable[type[Part]]) -> None:
        for part in parts:
            self._parts[part.kind, part.name] = part

    def _load(self, point: EntryPoint) -> None:
        try:
            plugin = point.load()
        except Exception as error:  # a plugin is somebody else's code
            raise Unusable(
                f"plugin {point.name} ({point.value}) cannot be imported: "
                f"{type(error).__name__}: {error}",
                "repair or uninstall it; suites that do not name it still run",
            ) from error
        if not self._plugins.is_registered(plugin):
            self.register(plugin)
