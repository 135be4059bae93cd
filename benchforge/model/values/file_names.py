"""Names of files in what may come from anybody: each stays where it belongs."""

from typing import Annotated

from pydantic import AfterValidator

from benchforge.text import door


def _one_step(name: str) -> str:
    if not door.is_name(name):
        raise ValueError("is no name of a file: without / and control characters, not . or ..")
    return name


def _below(name: str) -> str:
    try:
        door.steps(name)
    except OSError as error:
        raise ValueError(error.strerror) from None
    return name


FileName = Annotated[str, AfterValidator(_one_step)]
"What a file is called, or a part of that: no path."
Below = Annotated[str, AfterValidator(_below)]
"A path that stays below the folder that it is in."
