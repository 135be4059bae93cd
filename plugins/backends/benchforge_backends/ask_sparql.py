"""Ask a SPARQL endpoint whether it answers: exit 0 then, and print what serves it.

Run by path with the endpoint's URL, by any Python; standard library only.
"""

import re
import socket
import sys
import urllib.parse

WITHIN_S = 5
FORM = "application/sparql-results+xml"
# As the standard has it, and as Virtuoso 7 says it.
YES = re.compile(rb"<boolean>\s*true\s*</boolean>|<literal[^>]*>1</literal>")


def main() -> int:
    """Ask, and say the answer by the exit code."""
    try:
        _listens(sys.argv[1])
        text, server = _answer(sys.argv[1])
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{sys.argv[1]}: {error}\n")
        return 1
    if not YES.search(text):
        sys.stderr.write(f"{sys.argv[1]}: ASK {{}} is not answered with true: {text[:200]!r}\n")
        return 1
    sys.stdout.write(f"{server or 'a server that does not say what it is'}\n")
    return 0


def _listens(url: str) -> None:
    """Raise OSError where nobody does: a store that starts is asked often, and needs the CPU."""
    parts = urllib.parse.urlsplit(url)
    port = parts.port or {"https": 443}.get(parts.scheme, 80)
    socket.create_connection((parts.hostname, port), WITHIN_S).close()


def _answer(url: str) -> tuple[bytes, str]:
    # It takes longer than all else here.
    from urllib.request import ProxyHandler, Request, build_opener  # noqa: PLC0415

    words = {"query": "ASK {}", "format": FORM}
    request = Request(  # noqa: S310 - the URL is the suite's, http or https
        url + "?" + urllib.parse.urlencode(words), headers={"Accept": FORM}
    )
    no_proxy = build_opener(ProxyHandler({}))
    with no_proxy.open(request, timeout=WITHIN_S) as answer:
        return answer.read(100_000), answer.headers.get("Server", "")


if __name__ == "__main__":
    sys.exit(main())
