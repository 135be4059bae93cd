"""What the pages show is what happens: every block is run, read or imported, every link leads."""

import ast
import contextlib
import importlib
import json
import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from browser import Headless
from documents.pages import DOCS, ROOT, Block, anchors, blocks, links, pages, shows_blocks
from documents.terminal import NoRule, Terminal, lines, pattern
from front_door import captured
from hosts_lab import lab

from benchforge.cli.plugins.options import options
from benchforge.model.suite.code import Runtime
from benchforge.model.suite.placement import Tuning
from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.parts.kinds import Kind
from benchforge.parts.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load
from benchforge.suite.suite import Repeat, Scenario, Wanted
from docs.generate import __main__ as reference

_NAMED = re.compile(r"# ([\w./-]+\.\w+)\n")
_NAMED_SQL = re.compile(r"-- ([\w./-]+\.sql)\n")
TABLES = {"duckdb", "pandas", "polars"}
"Libraries of readers, which are not installed: tests/results/test_opened.py runs their lines."
SEVERAL_HOSTS = "docs/how-to/several-hosts.md"
PAGES = {str(page.relative_to(ROOT)): page for page in pages()}
TOUR = [name for name in PAGES if re.match("docs/(architecture|contributing|decisions)", name)]
_FILE_IN_TEXT = re.compile(r"`((?!docs/_build)[\w.-]+(?:/[\w.-]+)+/?|[\w-]+\.(?:py|toml|txt|css))`")
WITH_BLOCKS = [name for name, page in PAGES.items() if shows_blocks(page)]


class Page:
    """A page that is followed, block by block, in a folder of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.terminal = Terminal(folder)
        self.suite: Path | None = None
        self.monkeypatch = monkeypatch

    @property
    def here(self) -> Path:
        return self.terminal.here

    def follow(self, block: Block) -> None:
        match block.language:
            case "toml":
                self.toml(block)
            case "console":
                self.terminal.run(block)
            case "python":
                self.python(block)
            case "json":
                json.loads(block.text)
            case "sql":
                self.sql(block)
            case "text":
                assert not block.text.startswith("$ "), f"{block.where}: a command is no text"
            case other:
                raise NoRule(f"{block.where}: no rule for {other or 'a block without language'}")

    def toml(self, block: Block) -> None:
        """A suite, a named file, or what is added to the page's suite so far."""
        named = _NAMED.match(block.text)
        if named and "\nbenchforge = 1" not in block.text:
            tomllib.loads(block.text)
            self.write(named[1], block.text)
            return
        if re.search(r"^benchforge = 1$", block.text, re.MULTILINE):
            self.suite = self.write(named[1] if named else "suite.toml", block.text)
        else:
            assert self.suite is not None, f"{block.where}: a piece without a suite before it"
            self.suite.write_text(f"{self.suite.read_text()}\n{block.text}")
        self.read(self.suite)

    def read(self, suite: Path) -> None:
        """Resolve every name of a suite, by itself and with each of its profiles."""
        text = suite.read_text()
        for name in re.findall(r'env = "(\w+)"', text):
            self.monkeypatch.setenv(name, "told by the environment")
            self.terminal.environment[name] = "told by the environment"
        for profile in (None, *tomllib.loads(text).get("profiles", ())):
            assert list(expand(load(suite, Registry(), profile=profile)))

    def python(self, block: Block) -> None:
        """A file that is named is written; whatever it imports must be there."""
        if named := _NAMED.match(block.text):
            self.write(named[1], block.text)
        for node in ast.walk(ast.parse(block.text, block.where)):
            if isinstance(node, ast.ImportFrom) and node.module:
                module = importlib.import_module(node.module)
                for name in node.names:
                    assert hasattr(module, name.name), f"{block.where}: no {name.name}"
            elif isinstance(node, ast.Import):
                for name in node.names:
                    if name.name not in TABLES:
                        importlib.import_module(name.name)

    def sql(self, block: Block) -> None:
        """A file of a dataset, which a run of the page loads."""
        named = _NAMED_SQL.match(block.text)
        if named is None:
            raise NoRule(f"{block.where}: SQL begins with the name of its file: -- data/schema.sql")
        self.write(named[1], block.text)

    def write(self, name: str, text: str) -> Path:
        file = self.here / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


@pytest.mark.parametrize("name", WITH_BLOCKS)
def test_every_block_is_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (sandbox := tmp_path / "here").mkdir()
    for folder in ("suites", "docs", "plugins"):
        (sandbox / folder).symlink_to(ROOT / folder)
    # The reader's own site, which the pages take for granted.
    (tmp_path / "mysite/mysite").mkdir(parents=True)
    (tmp_path / "mysite/mysite/wsgi.py").write_text("application = None\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    page = Page(sandbox, monkeypatch)
    with contextlib.ExitStack() as stack:
        if name == SEVERAL_HOSTS:
            (tmp_path / "lab").mkdir()
            hosts = stack.enter_context(lab(tmp_path / "lab", ("load", "app", "db")))
            page.terminal.environment.update(hosts.environment)
        stack.callback(page.terminal.end)
        for block in blocks(PAGES[name]):
            page.follow(block)


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    page = PAGES[name]
    for link in links(page):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name}: {link}"
        assert ROOT in target.parents, f"{name}: {link} leads out of the repository"
        if anchor:
            assert anchor in anchors(target), f"{name}: {link}: {sorted(anchors(target))}"


