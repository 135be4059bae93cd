"""The agents of study AH in containers of API-Hour, which runs them in workers of its own."""

import api_hour
import published
import with_aiopg
from aiohttp import web


class Container(api_hour.Container):
    """What API-Hour makes in each worker; it serves what aiohttp alone serves, too."""

    create = staticmethod(with_aiopg.create)

    async def make_servers(self, sockets):
        self.runner = web.AppRunner(
            self.create(), access_log=None, keepalive_timeout=self.worker.cfg.keepalive
        )
        await self.runner.setup()
        handler, backlog = self.runner.server, self.worker.cfg.backlog
        # Without a backlog asyncio listens again with 100, whatever the arbiter listened with.
        return {
            await self.loop.create_server(handler, sock=one.sock, backlog=backlog): handler
            for one in sockets
        }

    async def cleanup(self):
        await self.runner.cleanup()


class Published(Container):
    """The container of the study."""

    create = staticmethod(published.create)
