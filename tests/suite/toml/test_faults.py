"""All faults of a reading together: each once, in the order of the file."""

import pytest

from benchforge.suite.toml.document import Document, Setting
from benchforge.suite.toml.faults import Checked, Fault, SuiteErrors
from benchforge.suite.toml.source import parsed, sound

TEXT = 'name = "a"\n[servers."*"]\nworkers = "x"\n[repeat]\nblocks = "y"\n'


def document() -> Document:
    """A suite whose `workers` stands for the servers a and b, with `smoke` set by an option."""
    written = parsed("suite.toml", TEXT)
    star = ("servers", "*", "workers")
    for label in ("a", "b"):
        written.origins["servers", label, "workers"] = written.origins[star]
        written.starred["servers", label, "workers"] = star
    written.origins["smoke",] = Setting("--set smoke=1", ("smoke",))
    return written


def messages(*faults: Fault) -> list[str]:
    """The messages of these faults, in the order in which a person reads them."""

    def reading() -> Checked[None]:
        yield from faults

    with pytest.raises(SuiteErrors) as refused:
        sound(reading(), document())
    return [f"{fault.where}: {fault.message}" for fault in refused.value.faults]


def test_a_reading_without_a_fault_gives_its_value() -> None:
    def reading() -> Checked[int]:
        yield from ()
        return 7

    assert sound(reading(), document()) == 7


def test_faults_stand_in_the_order_of_the_file_whatever_was_looked_at_first() -> None:
    assert messages(
        Fault((), "no such scenario", option="--only x"),
        Fault(("smoke",), "not a switch"),
        Fault(("repeat", "blocks"), "no number"),
        Fault(("name",), "too short"),
    ) == [
        "suite.toml:1:1: name: too short",
        "suite.toml:5:1: repeat.blocks: no number",
        "--set smoke=1: not a switch",
        "--only x: no such scenario",
    ]


def test_a_value_that_was_written_for_several_labels_is_wrong_once() -> None:
    faults = [Fault(("servers", label, "workers"), "no number") for label in ("a", "b")]
    assert messages(*faults) == ["suite.toml:3:1: servers.a.workers: no number"]


def test_a_fault_of_the_model_stands_back_for_an_earlier_one_of_the_same_path() -> None:
    fault = Fault(("name",), "no name that we take")
    of_model = Fault(("name",), "expected text", of_model=True)
    elsewhere = Fault(("repeat", "blocks"), "expected a whole number", of_model=True)
    assert messages(fault, of_model, elsewhere) == [
        "suite.toml:1:1: name: no name that we take",
        "suite.toml:5:1: repeat.blocks: expected a whole number",
    ]
    assert len(messages(of_model, fault)) == 2