@pytest.mark.parametrize("name", TOUR)
def test_each_file_that_the_tour_names_exists(name: str) -> None:
    """A name may leave out the folders that its room tells."""
    named = _FILE_IN_TEXT.findall(PAGES[name].read_text())
    assert not [file for file in named if f"/{file.rstrip('/')}/" not in tracked()]


@cache
def tracked() -> str:
    """Return the path of each file of the repository, between slashes, a line each."""
    folders = ("benchforge", "plugins", "tests", "docs", "suites", "schemas", "scripts")
    paths = (path for name in folders for path in (ROOT / name).rglob("*"))
    return "\n".join(f"/{path.relative_to(ROOT)}/" for path in (ROOT / "pyproject.toml", *paths))


def test_the_first_page_leads_to_all_others() -> None:
    first = DOCS / "index.md"
    led = {(DOCS / link.partition("#")[0]).resolve() for link in links(first) if ":" not in link}
    assert {page for page in PAGES.values() if DOCS in page.parents} - {first} - led == set()


def test_the_reference_follows_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["docs.generate", str(tmp_path)])
    reference.main()
    drawn = {page.name: page.read_text() for page in tmp_path.glob("*.md")}
    content = {page.name: page.read_text() for page in (DOCS / "reference").glob("*.md")}
    assert drawn.keys() == content.keys(), "make docs draws them again"
    for name, text in drawn.items():
        assert text == content[name], f"{name} is not what the code says: make docs draws it again"
    datasets = [file.parent.name for file in ROOT.glob("benchforge/parts/**/dataset.toml")]
    assert datasets
    assert all(f"| `{name}` |" in drawn["apps-and-datasets.md"] for name in datasets)


def built(folder: Path) -> Path:
    """Build the pages, and return their folder."""
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(folder / "d")]
    done = captured([*words, str(DOCS), str(folder / "html")])
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


@pytest.mark.exhaustive
def test_the_search_works_from_disk(tmp_path: Path) -> None:
    with Headless() as browser, browser.visit(built(tmp_path) / "index.html") as visit:
        visit.page.fill("input[name=q]", "waivers")
        visit.page.press("input[name=q]", "Enter")
        result = visit.page.wait_for_selector("ul.search a[href*='how-to/gate.html']")
        assert result is not None
        result.click()
        visit.page.wait_for_selector("text=Fail a pull request that makes a server slower")
        assert not [url for url in visit.requests if not url.startswith("file:")]


def test_the_pages_build_without_a_warning_and_without_the_network(tmp_path: Path) -> None:
    loads = re.compile(r'<(?:script|img|link rel="stylesheet")[^>]*"https?://')
    for page in built(tmp_path).rglob("*.html"):
        assert not loads.search(page.read_text()), page


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_option_of_every_part_has_a_sentence(kind: Kind) -> None:
    for name in Registry().names(kind):
        cls = Registry().part(kind, name)
        assert cls.__doc__
        assert [option.name for option in options(cls) if not option.doc] == []


@pytest.mark.parametrize("model", [Repeat, Scenario, Wanted, Request, Expect, Runtime, Tuning])
def test_every_key_of_a_suite_has_a_sentence_and_an_example(
    model: type[Repeat | Scenario | Wanted | Request | Expect | Runtime | Tuning],
) -> None:
    keys = {option.name for option in options(model)}
    assert [option.name for option in options(model) if not option.doc] == []
    text = "".join(block.text for block in blocks(DOCS / "reference/suite.md"))
    assert [key for key in keys if not re.search(rf"\b{key} = ", text)] == []


def block(text: str, language: str = "console") -> Block:
    return Block(ROOT / "README.md", 1, language, text)


@pytest.mark.parametrize(
    ("output", "out", "same"),
    [
        (["a", "...", "d"], "a\nb\nc\nd\n", True),
        (["a", "...", "d"], "a\nd\n", True),
        (["a", "...", "d"], "a\nb\n", False),
        (["in … of <...>."], "in 3 s of 20.\n", True),
        (["in … s"], "in 3 m\n", False),
        (["a.c"], "abc\n", False),
        (["a"], "a\nb\n", False),
    ],
)
def test_dots_stand_for_anything(output: list[str], out: str, same: bool) -> None:
    assert bool(pattern(output).fullmatch(out)) == same


@pytest.mark.parametrize(
    "wrong",
    [
        block("print(1)", "ruby"),
        block("plain", ""),
        block("[servers.a]\nuse = 'threads'", "toml"),
        block("no command"),
        block("$ rm -rf nothing"),
        block("$ benchforge validate nothing"),
        block("$ benchforge --version\nbenchforge 99\n"),
        block("$ make there-is-no-such-target"),
        block("$ pip install '.[nonsense]'"),
        block("$ pip install 'benchforge[all]'"),
        block("$ apt-get install nonsense"),
        block("$ echo", "text"),
        block("from benchforge.plugin import Nonsense", "python"),
    ],
    ids=lambda wrong: wrong.text.splitlines()[0],
)
def test_a_page_with_faults(wrong: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError):
        Page(tmp_path, monkeypatch).follow(wrong)


def test_commands_and_what_they_print_are_told_apart() -> None:
    first, second = lines(block("$ a\none\ntwo\n$ echo $?\n0\n"))
    assert (first.command, first.shown) == ("a", ("one", "two"))
    assert (second.command, second.shown) == ("echo $?", ("0",))
