"""The classes of study WS, kept in Virtuoso, with Flask: listed, one added, all removed."""

import os
from uuid import uuid4

from flask import Flask, Response

TIMEOUT = 10
OWL_CLASS = "<http://www.w3.org/2002/07/owl#Class>"
SELECT = "SELECT DISTINCT ?class FROM <{graph}> WHERE {{ ?class a {owl} }} LIMIT 100"
INSERT = "INSERT DATA {{ GRAPH <{graph}> {{ <http://uri-{new}> a {owl} }} }}"
DELETE = "DELETE WHERE {{ GRAPH <{graph}> {{ ?class a {owl} }} }}"


def application(ask):
    """Make the app, given how Virtuoso is asked: a method, an address and words in, bytes out."""
    app = Flask(__name__, static_folder=None)

    @app.get("/")
    def get():
        return reply("GET", SELECT)

    @app.post("/")
    def post():
        return reply("POST", INSERT)

    @app.delete("/")
    def delete():
        return reply("POST", DELETE)

    def reply(method, query):
        graph = os.environ["VIRTUOSO_GRAPH"]
        words = {
            "query": query.format(graph=graph, owl=OWL_CLASS, new=uuid4()),
            "format": "application/sparql-results+json",
        }
        answer = ask(method, os.environ["VIRTUOSO_URL"], words)
        return Response(answer, mimetype="application/json")

    return app
