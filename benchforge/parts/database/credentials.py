"""Who may connect to PostgreSQL from another host, and the password of one trial."""

import base64
import hashlib
import hmac
import os

from benchforge.parts.site import Site

_SECRET = os.urandom(32)
_ITERATIONS = 4096  # PostgreSQL's own default


def hba(site: Site, *, own: bool) -> str:
    """Return pg_hba.conf: with the password the trial's other hosts, and the machine itself if own.

    The unix socket needs none: it is in a folder that nobody else may enter.
    """
    peers = [f"host all all {peer}/32 scram-sha-256" for peer in site.peers if peer != site.address]
    machine = f"host all all {site.address}/32 {'scram-sha-256' if own else 'trust'}"
    return "\n".join([*(["local all all trust"] if own else []), machine, *peers, ""])


def password_of(site: Site) -> str:
    """Return the password of a trial: the same at each call, another in each trial."""
    return hmac.new(_SECRET, str(site.scratch).encode(), "sha256").hexdigest()[:32]


def verifier(password: str) -> str:
    """Return what PostgreSQL stores of a password (RFC 5803): it does not give the password."""
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    stored = hashlib.sha256(hmac.new(salted, b"Client Key", "sha256").digest()).digest()
    server = hmac.new(salted, b"Server Key", "sha256").digest()
    words = [base64.b64encode(one).decode() for one in (salt, stored, server)]
    return f"SCRAM-SHA-256${_ITERATIONS}:{words[0]}${words[1]}:{words[2]}"
