"""What the README shows is what benchforge takes."""

import re
from pathlib import Path

from benchforge.registry import Registry
from benchforge.suite.expand import expand
from benchforge.suite.load import load

ROOT = Path(__file__).parents[1]


def test_the_suite_of_the_readme_can_be_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    path = tmp_path / "suite.toml"
    path.write_text(block)
    suite = load(path, Registry())
    assert {case.name.server for case in expand(suite)} == {"flask", "mine"}
    assert set(suite.servers) == {"flask", "mine", "any", "running"}
