"""The suites that benchforge brings have names, which stand wherever a suite's file may."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from front_door import Bench

from benchforge.cli.console.options import SuiteFile
from benchforge.suite.toml.built_in import brought

ROOT = Path(__file__).parents[3]


def test_each_suite_of_ours_has_the_name_of_its_file() -> None:
    files = list((ROOT / "suites").rglob("*.toml"))
    assert brought() == {file.stem: file for file in files}
    assert len(brought()) == len(files)  # no two share a name, in whatever folder
    assert list(brought()) == sorted(brought())
    assert {"macro", "systems", "api-hour", "cherrypy", "wsgi"} <= brought().keys()


@pytest.mark.parametrize(
    "words",
    [("check", "systems"), ("plan", "cherrypy"), ("doctor", "macro", "--only", "no-such")],
    ids=lambda words: words[0],
)
def test_a_name_stands_for_the_file(bench: Bench, words: tuple[str, ...]) -> None:
    by_name = bench(*words)
    by_path = bench(words[0], brought()[words[1]], *words[2:])
    assert by_name.code == by_path.code
    assert "no such file" not in by_name.all + by_path.all


def test_a_name_can_be_run_and_served(bench: Bench) -> None:
    ran = bench("run", "macro", "--profile", "quick", "--only", "no-such", code=2)
    assert "--only no-such: no such scenario" in ran.err
    served = bench("serve", "macro", "no-such", code=2)
    assert "suites/macro.toml: no server 'no-such' is declared" in served.err


def test_a_file_of_ones_own_comes_before_a_name(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "macro").write_text("benchforge = 1\n")
    assert "macro: no scenario is declared" in bench("check", "macro", code=2).err
    (tmp_path / "macro").unlink()
    (tmp_path / "macro").mkdir()  # a folder is no suite
    assert "systems" in bench("check", "systems").all


@pytest.mark.parametrize("command", ["run", "check", "plan", "doctor"])
@pytest.mark.parametrize("path", ["suites/macro.toml", "suites/studies/wsgi.toml"])
def test_a_path_to_what_is_brought_leads_to_its_name(bench: Bench, command: str, path: str) -> None:
    call = bench(command, path, code=2)
    name = Path(path).stem
    assert call.err == (
        f"error: {path}: no such file\n"
        f"hint: that name is a built-in suite: write {name} instead of the path\n"
    )


@pytest.mark.parametrize("words", [("run", "macor"), ("new", "suite", "--from", "macor.toml")])
def test_a_name_that_is_misspelt_leads_to_the_nearest(bench: Bench, words: tuple[str, ...]) -> None:
    err = bench(*words, code=2).err
    assert "hint: did you mean 'macro'? benchforge brings: api-hour, capacity, cherrypy, " in err


def test_a_shell_completes_names_and_files() -> None:
    import click  # noqa: PLC0415

    @click.command()
    @click.argument("suite", type=SuiteFile())
    def command(suite: Path) -> None:
        click.echo(str(suite))

    request = {"_X_COMPLETE": "bash_complete", "COMP_WORDS": "x mac", "COMP_CWORD": "1"}
    cli_runner = CliRunner().invoke(command, prog_name="x", env=request, complete_var="_X_COMPLETE")
    assert "plain,macro" in cli_runner.output
    assert "file,mac" in cli_runner.output
