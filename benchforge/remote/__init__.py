"""Engines: how benchforge runs the parts of a trial on several hosts.

An engine carries calls: `connection.send(do, **plain)` returns a number, and `result(number)` waits
for the answer. Values are plain (JSON): a host can give wrong numbers, and can run nothing on
benchforge's own machine.
"""
