"""Suites with a known answer: servers that wait before they answer, so that no CPU decides."""

from typing import NamedTuple

from planted.beside import program
from suite_texts.files import suite_text


class PlantedReport(NamedTuple):
    """A suite whose report must give a certain answer."""

    name: str
    sentence: str
    "Pattern of the beginning of the first line."
    suite: str


def _suite(name: str, north: str, south: str, blocks: int = 8, duration: str = "2s") -> str:
    servers = "\n".join(
        f"[servers.{label}]\n{program('servers/answers.py', '--port', '{port}', *words.split())}"
        for label, words in (("north", north), ("south", south))
    )
    return suite_text(
        "support/planted/reports", name=name, servers=servers, blocks=blocks, duration=duration
    )


PLANTED_REPORTS = (
    PlantedReport("better", "north serves ", _suite("better", "--wait 0.005", "--wait 0.009")),
    PlantedReport(
        "equal",
        "north and south differ by less than |south and north differ by less than ",
        _suite("equal", "--wait 0.006", "--wait 0.006 --type text/plain"),
    ),
    PlantedReport(
        "unresolved",
        "Undecided: ",
        _suite("unresolved", "--wait 0.006 --jitter 0.8", "--wait 0.0063 --jitter 0.8", blocks=4),
    ),
    PlantedReport(
        "unlike",
        "Not comparable: north and south did different work",
        _suite("unlike", "--wait 0.005", "--wait 0.008 --close"),
    ),
)
