"""An actor on a worker: it starts the far end, and passes its input and output on.

The text of this file is sent to the worker, which needs dask and the standard library only.
"""

import asyncio
import contextlib
from typing import Any

_CHUNK = 1 << 20
_ENDS_WITHIN_S = 10.0
_LAST, _KEPT = 300, 1 << 12
"Characters of the last line of its errors, and bytes of them that are kept."
_LAST_S = 1.0
"Wait for the end of its errors: what it left running may have them open, too."


class Relay:
    """One process, whose pipes end with this actor."""

    def __init__(self) -> None:
        self._process: Any = None
        self._errors: Any = None
        self._last = b""

    async def start(self, script: str) -> None:
        """Start a shell with a script."""
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", script, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        self._errors = asyncio.ensure_future(self._drained())

    async def _drained(self) -> None:
        """Read its errors, and keep the last of them: it never waits for a reader."""
        while more := await self._process.stderr.read(_CHUNK):
            self._last = (self._last + more)[-_KEPT:]

    async def write(self, content: bytes) -> None:
        """Write to its input."""
        self._process.stdin.write(content)
        await self._process.stdin.drain()

    async def read(self) -> bytes:
        """Return what it printed, as soon as there is something; nothing at its end."""
        read: bytes = await self._process.stdout.read(_CHUNK)
        return read

    async def there(self) -> bool:
        """Answer: so its worker can be reached."""
        return True

    async def end(self, *, at_once: bool) -> tuple[int | None, str]:
        """End its input, or it itself; return its exit code and the last line of its errors."""
        if self._process is None:
            return None, "it was not started"
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        if at_once:
            self._killed()
        try:
            await asyncio.wait_for(self._process.wait(), _ENDS_WITHIN_S)
        except TimeoutError:
            self._killed()
            await self._process.wait()
        await asyncio.wait([self._errors], timeout=_LAST_S)
        lines = self._last.decode(errors="replace").strip().splitlines()
        return self._process.returncode, lines[-1][:_LAST] if lines else ""

    def _killed(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
