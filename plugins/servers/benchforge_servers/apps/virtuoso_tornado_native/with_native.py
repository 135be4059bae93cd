"""The classes of study WS, asked with Tornado's own client: a connection for each request."""

from classes import application
from tornado.simple_httpclient import SimpleAsyncHTTPClient

app = application(SimpleAsyncHTTPClient)
