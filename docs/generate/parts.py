"""The built-in parts: a page a kind, a section a part."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from benchforge.parts.kinds import Kind
from benchforge.parts.part import Backend, Loader, Metric, Part, RunsPython, Server, Service
from benchforge.parts.registry import Registry
from benchforge.parts.site import Site
from benchforge.suite.declared import STANDARD
from benchforge.suite.toml.document import in_toml
from docs.generate.text import doc_of, options_table, page_of, plain, table

_TITLES: Mapping[Kind, str] = {
    "server": "Servers",
    "backend": "Backends",
    "loader": "Load tools",
    "client": "Clients",
    "metric": "Metrics",
    "reporter": "Reporters",
    "reader": "Readers",
}
_ABOUT: Mapping[Kind, str] = {
    "backend": "A scenario names the backends that its servers need. Each server receives the "
    "values in capitals as environment variables.",
    "loader": "[pace](../pace.md) is part of benchforge; the others are separate programs.",
    "client": "HTTP libraries of Python, in programs that send one request after the other.",
    "metric": f"A suite without `[metrics]` has the standard set: {', '.join(STANDARD)}.",
    "reporter": "Every run writes csv, html and markdown, and prints answer, or terminal with "
    "--details. To use another reporter, name it with `benchforge run --report NAME` or "
    "`benchforge report --reporter NAME`.",
    "reader": "[`benchforge audit`](../how-to/audit.md) reads results of other tools by them. To "
    "name one, write `--as NAME`.",
}
# What must be given, where it must: enough for an example that can be read.
_GIVEN: Mapping[str, str] = {
    "command": 'command = ["./my-server", "--port", "{port}"]',
    "url": 'url = "http://127.0.0.1:8080"',
    "hyperfine": 'command = ["curl", "-s", "{url}"]\nrequests = 1',
}
_APPS = {
    "wsgi": "hello_wsgi",
    "asgi": "hello_asgi",
    "aiohttp": "aiohttp_agents",
    "tornado": "hello_tornado",
    "cherrypy": "hello_cherrypy",
    "socket": "pong_socket",
    "api_hour": "agents_api_hour",
}
_SUITE = """
```toml
benchforge = 1

[servers.hello]
use = "waitress"
app = "hello_wsgi"

[loaders.load]
use = "pace"

[scenarios.hello]
servers = ["hello"]
loaders = ["load"]
```
""".strip()
"What the examples of a page are added to."
_SITE = Site(
    label="example",
    folder=Path("/folder"),
    scratch=Path("/scratch"),
    address="127.0.0.1",
    ports={},
    python=Path("python"),
    programs={},
    backends={},
    suite_folder=Path(),
    as_root=False,
)


def pages() -> dict[str, str]:
    """Return the page of each kind, by its name."""
    registry = Registry()
    return {f"{kind}s": _page(kind, registry) for kind in _TITLES}


def _page(kind: Kind, registry: Registry) -> str:
    classes = [registry.part(kind, name) for name in registry.names(kind)]
    shared = _shared(classes)
    use = (
        ""
        if kind in {"reporter", "reader"}
        else f'Declared as `[{kind}s.LABEL]` with `use = "NAME"`.'
    )
    sections = [use, _ABOUT.get(kind, "")]
    if kind not in {"metric", "reporter", "reader"}:
        sections += ["Add the examples below to a suite such as this one:", _SUITE]
    if shared:
        chosen = set(_names(classes[0])) - shared
        sections += ["All of them have these options:", options_table(classes[0], chosen)]
    return page_of(_TITLES[kind], *sections, *(_section(one, shared) for one in classes))


def _shared(classes: Iterable[type[Part]]) -> set[str]:
    """Return the options that all parts have from the classes that they share."""
    first, *others = classes
    return {
        name
        for name, field in first.model_fields.items()
        if all(_same(field, other.model_fields.get(name)) for other in others)
    }


def _same(one: object, other: object) -> bool:
    return repr(one) == repr(other)


def _names(cls: type[Part]) -> Iterable[str]:
    return (field.alias or name for name, field in cls.model_fields.items())


def _section(cls: type[Part], shared: Iterable[str]) -> str:
    part = example(cls)
    return page_of(
        cls.name,
        doc_of(cls),
        _facts(cls, part),
        options_table(cls, shared),
        "" if isinstance(part, Metric) or cls.kind in {"reporter", "reader"} else _shown(cls),
    ).replace("# ", "## ", 1)


def _facts(cls: type[Part], part: Part) -> str:
    return table(("", ""), [(f"**{what}**", told) for what, told in _told(cls, part) if told])


def _told(cls: type[Part], part: Part) -> Iterable[tuple[str, str]]:
    speaks = getattr(cls, "speaks", ())
    yield "serves apps of", ", ".join(speaks)
    if isinstance(part, Metric):
        yield "unit", part.unit if part.unit != "1" else "a number or a share, without a unit"
        yield "better", part.better
    yield "needs", "; ".join(_needed(part))
    if isinstance(part, Server | Backend):
        yield "provides", ", ".join(f"`{name}`" for name in _given(part))
        yield "stopped by", part.stop_signal.name
    if isinstance(part, Loader):
        ran = part.proved == "run"
        yield "parser tested with", "the real tool" if ran else "recordings of the tool's output"
    if isinstance(part, RunsPython):
        yield "interpreter", "benchforge's own, or another one through `runtime`"


def _needed(part: Part) -> Iterator[str]:
    """Yield what the part itself needs, by how it is installed: what its app imports is its own."""
    app = getattr(part, "known", None)
    of_app = set(app.needs()) if app else set()
    by_how: dict[str, list[str]] = {}
    for need in part.needs():
        if need not in of_app:
            by_how.setdefault(need.how, []).append(need.name)
    for how, names in by_how.items():
        yield f"{', '.join(f'`{name}`' for name in names)}: {plain(how)}"


def _given(part: Service) -> Iterable[str]:
    return part.gives(replace(_SITE, ports=dict.fromkeys(part.ports, 8000)))


def example(cls: type[Part]) -> Part:
    """Return a part with no more than what must be given."""
    return cls.model_validate(tomllib.loads(_options(cls)))


def _options(cls: type[Part]) -> str:
    if speaks := getattr(cls, "speaks", ()):
        return f"app = {in_toml(_APPS[speaks[0]])}"
    return _GIVEN.get(cls.name, "") if cls.kind in {"server", "loader"} else ""


def _shown(cls: type[Part]) -> str:
    lines = [f"[{cls.kind}s.{cls.name}]", f'use = "{cls.name}"', _options(cls)]
    return "\n".join(["```toml", *filter(None, lines), "```"])
