"""The classes of study WS, asked with Tornado's client made of curl, which keeps connections."""

from classes import application
from tornado.curl_httpclient import CurlAsyncHTTPClient

app = application(CurlAsyncHTTPClient)
