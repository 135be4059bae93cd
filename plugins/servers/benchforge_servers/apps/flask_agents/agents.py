"""The agents of study AH, served by Flask; the modules beside it choose the driver."""

import json
import os

from flask import Flask, Response

CONNECT_TIMEOUT = 10
POOL_SIZE = int(os.environ.get("AGENTS_POOL_SIZE", "10"))
QUERY = """
    SELECT af.number, als.extension, als.context, als.state_interface,
           'offline' AS status, '-1' AS extension_status, '0' AS paused
    FROM agentfeatures AS af LEFT JOIN agent_login_status AS als ON af.id = als.agent_id
"""


def reply(content):
    return Response(json.dumps(content), mimetype="application/json")


def application(agents, agents_with_pool, reply=reply):
    """Make the app, given two functions that read the agents."""
    app = Flask(__name__, static_folder=None)
    app.add_url_rule("/index", "index", lambda: reply({"hello": "world"}))
    app.add_url_rule("/agents", "agents", lambda: reply(agents()))
    app.add_url_rule("/agents_with_pool", "agents_with_pool", lambda: reply(agents_with_pool()))
    return app
