"""The language of nginx.conf: directives, blocks, and the locations that we need."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from benchforge.plugin import BenchforgeError

Block = Sequence["str | tuple[str, Block]"]
"Directives without their semicolon, and blocks in it by their name."

_TYPES = {
    "text/html": "html htm",
    "text/css": "css",
    "text/javascript": "js mjs",
    "text/plain": "txt",
    "text/xml": "xml",
    "application/json": "json",
    "image/png": "png",
    "image/jpeg": "jpg jpeg",
    "image/gif": "gif",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "font/woff2": "woff2",
}
_UWSGI = {
    "QUERY_STRING": "$query_string",
    "REQUEST_METHOD": "$request_method",
    "CONTENT_TYPE": "$content_type",
    "CONTENT_LENGTH": "$content_length",
    "REQUEST_URI": "$request_uri",
    "PATH_INFO": "$document_uri",
    "DOCUMENT_ROOT": "$document_root",
    "SERVER_PROTOCOL": "$server_protocol",
    "REQUEST_SCHEME": "$scheme",
    "HTTPS": "$https if_not_empty",
    "REMOTE_ADDR": "$remote_addr",
    "REMOTE_PORT": "$remote_port",
    "SERVER_PORT": "$server_port",
    "SERVER_NAME": "$server_name",
}
_BEHIND = "behind"


def written(block: Block, depth: int = 0) -> str:
    """Return the text of a block."""
    indent = "    " * depth
    lines: list[str] = []
    for entry in block:
        if isinstance(entry, str):
            end = "" if entry.rstrip().endswith((";", "}")) else ";"
            lines.append(f"{indent}{entry}{end}\n")
        else:
            name, inner = entry
            lines.append(f"{indent}{name} {{\n{written(inner, depth + 1)}{indent}}}\n")
    return "".join(lines)


def served(path: Path) -> str:
    """Return a path as nginx reads it. Raises BenchforgeError for one with a dollar sign."""
    if "$" in str(path):
        raise BenchforgeError(f"{path}: nginx takes $ for a variable", "use another folder")
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def body(root: Path, name: str | None = None) -> tuple[Block, tuple[str, Block]]:
    """Return the location that answers with the files of a folder, or always with one of them."""
    types: Block = [f"{kind} {endings}" for kind, endings in _TYPES.items()]
    always = [] if name is None else [f'try_files "/{name}" =404']
    answer: Block = [f"root {served(root)}", "default_type text/plain", *always]
    return [("types", types)], ("location /", answer)


def location(gives: Mapping[str, str], keepalive: int) -> tuple[Block, tuple[str, Block]]:
    """Return the group of what another server gives, and the location that asks it.

    `keepalive` is the number of idle connections that each worker keeps. Raises ValueError when
    there is no way to it.
    """
    where, ask = _asking(gives, keepalive)
    keepalive_lines = [f"keepalive {keepalive}"] if keepalive else []
    return [(f"upstream {_BEHIND}", [f'server "{where}"', *keepalive_lines])], ("location /", ask)


def _asking(gives: Mapping[str, str], keepalive: int) -> tuple[str, Block]:
    if "uwsgi" in gives:
        if keepalive:
            raise ValueError("the protocol uwsgi keeps no connections: no upstream_keepalive")
        parameters = (f"uwsgi_param {name} {value}" for name, value in _UWSGI.items())
        return gives["uwsgi"], [f"uwsgi_pass {_BEHIND}", *parameters]
    headers = ["proxy_set_header Host $http_host"]
    if keepalive:
        headers += ["proxy_http_version 1.1", 'proxy_set_header Connection ""']
    if "socket" in gives:
        return f"unix:{gives['socket']}", [f"proxy_pass http://{_BEHIND}", *headers]
    if "url" not in gives:
        raise ValueError("it gives neither url, socket nor uwsgi")
    parts = urlsplit(gives["url"])
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}:{port}", [f"proxy_pass {parts.scheme}://{_BEHIND}", *headers]
