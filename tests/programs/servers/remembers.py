"""Answer each request with how many rows there are, after adding one. remembers.py PORT"""

import os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import psycopg2

rows = psycopg2.connect(os.environ["DATABASE_URL"])
rows.autocommit = True
cursor = rows.cursor()
cursor.execute("CREATE TABLE IF NOT EXISTS visits (at timestamptz DEFAULT now())")


class Remembers(BaseHTTPRequestHandler):
    wbufsize = -1

    def do_GET(self):
        cursor.execute("INSERT INTO visits DEFAULT VALUES")
        cursor.execute("SELECT count(*) FROM visits")
        body = b"%09d" % cursor.fetchone()[0]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Remembers).serve_forever()
