"""The servers of a duel: words of the command line to tables of a suite."""

import ipaddress
import os
import re
import shlex
import socket
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import JsonValue

from benchforge.errors import NoAnswer, Unusable
from benchforge.model.values.units import Duration, Quantity, Rate, Share
from benchforge.parts.fillable import Fillable, WrongOption
from benchforge.run.http.connect import reachable
from benchforge.suite.secrets import SHORTEST
from benchforge.suite.toml.document import Tables

_URL = re.compile(r"https?://", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.ASCII | re.DOTALL)
_INTERPRETER = re.compile(r"(python|pypy)[\d.]*")
_OF_SHELLS = {"|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1"}
_CONNECTED_WITHIN_S = 2.0
_LONGEST_LABEL = 32
_ADDRESS = re.compile(r"[\w.-]+:\d+(/\S*)?")
_PORT = re.compile(r"((?:--port[= ]|-p |--bind\S* |-b |:)(?:[\w.-]*:)?)\d{2,5}\b")
_EXAMPLE = 'such as "gunicorn -b :{port} mysite.wsgi"'


class Contender(NamedTuple):
    """A server of a duel."""

    given: str
    "Text of the command line."
    name: str
    "Name of its program, or the host and port of its URL."
    table: Tables
    "Its table in the suite, with paths relative to the current folder."
    path: str | None = None
    "Path of its URL; None for a command, and for a URL without one."


def contender(words: str, variables: Mapping[str, JsonValue] = MappingProxyType({})) -> Contender:
    """Read a command, which receives these variables, or a URL. Raises Unusable for another."""
    return _of_url(words) if _URL.match(words) else _of_command(words, variables)


def passed(names: Sequence[str]) -> dict[str, JsonValue]:
    """Return the caller's variables, as a suite names them: values that can be hidden are secrets.

    Raises Unusable for a name that is not set.
    """
    for name in names:
        if name not in os.environ:
            hint = f"set it: {name}=... benchforge duel; or write {name}=value before the program"
            raise Unusable(f"--env {name}: your environment has no {name}", hint)
    short = {name: os.environ[name] for name in names if len(os.environ[name]) < SHORTEST}
    return {name: short.get(name) or {"env": name} for name in names}


def check_listening(contenders: Sequence[Contender]) -> None:
    """Raise NoAnswer for a URL at which nothing listens: benchforge does not start it."""
    for server in contenders:
        root = urlsplit(reachable(str(server.table.get("url", ""))))
        if root.hostname is None:
            continue
        port = root.port or (443 if root.scheme == "https" else 80)
        try:
            socket.create_connection((root.hostname, port), _CONNECTED_WITHIN_S).close()
        except ConnectionRefusedError as error:
            hint = "start the server first, or give its command instead of its URL"
            message = f"{server.given}: nothing listens there: connection refused"
            raise NoAnswer(message, hint) from error
        except OSError:
            continue  # a full queue, say: the first request tells more


def labelled(contenders: Sequence[Contender], labels: Sequence[str]) -> dict[str, Contender]:
    """Return the servers by label: the given ones, or the names of their programs.

    Raises Unusable where the labels are not one for each, or not different.
    """
    if not labels:
        labels = _short_labels(contenders)
    elif len(labels) != len(contenders):
        message = f"--label: {len(labels)} labels for {len(contenders)} servers"
        raise Unusable(message, "give one --label for each server, in their order")
    for label, count in Counter(labels).items():
        if count > 1:
            raise Unusable(f"--label {label}: two servers have it", "give each its own --label")
        if not re.fullmatch(r"[\w-]+", label, re.ASCII):
            raise Unusable(f"--label {label}: not a label", "use letters, digits, '_' and '-'")
    return dict(zip(labels, contenders, strict=True))


