"""Answer a POST with its body, and anything else with 405: echoes.py PORT"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Echoes(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one piece: two would wait 40 ms for each other

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", self.headers["Content-Type"])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send_error(405)

    def log_message(self, *words):
        pass


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


Quiet(("127.0.0.1", int(sys.argv[1])), Echoes).serve_forever()
