"""An app of the user's own: what is not there is told, before anything starts where it can be."""

from pathlib import Path

import pytest
from front_door import Bench, needed, needed_module
from suite_texts.files import suite_text

OWN = 'use = "gunicorn", app = "site.wsgi:application", directory = "code"'
SUITE = """\
benchforge = 1
servers.mine = { use = "gunicorn", app = "site.wsgi:application", directory = "code" }
loaders.closed = { use = "pace", duration = "200ms" }
scenarios.hello = { servers = ["mine"], loaders = ["closed"] }
repeat = { blocks = 1, quiet = "off" }
"""


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A folder with a package `shop` and two modules."""
    (tmp_path / "code/shop").mkdir(parents=True)
    (tmp_path / "code/shop/wsgi.py").write_text("application = None\n")
    (tmp_path / "code/made.py").write_text("def create_app():\n    global late\n    late = 1\n")
    (tmp_path / "code/broken.py").write_text("application = = None\n")
    (tmp_path / "code/lazy.py").write_text("def __getattr__(name):\n    return name\n")
    return tmp_path / "code"


def checked(bench: Bench, folder: Path, written: str) -> tuple[int, str]:
    assert OWN in SUITE
    (folder / "suite.toml").write_text(SUITE.replace(OWN, written))
    call = bench("check", "suite.toml")
    return call.code, call.err


def gunicorn(app: str, more: str = "") -> str:
    """Return a table of gunicorn with an app of the folder."""
    return f'use = "gunicorn", app = "{app}", directory = "code"{more}'


GOOD = ("shop.wsgi:application", "shop:wsgi", "made:create_app()", "made:late", "lazy:whatever")
APP = "error: suite.toml:2:36: servers.mine.app: "
OPEN = "suite.toml:2:35: servers.mine.command: no closing quotation"
ELSEWHERE = 'environment = { PYTHONPATH = "x" }', 'arguments = ["-c", "x"]'


@pytest.mark.parametrize(
    ("written", "says"),
    [
        *((gunicorn(app), ()) for app in (*GOOD, "wsgiref.simple_server:demo_app")),
        *((gunicorn("nowhere:application", f", {more}"), ()) for more in ELSEWHERE),
        ('use = "command", command = "python3 app.py --port {port}"', ()),
        ('use = "command", command = "sh -c \'exit 0\'"', ()),
        ('use = "command", command = "say it\'s"', (OPEN,)),
        (gunicorn("wsgi:application"), (APP, "no module 'wsgi' in", "did you mean 'shop.wsgi'?")),
        (gunicorn("shop.wsgy:application"), (APP, "no module 'shop.wsgy' in", "mean 'shop.wsgi'?")),
        (
            gunicorn("shop.wsgi:aplication"),
            (APP, "wsgi.py has no 'aplication'", "mean 'application'?"),
        ),
        (gunicorn("made:app"), (APP, "made.py has no 'app'", "'module:make_app()'")),
        (
            gunicorn("broken:application"),
            (APP, "broken.py:1: invalid syntax", "it cannot be imported"),
        ),
    ],
)
def test_an_app_is_looked_for_where_it_is_written(
    bench: Bench, tmp_path: Path, code: Path, written: str, says: tuple[str, ...]
) -> None:
    needed_module("gunicorn")
    exit_code, err = checked(bench, tmp_path, written)
    assert (exit_code, bool(err)) == ((2, True) if says else (0, False)), err
    assert [text for text in says if text not in err] == []


COMMAND = 'use = "command", command = ["sh", "{port}"], directory = "code"'


@pytest.mark.parametrize("written", [OWN, COMMAND])
def test_a_directory_that_is_not_there_is_told(bench: Bench, tmp_path: Path, written: str) -> None:
    exit_code, err = checked(bench, tmp_path, written)
    assert exit_code == 2
    assert f"servers.mine.directory: no folder {tmp_path / 'code'}" in err
    bench("run", "suite.toml", code=2)
    assert not (tmp_path / "results").exists()


def test_a_missing_package_has_an_install_hint(bench: Bench, tmp_path: Path, code: Path) -> None:
    needed_module("gunicorn")
    (code / "shop/wsgi.py").write_text("import no_such_package\napplication = None\n")
    (code / "own.py").write_text("import shop.wsgi\n")
    text = SUITE.replace("site.wsgi", "shop.wsgi").replace('["mine"]', '["mine", "own", "venv"]')
    text += suite_text("end_to_end/own_app")
    (tmp_path / "suite.toml").write_text(text)
    lines = bench("run", "--details", "suite.toml", code=4).out.splitlines()
    hints = [line for line in lines if line.startswith("hint: ")]
    assert any('runtime = "mine" in servers.mine; see docs/how-to/packages-of' in h for h in hints)
    assert any("install no_such_package where runtimes.mine.python is from" in h for h in hints)
    assert any("for the Python that the command names" in h for h in hints)
    assert (Path(__file__).parents[2] / "docs/how-to/packages-of-your-app.md").is_file()


def test_a_dead_url_is_named_with_host_port_and_reason(bench: Bench, tmp_path: Path) -> None:
    dead = '[servers.dead]\nuse = "url"\nurl = "http://127.0.0.1:9"\nready_within = "300ms"\n'
    (tmp_path / "suite.toml").write_text(SUITE.replace('["mine"]', '["dead"]') + dead)
    call = bench("run", "--details", "suite.toml", code=4)
    assert "nothing listens on its port, 127.0.0.1:9" in call.out
    assert "hint: start it at 127.0.0.1:9, or correct its url" in call.out


def test_an_unreachable_database_in_its_clients_words(bench: Bench, tmp_path: Path) -> None:
    needed("psql")
    text = SUITE.replace('app = "site.wsgi:application", directory = "code"', 'app = "hello_wsgi"')
    text = text.replace('servers = ["mine"]', 'servers = ["mine"], backends = ["db"]') + (
        '[backends.db]\nuse = "postgresql"\nready_within = "{within}"\n'
        'url = "postgresql://nobody@127.0.0.1:9/shop"\n'
    )
    for within in ("0.3s", "3s", "30s"):  # a loud machine may not have started the client within
        (tmp_path / "suite.toml").write_text(text.replace("{within}", within))
        call = bench("run", "--details", "suite.toml", code=4)
        if "psql: error: connection to server" in call.out:
            break
    says = f"db: not ready within {within[:-1]} s: psql: error: connection to server at"
    assert says in " ".join(call.out.split())
    assert "port 9 failed: Connection refused" in call.out
    assert "hint: start it, or correct backends.db.url" in call.out