def _short_labels(contenders: Sequence[Contender]) -> list[str]:
    """Return the names of the programs; for equal names, with or by the words that others lack."""
    rests = []
    for server in contenders:
        alike = [contender for contender in contenders if contender.name == server.name]
        rests.append(_label("-".join(_own_words(server, alike)), "") if alike[1:] else "")
    names = [contender.name for contender in contenders]
    if len({*names}) == 1 and all(rest[:1].isalpha() for rest in rests):
        labels = rests
    else:
        labels = [f"{name}-{rest}".rstrip("-") for name, rest in zip(names, rests, strict=True)]
    if max(map(len, labels)) <= _LONGEST_LABEL and len({*labels}) == len(labels):
        return labels
    numbers = [names[: index + 1].count(name) for index, name in enumerate(names)]
    pairs = zip(names, numbers, strict=True)
    return [f"{name}-{number}" if names.count(name) > 1 else name for name, number in pairs]


def _own_words(server: Contender, alike: Sequence[Contender]) -> list[str]:
    """Return the words of a command that not all of those with its name have.

    Variables before a command are no part of it: some are secrets.
    """
    of_all = set[str].intersection(*(set(_command_words(contender_)) for contender_ in alike))
    return [word for word in _command_words(server) if word not in of_all]


def _command_words(server: Contender) -> list[str]:
    words = server.table.get("command")
    return [*map(str, words)] if isinstance(words, list) else [server.given]


def relative_to(folder: Path, table: Tables) -> Tables:
    """Return the table of a server for a suite in another folder than the current one."""
    words = table.get("command")
    current = from_there(".", folder)
    if current == "." or not isinstance(words, list):
        return table
    program = str(words[0])
    if "/" in program:
        program = from_there(program, folder)
    return {**table, "command": [program, *words[1:]], "directory": current}


def from_there(path: str, folder: Path) -> str:
    """Return a path as it is written in a suite in `folder`."""
    if path.startswith("/"):
        return path
    # A suite's folder is resolved before a path starts at it.
    return os.path.relpath(Path.cwd() / path, os.path.realpath(folder))


def _of_command(words_: str, variables: Mapping[str, JsonValue]) -> Contender:
    try:
        words = shlex.split(words_)
    except ValueError as error:
        hint = 'close the quotes, or write \\" for one that is meant'
        raise Unusable(f"{words_!r}: {str(error).lower()}", hint) from None
    environment = dict(variables)
    while words and (match := _ASSIGNMENT.fullmatch(words[0])):
        environment[match[1]] = match[2]
        words.pop(0)
    if not words:
        raise Unusable(f"{words_!r}: no command", f"write a command with its arguments, {_EXAMPLE}")
    if shells := _OF_SHELLS & {*words}:
        hint = "benchforge starts it without a shell: write it as \"sh -c '...'\", with exec"
        raise Unusable(f"{words_!r}: {min(shells)} is for a shell", hint)
    words = [word.replace("{python}", sys.executable) for word in words]
    filled = (value for name, value in environment.items() if name not in variables)
    names = {name for word in (*words, *map(str, filled)) for name in _names(word)}
    if not names & {"port", "url"}:
        raise Unusable(f"{words_!r}: no {{port}} in it", _port_hint(words_))
    table: Tables = {"use": "command", "command": [*words]}
    if environment:
        table["environment"] = environment
    return Contender(words_, _label(_program(words)), table)


def _port_hint(words: str) -> str:
    if _ADDRESS.fullmatch(words):
        return f"for a server that runs already, write its URL: http://{words}"
    if (filled := _PORT.sub(r"\1{port}", words)) != words:
        return f"write {{port}} instead of the number: {filled!r}"
    return f"write {{port}} where the command takes its port, {_EXAMPLE}"


def _names(word: str) -> list[str]:
    """Return the placeholders of a word. Raises Unusable for an unknown one."""
    try:
        return list(Fillable.parse(word).placeholders())
    except WrongOption as error:
        raise Unusable(f"{word!r}: {error.message}", error.hint) from None


