"""Start API-Hour 0.8.2 by its own words, with what Python has taken from it since 3.10.

On older Pythons nothing is replaced. From 3.10 on, asyncio takes no `loop=` any more, from 3.11 on
`asyncio.wait` no coroutines, and from 3.14 on there is no loop before one is made: the worker's
module, and nothing else, sees an asyncio that does as it did.
"""

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

from gunicorn_main import forbid_control_socket


async def sleep(seconds: float, loop: Any = None) -> None:
    """Sleep; the loop is the running one."""
    await asyncio.sleep(seconds)


async def wait(awaitables: Any, *, loop: Any = None, **options: Any) -> Any:
    """Wait for coroutines, too; the loop is the running one."""
    return await asyncio.wait([asyncio.ensure_future(one) for one in awaitables], **options)


def main() -> None:
    """Give the worker the asyncio that it was written for, and start API-Hour."""
    del sys.path[0]  # the folder of the runners; API-Hour puts the app's in its place
    forbid_control_socket()

    import api_hour.worker  # noqa: PLC0415 - of the app's folder or of the interpreter, never ours
    from api_hour.application import Application  # noqa: PLC0415

    if sys.version_info >= (3, 10):  # noqa: UP036 - it runs on older Pythons than benchforge
        old = {"sleep": sleep, "wait": wait, "get_event_loop": asyncio.new_event_loop}
        api_hour.worker.asyncio = SimpleNamespace(**{**vars(asyncio), **old})
    Application("%(prog)s [OPTIONS] [APP_MODULE]", prog="api_hour").run()


if __name__ == "__main__":
    main()
