"""pycurl: libcurl from Python."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from benchforge.plugin import WrongOption
from benchforge_clients.library import Library


class Pycurl(Library):
    """pycurl: a handle for each thread, or with `multi` `concurrency` handles in one thread.

    Study PC's pycurl-reuse-nobody, pycurl-reuse-buffer, pycurl-noreuse-buffer and pycurl-newhandle
    are the modes with these names, with `verify = false`:

    - reuse-nobody: a callback drops the body; libcurl counts its length;
    - reuse-buffer: a new buffer for each request, read and closed;
    - noreuse-buffer: the same with FORBID_REUSE;
    - newhandle: for each request a new handle with all its options and the global DNS cache, and
      two buffers; the handle is never closed.

    Unlike in the study, each request has a time limit, and reads status and number of connections
    from libcurl at its end. Connections are those that libcurl counts as established.
    """

    name: ClassVar[str] = "pycurl"
    keeping_modes: ClassVar[tuple[str, ...] | None] = ("reuse-nobody", "reuse-buffer", "multi")
    modules: ClassVar[tuple[str, ...]] = ("pycurl",)
    alpn: ClassVar[bool] = True

    mode: Literal["reuse-nobody", "reuse-buffer", "noreuse-buffer", "newhandle", "multi"] = (
        "reuse-buffer"
    )
    "Way to make requests; see above."

    @model_validator(mode="after")
    def _fits_the_mode(self) -> Self:
        if self.mode == "reuse-nobody" and self.decode_json:
            message = "mode reuse-nobody drops the body: there is nothing to decode"
            raise WrongOption(message, "decode_json", "mode")
        if self.mode == "multi" and self.delay:
            raise WrongOption("mode multi has no delay", "delay", "mode")
        return self
