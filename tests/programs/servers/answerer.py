"""What small servers of HTTP share: each answers in one piece, logs nothing, and is not hurt by who leaves."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answerer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one piece: two would wait 40 ms for each other

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, status, body, headers=()):
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a load tool that leaves at its end is no error


def serve(port, handler, address="127.0.0.1"):
    Quiet((address, int(port)), handler).serve_forever()
