"""Answer a POST with its body, and anything else with 405: echoes.py PORT"""

import sys

from answerer import Answerer, serve


class Echoes(Answerer):
    def do_POST(self):
        self.send(200, self.body(), [("Content-Type", self.headers["Content-Type"])])

    def do_GET(self):
        self.send_error(405)


serve(sys.argv[1], Echoes)
