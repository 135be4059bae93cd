"""requests: without and with a session, in one thread or many, and study RA's pools of threads."""

import itertools
import socket
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, wait

from protocol import Connections, Load, decoded, importing, in_threads, plan, url_of, way

with importing():
    import requests

told = plan(
    __doc__,
    (
        *("call", "session", "session-prepared"),
        *("threads-recreate", "threads-recreate_published", "threads-reuse"),
        *("threads-map", "threads-map_published"),
    ),
)
connections = Connections().of(socket.socket)
warnings.simplefilter("ignore", requests.urllib3.exceptions.InsecureRequestWarning)
trust = (told.ca_file or True) if told.verify else False
options = {"verify": trust, "timeout": told.timeout, "allow_redirects": False}


def answered(response):
    return response.status_code, decoded(told, response.content)


def by(request):
    """Return an `ask` by `requests.request` or that of a session."""

    def ask(number):
        url = url_of(told, number)
        return answered(
            request(told.method, url, data=told.payload, headers=told.headers, **options)
        )

    return ask


def prepared():
    session = requests.Session()
    request = requests.Request(told.method, told.url, told.headers, data=told.payload).prepare()

    def ask(number):
        return answered(session.send(request, **options))

    return ask


def each(ask, tally):
    """Return what the pools of study RA run: what fails is noted, and raised as in the study."""
    lock = threading.Lock()

    def task(number):
        begun = time.perf_counter_ns()
        try:
            status, length = ask(number)
        except Exception as error:
            with lock:
                tally.failed(error)
            raise
        with lock:
            tally.answered(status, length, time.perf_counter_ns() - begun)

    return task


def failing(task):
    """Return the task as one that says whether it failed: a raise would cancel what follows."""

    def told_of(number):
        try:
            task(number)
        except Exception:  # noqa: BLE001 - the task has counted it
            return True
        return False

    return told_of


def chunks(numbers):
    numbers = iter(numbers)
    return iter(lambda: list(itertools.islice(numbers, told.chunk)), [])


def look_at(futures, tally):
    tally.surfaced += sum(future.exception() is not None for future in futures)


@way("threads-recreate")
def recreate(numbers, task, tally):
    for chunk in chunks(numbers):
        with ThreadPoolExecutor(told.concurrency) as pool:
            futures = [pool.submit(task, number) for number in chunk]
        if told.mode != "threads-recreate_published":
            look_at(futures, tally)


@way("threads-reuse")
def reuse(numbers, task, tally):
    with ThreadPoolExecutor(told.concurrency) as pool:
        for chunk in chunks(numbers):
            futures = [pool.submit(task, number) for number in chunk]
            wait(futures)
            look_at(futures, tally)


@way("threads-map")
def mapped(numbers, task, tally):
    with ThreadPoolExecutor(len(numbers)) as pool:
        if told.mode == "threads-map_published":
            pool.map(task, numbers)
        else:
            tally.surfaced += sum(pool.map(failing(task), numbers))


def in_pools(pools):
    ask = by(requests.Session().request)  # one for all threads, with its usual pool of 10

    @way(pools.way)
    def load(turns, tally):
        tally.surfaced = 0
        for numbers in turns.rounds():
            pools(numbers, each(ask, tally), tally)

    return load


load = Load(told, "requests", requests.__version__, connections)
if told.mode.startswith("threads-"):
    pools = {"recreate": recreate, "reuse": reuse, "map": mapped}
    load.run(in_pools(pools[told.mode[len("threads-") :].partition("_")[0]]))
else:
    makers = {
        "call": lambda: by(requests.request),
        "session": lambda: by(requests.Session().request),
        "session-prepared": prepared,
    }
    load.run(in_threads(told, [makers[told.mode]() for _ in range(told.concurrency)]))
