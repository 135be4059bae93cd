"""What holds for every built-in app: it says truly what it is, and runs where old Pythons do."""

import ast
import re
import sys
from pathlib import Path

import benchforge_servers
import pytest
from benchforge_servers.python.app_server import PROTOCOLS, App, app_of, built_in, folder_of
from front_door import captured, needed_module
from serving.apps import TOLD

NAMES = built_in()
# API-Hour has an environment of its own: what it serves is tested with the server.
HERE = [name for name in NAMES if app_of(name).protocol != "api_hour"]
APPS = Path(benchforge_servers.__file__).parent / "apps"
SOME_ADDRESS = {
    "DATABASE_URL": "postgresql://bench@127.0.0.1:1/benchmarks",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "VIRTUOSO_URL": "http://127.0.0.1:1/sparql",
    "VIRTUOSO_GRAPH": "http://graph-uri",
}
IMPORTED = """
import sys
from importlib import import_module
target, *modules = sys.argv[1:]
module, attribute = target.split(":")
assert getattr(import_module(module), attribute) is not None
if "django" in modules:
    from django.db import connections
    connections["default"]  # imports its driver
print(*[name for name in modules if name in sys.modules])
"""


def code_of(name: str) -> dict[str, str]:
    """Return the modules of an app that its object needs, and their code."""
    folder, actual = folder_of(name, None, Path()), dict[str, str]()
    waiting = [app_of(name).target.partition(":")[0]]
    while waiting:
        module = waiting.pop()
        actual[module] = (folder / f"{module}.py").read_text()
        nearby = {item for item in imports(actual[module]) if (folder / f"{item}.py").exists()}
        waiting.extend(nearby - set(actual))
    return actual


def imports(code: str) -> set[str]:
    """Return the modules that code imports; code that Python 3.9 cannot read is refused."""
    names = list[str]()
    for node in ast.walk(ast.parse(code, feature_version=(3, 9))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return {name.partition(".")[0] for name in names}


def third_party(name: str) -> set[str]:
    code = code_of(name)
    everything = {module for text in code.values() for module in imports(text)}
    return everything - set(code) - set(sys.stdlib_module_names)


@pytest.mark.parametrize("name", NAMES)
def test_an_app_says_what_it_is(name: str) -> None:
    app: App = app_of(name)
    assert app.protocol in PROTOCOLS
    study = r"(The \w+ of )?[Ss]tudy (PC|CP|RA|AH|WS)\b"
    assert re.match(rf"{study}|A shop with |Six kinds of requests ", app.description) is not None
    assert "\n" not in app.description
    # Whoever reads a suite sees which apps repeat a study's faults.
    assert name.endswith("_published") == (
        re.search(r"\bas published", app.description) is not None
    )


@pytest.mark.parametrize("name", NAMES)
def test_an_app_has_code_in_one_folder(name: str) -> None:
    folder = folder_of(name, None, Path())
    assert folder.is_dir()
    assert not (folder / "__init__.py").exists()
    if app_of(name).code is not None:
        assert app_of(folder.name).code is None
        assert [file.name for file in (APPS / name).iterdir()] == ["app.toml"]


@pytest.mark.parametrize("name", NAMES)
def test_an_app_declares_what_it_imports(name: str) -> None:
    app = app_of(name)
    assert third_party(name) <= set(app.modules)
    assert app.modules or not app.requires


@pytest.mark.parametrize("name", NAMES)
def test_an_app_declares_what_it_must_be_told(name: str) -> None:
    code = "\n".join(code_of(name).values())
    needed = re.findall(r'os\.environ(?:\[|\.get\()"(\w+)"[\])]', code)
    assert set(needed) == set(app_of(name).environment)
    assert set(re.findall(r'"([A-Z]+_[A-Z_]+)"', code)) & set(TOLD) <= {*needed, "AGENTS_POOL_SIZE"}


@pytest.mark.samples(14)
@pytest.mark.parametrize("name", HERE)
def test_an_app_is_imported_without_its_backend(name: str) -> None:
    app = app_of(name)
    for module in app.modules:
        needed_module(module)
    words = [sys.executable, "-c", IMPORTED, app.target, *app.modules]
    done = captured(words, cwd=folder_of(name, None, Path()), env=SOME_ADDRESS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == app.modules  # so none is declared in vain


def test_every_file_is_used_by_an_app() -> None:
    folders = {name: folder_of(name, None, Path()) for name in NAMES}
    used = {folder / f"{module}.py" for name, folder in folders.items() for module in code_of(name)}
    assert set(APPS.rglob("*.py")) == used
