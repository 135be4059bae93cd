"""An app of Bottle."""

import bottle

app = bottle.Bottle()


@app.get("/hello/<name>")
def hello(name):
    return {"message": f"Hello, {name}!"}
