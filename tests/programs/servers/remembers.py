"""Answer each request with how many rows there are, after adding one. remembers.py PORT"""

import os, sys, threading

import psycopg2
from wire import answer_each

rows = psycopg2.connect(os.environ["DATABASE_URL"])
rows.autocommit = True
cursor = rows.cursor()
cursor.execute("CREATE TABLE IF NOT EXISTS visits (at timestamptz DEFAULT now())")


lock = threading.Lock()


def answer(*_):
    with lock:
        cursor.execute("INSERT INTO visits DEFAULT VALUES")
        cursor.execute("SELECT count(*) FROM visits")
        return 200, b"%09d" % cursor.fetchone()[0]


answer_each(sys.argv[1], answer)
