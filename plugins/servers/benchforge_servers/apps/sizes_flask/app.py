"""Bodies of three kinds, of study PC, served by Flask.

The document of /bigger is invented: as long as the study's and laid out like it (22 lines, 41
tabs), with other words.
"""

import os
from functools import cache
from pathlib import Path

from flask import Flask

# A longer one is refused, so that a slip in a path does not take all of the memory.
LONGEST = 64 * 1024 * 1024
BIGGER = (Path(__file__).parent / "bigger.json").read_bytes()

app = Flask(__name__, static_folder=None)


@app.get("/ping")
def ping():
    return "pong"


@app.get("/bigger")
def bigger():
    return BIGGER


@app.get("/length/<int:number>")
def length(number):
    return random_bytes(number)


@cache
def random_bytes(number):
    """Return the bytes of this process: each worker of a server makes its own, once."""
    if not 1 <= number <= LONGEST:
        raise ValueError(f"{number} is no length")
    return os.urandom(number)
