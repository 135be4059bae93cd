"""Hello World! with a handler of Tornado's own, beside those of study WS."""

from tornado.web import Application, RequestHandler


class Hello(RequestHandler):
    def get(self):
        self.write("Hello World!")


app = Application([("/", Hello)])
