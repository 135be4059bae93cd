"""What we are called where packages are installed: nobody is sent to somebody else's project."""

import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from front_door import Bench, captured

from benchforge.cli.plugins.new import begin
from benchforge.errors import Unusable
from benchforge.model.values import distribution
from benchforge.model.values.distribution import DISTRIBUTION, own_version
from benchforge.parts.kinds import KINDS, Kind
from benchforge.parts.registry import Registry

ROOT = Path(__file__).parents[2]
# Until there is a release, the index has nothing of ours: neither name may be fetched from it.
_NAME = r"(?<![\w./-])benchforge(-http)?(?![\w/.-])"
WRONG = [
    re.compile(rf"\b(install|add|download)\b[^\n,;`#]*{_NAME}"),
    re.compile(r"(?<![\w.])benchforge(-http)?\["),
    re.compile(r"pypi\.org/project/benchforge"),
    re.compile(r"dependencies = \[[^\]]*\"benchforge[\"<>=\[]"),
    # A wheel that was built here is ours, and twine is what it says.
    re.compile(r"(pipx(?! install dist/)|uvx(?! twine@| --from dist/)|uv tool)\b"),
]
OURS = {"pyproject.toml", "uv.lock", "CHANGELOG.md"}


def wrong(text: str) -> list[str]:
    return [match[0] for item in WRONG for match in item.finditer(text)]


def test_no_page_template_or_message_names_what_the_index_has_of_others() -> None:
    listed = captured(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], check=True)
    for name in listed.stdout.splitlines():
        if name in OURS or name.startswith("tests/") or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_text(errors="replace").replace("\\[", "[")
        assert wrong(text) == [], name


@pytest.mark.parametrize(
    "text",
    [
        "pip install benchforge",
        "pip install 'benchforge[servers]'",
        "f'pip install \"benchforge[{extra}]\"'",
        "pip install -U benchforge-http",
        "uv add benchforge",
        "uvx benchforge",
        "[benchforge](https://pypi.org/project/benchforge/)",
        'dependencies = ["click", "benchforge>=0.1"]',
    ],
)
def test_what_would_send_people_there_is_seen(text: str) -> None:
    assert wrong(text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_plugin_asks_for_our_distribution_and_fetches_none(
    kind: Kind, tmp_path: Path
) -> None:
    for file in begin(kind, "mine", tmp_path / "new", Registry()):
        assert wrong(file.read_text()) == [], file
    project = tomllib.loads((tmp_path / "new/pyproject.toml").read_text())["project"]
    assert project["dependencies"] == [DISTRIBUTION]
    readme = (tmp_path / "new/README.md").read_text()
    assert "pip install --no-index --no-deps --no-build-isolation -e ." in readme


def test_the_project_and_what_is_installed_are_called_alike(bench: Bench) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == DISTRIBUTION
    assert importlib.metadata.version(DISTRIBUTION) == own_version() == project["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (cited["cff-version"], cited["version"]) == ("1.2.0", own_version())
    wheels = re.findall(r"dist/(\S+\.whl)", (ROOT / "docs/how-to/install.md").read_text())
    assert {*wheels} == {f"benchforge_http-{own_version()}-py3-none-any.whl"}
    call = bench("--version")
    assert (call.code, call.out) == (0, f"benchforge {own_version()}\n")


def test_another_distribution_of_the_same_package_is_told_in_one_line(tmp_path: Path) -> None:
    site = tmp_path / "site"
    info = site / "benchforge-0.1.0.dist-info"
    for folder in (info, site / "benchforge"):
        folder.mkdir(parents=True)
    (site / "benchforge/__init__.py").touch()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: benchforge\nVersion: 0.1.0\n")
    # Behind ours on the path, as it is installed: else it would be imported.
    program = (
        f"import runpy, sys; sys.path.append({str(site)!r}); sys.argv[1:] = ['plugins', 'list']; "
        "runpy.run_module('benchforge', run_name='__main__')"
    )

    warning = (
        "warning: benchforge 0.1.0 installs a package named benchforge, too; uninstall both, "
        "then install benchforge-http again\n"
    )
    both = "benchforge/__init__.py,,\nbenchforge/cli.py,,\n"
    for files, says in (("benchforge_other/__init__.py,,\n", ""), (both, warning)):
        (info / "RECORD").write_text(files)
        done = captured([sys.executable, "-c", program], check=True, cwd=tmp_path)
        assert done.stderr == says


def test_code_without_its_distribution_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "DISTRIBUTION", "no-such-distribution")
    with pytest.raises(Unusable, match="is not installed: only its code is here"):
        own_version()
