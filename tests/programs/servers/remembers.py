"""Answer each request with how many rows there are, after adding one. remembers.py PORT"""

import os, sys
from http.server import HTTPServer

import psycopg2
from answerer import Answerer

rows = psycopg2.connect(os.environ["DATABASE_URL"])
rows.autocommit = True
cursor = rows.cursor()
cursor.execute("CREATE TABLE IF NOT EXISTS visits (at timestamptz DEFAULT now())")


class Remembers(Answerer):
    protocol_version = "HTTP/1.0"

    def do_GET(self):
        cursor.execute("INSERT INTO visits DEFAULT VALUES")
        cursor.execute("SELECT count(*) FROM visits")
        self.send(200, b"%09d" % cursor.fetchone()[0])


HTTPServer(("127.0.0.1", int(sys.argv[1])), Remembers).serve_forever()
