"""The page of study CP, whose program cleared CherryPy's configuration."""

import cherrypy

# What CherryPy has on by default, so what clearing its configuration takes away. Said here, the
# configuration of the server that serves it can stay.
OFF = dict.fromkeys(
    [f"tools.{name}.on" for name in ("log_tracebacks", "log_headers", "trailing_slash", "encode")],
    False,
)


class Page:
    _cp_config = OFF

    @cherrypy.expose
    def index(self):
        return b"OK"


class PublishedPage:
    _cp_config = OFF

    @cherrypy.expose
    def index(self):
        # Bytes on the study's Python. Today a text, which only the tool that is off would encode:
        # the answer is 500, and ab still counts no failed request.
        return "OK"


app = Page()
published = PublishedPage()
