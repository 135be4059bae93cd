"""A part of each kind: all that they import of benchforge is its door and the door's rooms."""

from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from benchforge.plugin import Accepts, Command, Duration, Metric, Reporter, Sample, Server
from benchforge.plugin.databases import DataBackend
from benchforge.plugin.drawing import JunitSuite, JunitTest, junit_xml
from benchforge.plugin.load_tools import Printing, counted, numbers, require

PROGRAMS = Path(__file__).parent


class Notes(DataBackend):
    """It sends its note to who connects."""

    name: ClassVar[str] = "notes"
    offers: ClassVar[tuple[str, ...]] = ("url", "NOTES_URL")
    ports: ClassVar[tuple[str, ...]] = ("notes",)

    note: str
    "What it sends."

    def hosts(self, url):
        return [urlsplit(url).hostname]

    def command(self, site):
        words = (site.address, site.ports["notes"], self.note)
        return Command(site.python, PROGRAMS / "notes.py", *words)

    def ready(self, site):
        return Accepts("notes")

    def gives(self, site):
        url = f"notes://{site.address}:{site.ports['notes']}"
        return {"url": url, "NOTES_URL": url}


class Reader(Server):
    """It answers with the note of its backend."""

    name: ClassVar[str] = "reader"

    def command(self, site):
        words = (site.python, PROGRAMS / "reader.py", site.address, site.port)
        return Command(*words, environment=site.environment({}))


class Knock(Printing):
    """One connection after the other."""

    name: ClassVar[str] = "knock"

    duration: Duration = Duration(2)
    "Length of the load."

    def needs(self):
        return []

    def version(self, site):
        return Command(site.python, "--version")

    def commands(self, target):
        return [Command(target.python, PROGRAMS / "knock.py", self.duration, target.url)]

    def reading(self, text):
        ((good, bad, lost, knocks, seconds),) = numbers(text, "# good, # bad, # lost of # in # s")
        require(good + bad + lost == knocks, f"{knocks} knocks")
        return counted(seconds, {"200": good, "500-599": bad}, {"lost": lost})

    def declared_s(self):
        return float(self.duration)

    def for_warm_up(self, seconds):
        return self.model_copy(update={"duration": Duration(seconds)})


class Answers(Metric):
    """Number of answers."""

    name: ClassVar[str] = "answers"
    unit: ClassVar[str] = "1"
    better: ClassVar[str] = "higher"

    def of_trial(self, trial, label, window):
        yield Sample(metric=label, unit="1", value=trial.reading.responses)


class Failures(Reporter):
    """Each trial as a test."""

    name: ClassVar[str] = "failures"

    def report(self, summary, trials, folder):
        tests = [JunitTest(trial.case.server, str(trial.number), "measured") for trial in trials]
        file = folder / "failures.xml"
        file.write_bytes(junit_xml("outsider", [JunitSuite("trials", tests)]))
        return [file]
