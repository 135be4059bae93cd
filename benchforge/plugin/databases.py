"""The bases of backends with data."""

from benchforge.parts.database.dataset import URI, Dataset
from benchforge.parts.database.tcp_backend import (
    DataBackend,
    TcpBackend,
    hba,
    last_word,
    password_of,
    verifier,
)

# Databases: bases of backends with data.
__all__ = ["DataBackend", "Dataset", "TcpBackend"]
# Access to databases: passwords, hosts and failures.
__all__ += ["URI", "hba", "last_word", "password_of", "verifier"]
