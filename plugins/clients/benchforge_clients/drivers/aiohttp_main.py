"""aiohttp: one session, in tasks that follow one another, or as study RA in a task for each."""

import asyncio

from protocol import (
    Connections,
    Load,
    ask_one_async,
    decoded,
    importing,
    in_tasks,
    plan,
    tls,
    url_of,
    way,
)

with importing():
    import aiohttp

told = plan(__doc__, ("session", "async-for", "async-map", "async-map_published"))
connections = Connections().of_asyncio(asyncio.SelectorEventLoop)
# Without an option of ours aiohttp trusts what it always does.
trust = tls(told) if told.ca_file else told.verify
load = Load(told, "aiohttp", aiohttp.__version__, connections)


async def main():
    timeout = aiohttp.ClientTimeout(total=told.timeout)
    connector = {"connector": aiohttp.TCPConnector(limit=max(100, told.concurrency))}
    usual = told.mode != "session"  # the study's: 100 connections
    async with aiohttp.ClientSession(timeout=timeout, **({} if usual else connector)) as session:
        options = {"data": told.payload, "headers": told.headers}
        options |= {"ssl": trust, "allow_redirects": False}

        async def ask(number):
            async with session.request(told.method, url_of(told, number), **options) as response:
                return response.status, decoded(told, await response.read())

        @way("async-for")
        async def by_for(turns, tally):
            for numbers in turns.rounds():
                tasks = []
                for number in numbers:
                    task = asyncio.ensure_future(ask_one_async(ask, number, tally))
                    tasks.append(task)
                await asyncio.gather(*tasks)

        @way("async-map")
        async def by_map(turns, tally):
            def task(number):
                return asyncio.ensure_future(ask_one_async(ask, number, tally))

            for numbers in turns.rounds():
                await asyncio.gather(*map(task, numbers))

        ways = {
            "session": way("session")(in_tasks(asyncio.gather, ask, told)),
            "async-for": by_for,
            "async-map": by_map,
            "async-map_published": by_for,  # as the study's: its branch calls the other function
        }
        await load.run_async(ways[told.mode])


asyncio.run(main())
