"""A Flask app that answers pong. pong_flask.py PORT: by Flask's own server."""

import sys

from flask import Flask

app = Flask(__name__)


@app.get("/ping")
def ping():
    return "pong", 200, {"Content-Type": "text/plain"}


if __name__ == "__main__":
    app.run(port=int(sys.argv[1]))
