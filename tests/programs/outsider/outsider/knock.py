"""Send one request after the other: SECONDS URL."""

import http.client
import sys
import time
from urllib.parse import urlsplit

seconds, url = float(sys.argv[1]), urlsplit(sys.argv[2])
good = bad = lost = 0
begin = time.perf_counter()
while time.perf_counter() - begin < seconds:
    connection = http.client.HTTPConnection(url.netloc)
    try:
        connection.request("GET", url.path or "/")
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException):
        lost += 1
    else:
        good, bad = (good + 1, bad) if response.status == 200 else (good, bad + 1)
    connection.close()
took = time.perf_counter() - begin
print(f"{good} good, {bad} bad, {lost} lost of {good + bad + lost} in {took:.6f} s")
