"""One request again and again by locust, as the file says that BENCHFORGE_LOCUST names."""

import json
import os
from pathlib import Path

import gevent
from locust import FastHttpUser, HttpUser, events, task

TOLD = json.loads(Path(os.environ["BENCHFORGE_LOCUST"]).read_text())


@events.init.add_listener
def look_at_the_clock(**_):
    # Else gevent counts the run time from before the imports, and the load ends too early.
    gevent.get_hub().loop.update_now()


def ask(self, **more):
    with self.client.request(
        TOLD["method"],
        TOLD["path"],
        headers=TOLD["headers"],
        data=TOLD["body"],
        allow_redirects=False,
        catch_response=True,
        **more,
    ) as answer:
        # Statistics are kept by name, and of statuses there are none: 0 where no answer came.
        answer.request_meta["name"] = f"{TOLD['path']} {answer.status_code}"


if TOLD["user"] == "fast":

    class Visitor(FastHttpUser):
        connection_timeout = network_timeout = TOLD["timeout"]

        @task
        def again(self):
            ask(self)

else:

    class Visitor(HttpUser):
        @task
        def again(self):
            ask(self, timeout=TOLD["timeout"])