def _program(words: Sequence[str]) -> str:
    """Return what a person calls a command: python -m http.server is http.server."""
    name = Path(words[0]).name
    if not _INTERPRETER.fullmatch(name):
        return name
    for earlier, word in pairwise(words):
        if earlier == "-m":
            return word
        if not word.startswith("-") and earlier != "-c":
            return Path(word).stem
    return name


def _of_url(url: str) -> Contender:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        hint = "write it like http://127.0.0.1:8080/path"
        raise Unusable(f"{url!r}: not a URL: {error}", hint) from None
    if parts.fragment:
        raise Unusable(f"{url!r}: a URL with a fragment", "leave out what follows the '#'")
    if not _is_here(parts.hostname or ""):
        hint = "loads go to this machine; for a server of yours elsewhere write a suite: "
        hint += 'use = "url" with allow_remote = true'
        raise Unusable(f"{url!r}: {parts.hostname or 'no host'} is not this machine", hint)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    name = f"port-{port}" if port else f"{parts.hostname or 'url'}"
    root = f"{parts.scheme}://{parts.netloc}"
    return Contender(url, _label(name), {"use": "url", "url": root}, path or None)


def _is_here(host: str) -> bool:
    """Whether a host is loopback, by the rule of the server `url`."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _label(name: str, otherwise: str = "server") -> str:
    return re.sub(r"[^\w]+", "-", name, flags=re.ASCII).strip("-") or otherwise


_EXAMPLES = {Share: '"5%" or 0.05', Duration: '"3m" or "90s"', Rate: '"500/s" or "2k/s"'}


def quantity(kind: type[Quantity], option: str, text: str) -> Quantity:
    """Return the value of an option. Raises Unusable for another text, and for zero."""
    if number := kind.typed(text):
        return number
    message = f"{option} {text}: not a {kind.__name__.lower()}"
    raise Unusable(message, f"write it like {_EXAMPLES[kind]}")


def request_path(path: str | None, servers: Mapping[str, Contender]) -> str:
    """Return the path of the request: that of --path, or of all URLs. Raises Unusable for two."""
    paths = {value.path for value in servers.values() if value.path not in {None, "/"}}
    if path is not None:
        for server in servers.values():
            if server.path not in {None, "/", path}:
                hint = "write the path once: in --path, or in each URL"
                raise Unusable(f"{server.given}: --path {path} is another path", hint)
        return path if path.startswith("/") else f"/{path}"
    if len(paths) > 1:
        hint = "all servers of a duel get the same request: write its path in --path"
        raise Unusable(f"the URLs have different paths: {', '.join(sorted(map(str, paths)))}", hint)
    return next(iter(paths), None) or "/"


def header(text: str) -> tuple[str, str]:
    """Return name and value of a header. Raises Unusable for what is none."""
    name, colon, value = text.partition(":")
    if not colon or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
        # It may be a secret, and nothing tells which part of it.
        message = f"--header: {len(text)} characters that are no header"
        raise Unusable(message, 'write it like "Accept: text/html"')
    return name, value.strip()


def backends(words: Sequence[str]) -> dict[str, str | None]:
    """Return the dataset of each kind of backend, or None. Raises Unusable for two of a kind."""
    datasets: dict[str, str | None] = {}
    for backend in words:
        kind, colon, dataset = backend.partition(":")
        if kind in datasets:
            raise Unusable(f"--backend {backend}: a second {kind}", "write a suite for two")
        if colon and not dataset:
            raise Unusable(f"--backend {backend}: no dataset", "write it like postgresql:agents")
        if "/" in dataset and not Path(dataset, "dataset.toml").is_file():
            hint = "it is a folder with the files of the tables, and a dataset.toml with its name, "
            hint += "its rows, and its files in their order"
            raise Unusable(f"--backend {backend}: no dataset.toml in it", hint)
        datasets[kind] = dataset or None
    return datasets
