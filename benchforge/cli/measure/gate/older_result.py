"""A base that an older result recorded: its commit, and its servers as its own suite has them."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchforge.errors import Unusable
from benchforge.model.files.folder import read_header
from benchforge.model.suite.code import Code
from benchforge.parts.registry import Registry
from benchforge.suite.overrides import layered
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.source import parsed
from benchforge.text.safe import HIDDEN

_OF_THE_SUITE = ("directory", "runtime")  # the paths and environments of today


class OlderResult(NamedTuple):
    """The servers of a result that were served from one commit."""

    folder: Path
    commit: str
    servers: Mapping[str, Tables]
    reasons: Mapping[str, str]
    "Reasons why a server cannot be measured again, by its label."

    def why_not(self, label: str) -> str:
        """Return why a server cannot be measured again; empty if it can."""
        if label in self.servers:
            return ""
        return self.reasons.get(label, f"{self.folder} has no such server")

    def declared(self, label: str, table: Tables) -> Tables:
        """Return a server as it was; `table`, of the suite, says where its code is today."""
        options = {k: value for k, value in self.servers[label].items() if k not in _OF_THE_SUITE}
        return {**options, **{key: table[key] for key in _OF_THE_SUITE if key in table}}


def older_result(folder: Path, registry: Registry) -> OlderResult:
    """Read which code and options the servers of a result had.

    Raises Unusable for a result of which no server can be measured again, and as `read_header`.
    """
    header = read_header(folder)
    written = parsed(f"the suite of {folder}", header.suite)
    settings = tuple(header.settings.items())
    declared = as_table(layered(written, header.profile, settings, registry).tables["servers"])
    working_trees_first = sorted(header.code, key=lambda code: code.ref is not None)
    commit = next((code.commit for code in working_trees_first if code.rebuilds), None)
    servers: dict[str, Tables] = {}
    reasons: dict[str, str] = {}
    for label in dict.fromkeys(case.server for case in header.cases):
        table = as_table(declared.get(label))
        codes = [code for code in header.code if code.server == label]
        if reason := _why_not(table, codes, commit):
            reasons[label] = reason
        else:
            servers[label] = table
    if commit is None or not servers:
        listed = "; ".join(f"servers.{label}: {reason}" for label, reason in reasons.items())
        hint = "measure a commit: commit what is changed, or name it with 'ref', and run again"
        raise Unusable(f"--base {folder}: nothing can be measured again: {listed}", hint)
    return OlderResult(folder, commit, servers, reasons)


def _why_not(table: Tables, codes: list[Code], commit: str | None) -> str:
    if not codes:
        return "no commit was recorded"
    if len(codes) > 1:
        return "its ref varied"
    (code,) = codes
    if not code.rebuilds:
        return f"it was the {code.in_words}"
    if code.commit != commit:
        return f"it was {code.in_words}, and others were at {str(commit)[:7]}"
    return "the result does not contain its secret" if HIDDEN in str(table) else ""
