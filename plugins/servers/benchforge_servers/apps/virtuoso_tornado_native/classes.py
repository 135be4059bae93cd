"""The classes of study WS, kept in Virtuoso, with Tornado: listed, one added, all removed."""

import json
import os
from urllib.parse import urlencode
from uuid import uuid4

from tornado.web import Application, RequestHandler

TIMEOUT = 10
OWL_CLASS = "<http://www.w3.org/2002/07/owl#Class>"
SELECT = "SELECT DISTINCT ?class FROM <{graph}> WHERE {{ ?class a {owl} }} LIMIT 100"
INSERT = "INSERT DATA {{ GRAPH <{graph}> {{ <http://uri-{new}> a {owl} }} }}"
DELETE = "DELETE WHERE {{ GRAPH <{graph}> {{ ?class a {owl} }} }}"


class Classes(RequestHandler):
    def initialize(self, client):
        # One for the loop and all its requests; it runs ten at a time, the rest wait in it.
        self.client = client()

    async def get(self):
        answer = await self.ask("GET", SELECT)
        self.set_header("Content-Type", "application/json")
        # Without spaces after its colons the body is as long as the study's: 350 bytes.
        self.write(json.dumps(json.loads(answer), sort_keys=True, indent=4, separators=(",", ":")))

    async def post(self):
        self.write(await self.ask("POST", INSERT))

    async def delete(self):
        self.write(await self.ask("POST", DELETE))

    async def ask(self, method, query):
        """Return what Virtuoso answers. Raises, and so answers 500, when it is late or refuses."""
        words = urlencode(
            {
                "query": query.format(
                    graph=os.environ["VIRTUOSO_GRAPH"], owl=OWL_CLASS, new=uuid4()
                ),
                "format": "application/sparql-results+json",
            }
        )
        url, body = os.environ["VIRTUOSO_URL"], words
        if method == "GET":
            url, body = f"{url}?{words}", None
        answer = await self.client.fetch(
            url, method=method, body=body, connect_timeout=TIMEOUT, request_timeout=TIMEOUT
        )
        return answer.body


def application(client):
    return Application([("/", Classes, {"client": client})])
