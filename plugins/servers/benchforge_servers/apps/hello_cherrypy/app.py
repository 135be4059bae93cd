"""Hello World! with CherryPy, beside those of study WS."""

import cherrypy


class Hello:
    @cherrypy.expose
    def index(self):
        return b"Hello World!"


app = Hello()
