"""Hello World! with Flask, of study WS."""

from flask import Flask

BODY = "Hello World!"

app = Flask(__name__, static_folder=None)
published = Flask(__name__, static_folder=None)


@app.get("/")
def hello():
    return BODY


@published.get("/")
def hello_and_a_dot():
    # As published: a write to standard output with each request.
    print(".", flush=True)
    return BODY
