"""One epoll loop that makes requests at their times over many connections, until its deadline.

A request has an *intended* start: when the schedule wants it, or in a closed loop when the last
response came. It waits for its time in `_later` or in the arrivals, then in `_queue` until a
connection is free for it, and its latency counts from the intended start whatever it waited for.
"""

import contextlib
import errno
import heapq
import math
import os
import random
import select
import socket
import sys
import time
from collections import deque
from itertools import count
from pathlib import Path

from flow_values import NoValue
from pace_response import Body, Malformed, Response, Whole, header_lines
from pace_stages import Course, inverse
from pace_stream import Stream
from pace_tally import BIN_NS, PLAIN, Tally, bucket

READ = 65536
EVENTS = 256
SECOND = 1_000_000_000
# How long before a request's time the loop stops sleeping and looks at the clock instead: a CPU
# that was idle may wake up 0.3 ms late. At a low rate it is 1 % of the time between requests.
AWAKE_NS, LONGEST_AWAKE_NS = 150_000, 1_000_000
# Without progress a closed loop makes pauses, the longest so long.
FIRST_PAUSE_NS, LONGEST_PAUSE_NS = 1_000_000, 100_000_000
SWEEP_NS = 50_000_000
FAST_HEADS = 1024
_HEAD_END = b"\r\n\r\n"
_CONNECTING, _SHAKING, _SENDING, _WAITING, _IDLE, _CLOSED = range(6)
_TLS = sys.modules.get("ssl")  # pace imports it for https only: that takes a tenth of its start
_AGAIN = (BlockingIOError, *((_TLS.SSLWantReadError, _TLS.SSLWantWriteError) if _TLS else ()))


class Connection:
    """A socket and the request that is on it."""

    __slots__ = (
        *("socket", "fd", "recv", "send", "state", "untouched", "opened"),
        *("intended", "sent", "first_byte", "response", "unsent"),
        *("request", "kind", "fast", "flow"),
    )


class Known:
    """A head that has come before: then a response is seen to be whole by its length alone."""

    __slots__ = ("body_bytes", "histogram", "status", "whole")

    def __init__(self, status, body_bytes, whole, histogram):
        self.status = status
        self.body_bytes = body_bytes
        self.whole = whole
        self.histogram = histogram


class Loop:
    """The load of one process, which is number `part` of `plan.processes`."""

    def __init__(self, plan, part, begin):
        self._plan = plan
        self._begin = begin
        self._deadline = begin + plan.duration_ns
        self._tally = Tally()
        self._epoll = select.epoll()
        self._connections = {}
        self._idle = []
        self._queue = deque()
        self._later = []
        self._steps = []  # of flows whose users think: time, order and flow of each
        self._order = count()
        self._heads = {}
        self._fast = {}
        self.stream = None
        if plan.stream is not None:
            self.stream = Stream(plan.stream, plan.kinds, part, plan.processes)
        self.course = Course(plan.stages, begin) if plan.stages else None
        self._share = _share(plan.connections, part, plan.processes)
        self._limit = _share(plan.requests, part, plan.processes) if plan.requests else 1 << 62
        self._moments = moments(plan, part)
        self._sample_at = next(self._moments, 1 << 62)
        self._issued = 0
        self._in_a_row = 0
        self._next_sweep = begin
        self._bin_end = begin + BIN_NS
        self._open = plan.rate is not None
        self._awake_ns = _awake_ns(plan.rate)
        self._part = part
        self._held = False
        self._paused_at = begin
        self._follows_at_once = not self._open and not plan.think_ns
        self._arrivals = arrivals(plan, part, begin)
        self._next_arrival = next(self._arrivals, None)

    def run(self):
        """Put the load on; return the seconds that it took, and the counts."""
        _wake_on_time()
        self._wait_for_begin()
        if not self._open:
            for _ in range(self._share):
                self._issue(self._begin)
        now = time.monotonic_ns()
        while now < self._deadline and not self._done():
            self._take_due(now)
            self._dispatch(now)
            self._handle(self._wait())
            now = time.monotonic_ns()
            if now >= self._next_sweep:
                self._give_up(now)
        self._end(now)
        return (now - self._begin) / SECOND, self._tally

    def _wait_for_begin(self):
        # A constant rate has its first request due at once: who slept until then sends it late.
        while (early := self._begin - time.monotonic_ns()) > 0:
            if early > self._awake_ns:
                time.sleep((early - self._awake_ns) / SECOND)

    # In turns

    def run_in_turns(self, go, done):
        """Put the load on in slices, as the lines of `go` say; write what each gave to `done`.

        Return the seconds of all slices, and the counts.
        """
        _wake_on_time()
        took = 0
        self._hold()
        for line in go:
            word, _, rest = line.strip().partition(" ")
            if word == "end":
                break
            if word == "anew":
                self._forget()
                took, told = 0, ""
            else:
                begin, end, *counts = self._slice(int(rest))
                took += end - begin
                told = " ".join(map(str, (begin, end, *counts)))
            print(told, file=done, flush=True)
        self._end(self._paused_at)
        return took / SECOND, self._tally

    def _slice(self, length):
        """Return begin and end of a slice in ns, requests sent, responses, failed requests.

        It ends once no request is under way any more.
        """
        tally = self._tally
        self._handle(self._epoll.poll(0, EVENTS))  # what the server closed meanwhile
        before = tally.sent, tally.responses, tally.failed
        begin = now = time.monotonic_ns()
        self._bin_end += begin - self._paused_at  # the bins are of the slices alone
        self._deadline = held_at = begin + length
        self._held, self._follows_at_once = False, not self._plan.think_ns
        for _ in range(self._share - len(self._queue)):
            self._issue(begin)
        while not self._held or any(each.state != _IDLE for each in self._connections.values()):
            self._take_due(now)
            self._dispatch(now)
            events = self._wait()
            if not self._held and time.monotonic_ns() >= held_at:
                self._hold()
            self._handle(events)
            now = time.monotonic_ns()
            if now >= self._next_sweep:
                self._give_up(now)
        self._paused_at = now
        after = tally.sent, tally.responses, tally.failed
        return begin, now, *(new - old for new, old in zip(after, before, strict=True))

    def _hold(self):
        """Send nothing more, and forget what was to be sent later."""
        self._held, self._follows_at_once = True, False
        self._deadline = 1 << 62
        self._issued -= len(self._later)
        self._later.clear()

    def _forget(self):
        """Count anew, but keep the connections."""
        old, self._tally = self._tally, Tally()
        self._tally.connections, self._tally.connect = old.connections, old.connect
        self._tally.started = len(self._queue)  # what was due, and not sent: a later slice does
        self._fast.clear()  # each of them holds a histogram of the old counts
        if self.stream is not None:
            self.stream.begin(self._plan.kinds)
        self._bin_end = self._paused_at + BIN_NS
        self._moments = moments(self._plan, self._part)
        self._sample_at = next(self._moments, 1 << 62)

    def _done(self):
        if self._open:
            exhausted = self._next_arrival is None
            # Without a number of requests the deadline is the end, not the last arrival.
            exhausted = exhausted and self._plan.requests is not None
        else:
            exhausted = self._issued >= self._limit
        if not exhausted or self._queue or self._later or self._steps:
            return False
        return all(each.state == _IDLE for each in self._connections.values())

    # From the schedule to a connection

    def _issue(self, intended):
        if self._issued < self._limit:
            self._issued += 1
            heapq.heappush(self._later, intended)

    def _take_due(self, now):
        """Move what is due to the queue, with the time at which it was seen to be."""
        while self._next_arrival is not None and self._next_arrival <= now:
            self._tally.started += 1
            self._queue.append((self._next_arrival, now, None))
            self._next_arrival = next(self._arrivals, None)
        while self._later and self._later[0] <= now:
            self._tally.started += 1
            self._queue.append((heapq.heappop(self._later), now, None))
        while self._steps and self._steps[0][0] <= now:
            due, _, flow = heapq.heappop(self._steps)
            self._count_step()
            self._queue.append((due, now, flow))

    def _dispatch(self, now):
        """Give requests to idle connections, or open one for each as far as it is allowed."""
        queue, idle, started = self._queue, self._idle, now
        # Where connecting fails at once, a long queue must not carry the load past its end.
        while queue and started < self._deadline:
            while idle and idle[-1].state == _CLOSED:
                idle.pop()
            if not idle and len(self._connections) >= self._share:
                return
            intended, seen, flow = queue.popleft()
            started = time.monotonic_ns()
            if seen == now:
                self._tally.lateness.record((started - intended) // 1000)
            else:
                self._tally.lateness.record((seen - intended) // 1000)
                self._tally.waited.record((started - seen) // 1000)
            if idle:
                connection = idle.pop()
                connection.intended, connection.flow = intended, flow
                self._send(connection, started)
            else:
                self._connect(intended, started, flow)

    def _count_step(self):
        self._issued += 1
        self._tally.started += 1

    def _connect(self, intended, now, flow):
        plan = self._plan
        connection = Connection()
        connection.intended = intended
        connection.opened = now
        connection.untouched = False
        connection.unsent = None
        connection.response = None
        connection.state = _CONNECTING
        connection.flow = flow
        connection.kind = None if flow is None else flow.kind
        try:
            connection.socket = socket.socket(plan.family, socket.SOCK_STREAM)
        except OSError as error:
            self._lost(connection, "connect", error, now)
            return
        connection.socket.setblocking(False)
        connection.fd = connection.socket.fileno()
        self._connections[connection.fd] = connection
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._epoll.register(connection.fd, select.EPOLLOUT)
        code = connection.socket.connect_ex(plan.address)
        if code not in (0, errno.EINPROGRESS):
            self._lost(connection, "connect", OSError(code, os.strerror(code)), now)

    def _send(self, connection, now):
        """Send the request, or the next one of a mix."""
        if self.stream is None:
            connection.request, connection.fast = self._plan.request, self._fast
        elif connection.flow is not None:
            self.stream.follow(connection)
        else:
            self.stream.take(connection)
        self._transmit(connection, now)

    def _transmit(self, connection, now):
        """Send a request; what does not fit into the socket goes when it is writable."""
        connection.sent = now
        connection.response = None
        self._tally.sent += 1
        try:
            sent = connection.send(connection.request)
        except _AGAIN:
            sent = 0
        except OSError as error:
            self._lost(connection, _kind(error), error, now)
            return
        if sent == len(connection.request):
            connection.state = _WAITING
            connection.untouched = True
        else:
            self._send_later(connection, sent)

    def _send_later(self, connection, sent):
        connection.response = None
        connection.state = _SENDING
        connection.untouched = False
        connection.unsent = memoryview(connection.request)[sent:]
        self._epoll.modify(connection.fd, select.EPOLLIN | select.EPOLLOUT)

    # Waiting

    def _wait(self):
        """Return events, at the latest when something is due."""
        next_due = self._next_arrival
        if self._steps:
            next_due = self._steps[0][0] if next_due is None else min(next_due, self._steps[0][0])
        if self._later and (next_due is None or self._later[0] < next_due):
            next_due = self._later[0]
        until = min(self._next_sweep, self._deadline)
        now = time.monotonic_ns()
        if next_due is None or next_due > until:
            # epoll rounds up to whole milliseconds, which is near enough for these.
            return self._epoll.poll(max(0, until - now) / SECOND, EVENTS)
        events = self._epoll.poll(0, EVENTS)
        left = next_due - now - self._awake_ns
        if events or left <= 0:
            return events
        select.select([self._epoll], [], [], left / SECOND)
        return self._epoll.poll(0, EVENTS)

    # From a connection to the counts

    # One function without calls: what a response costs here bounds the load that can be made.
    def _handle(self, events):  # noqa: C901, PLR0912, PLR0915
        """Take what came: here a whole response of a known head, all else step by step."""
        plan, tally, connections = self._plan, self._tally, self._connections
        clock, stream, request = time.monotonic_ns, self.stream, plan.request
        size, timeout_us = len(request), plan.timeout_ns // 1000
        follows = self._follows_at_once
        for fd, mask in events:
            connection = connections.get(fd)
            if connection is None:
                continue
            if not connection.untouched:
                self._touch(connection, mask)
                continue
            try:
                data = connection.recv(READ)
            except _AGAIN:
                continue
            except OSError as error:
                self._lost(connection, _kind(error), error, clock())
                continue
            now = clock()
            known = connection.fast.get(data[: data.find(_HEAD_END) + 4])
            if known is None or known.whole != len(data) or tally.responses >= self._sample_at:
                self._read(connection, data, now)
                continue
            tally.received_bytes += len(data)
            if stream is not None:
                stream.tallies[connection.kind].received_bytes += len(data)
            us = (now - connection.sent) // 1000
            if connection.sent != connection.intended or us > timeout_us:
                connection.first_byte = now
                self._answered(connection, known.status, known.body_bytes, True, now)
                continue
            if now >= self._bin_end:
                self._close_bins(now)
            histogram = known.histogram
            place = us if us < PLAIN else bucket(us)
            try:
                histogram.counts[place] += 1
            except IndexError:
                histogram.make_room(place)
                histogram.counts[place] += 1
            histogram.sum += us
            if us > histogram.max:  # noqa: PLR1730
                histogram.max = us
            tally.responses += 1
            self._in_a_row = 0
            if not follows or self._issued >= self._limit:
                self._rest(connection)
                self._follow(now + plan.think_ns)
                continue
            self._issued += 1
            tally.started += 1
            connection.intended = connection.sent = now
            if stream is not None:
                request = stream.take(connection)
                size = len(request)
            try:
                gone = connection.send(request)
            except OSError:
                gone = -1
            if gone == size:
                tally.sent += 1
            elif gone < 0:
                self._transmit(connection, now)  # which takes the error, should it come again
            else:
                tally.sent += 1
                self._send_later(connection, gone)

    def _touch(self, connection, mask):
        """Take an event of a connection that is in any state but a fresh wait."""
        if connection.state == _CONNECTING:
            self._connected(connection)
        elif connection.state == _SHAKING:
            self._shake(connection)
        else:
            if mask & select.EPOLLOUT and connection.state == _SENDING:
                self._send_more(connection)
            if mask & ~select.EPOLLOUT and connection.state != _CLOSED:
                self._receive(connection)

    def _connected(self, connection):
        code = connection.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        now = time.monotonic_ns()
        if code:
            self._lost(connection, "connect", OSError(code, os.strerror(code)), now)
            return
        self._tally.connections += 1
        self._epoll.modify(connection.fd, select.EPOLLIN)
        context = self._plan.context
        if context is None:
            self._ready(connection, now)
            return
        connection.state = _SHAKING
        try:
            connection.socket = context.wrap_socket(
                connection.socket, do_handshake_on_connect=False, server_hostname=self._plan.host
            )
        except OSError as error:
            self._lost(connection, "tls", error, now)
        else:
            self._shake(connection)

    def _shake(self, connection):
        try:
            connection.socket.do_handshake()
        except _TLS.SSLWantReadError:
            self._epoll.modify(connection.fd, select.EPOLLIN)
        except _TLS.SSLWantWriteError:
            self._epoll.modify(connection.fd, select.EPOLLOUT)
        except OSError as error:
            self._lost(connection, _kind(error), error, time.monotonic_ns())
        else:
            self._epoll.modify(connection.fd, select.EPOLLIN)
            self._ready(connection, time.monotonic_ns())

    def _ready(self, connection, now):
        connection.recv = connection.socket.recv
        connection.send = connection.socket.send
        self._tally.connect.record((now - connection.opened) // 1000)
        self._send(connection, now)

    def _send_more(self, connection):
        try:
            sent = connection.send(connection.unsent)
        except _AGAIN:
            return
        except OSError as error:
            self._lost(connection, _kind(error), error, time.monotonic_ns())
            return
        connection.unsent = connection.unsent[sent:]
        if not connection.unsent:
            connection.unsent = None
            connection.state = _WAITING
            connection.untouched = connection.response is None
            self._epoll.modify(connection.fd, select.EPOLLIN)

    def _receive(self, connection):
        try:
            data = connection.recv(READ)
        except _AGAIN:
            return
        except OSError as error:
            self._lost(connection, _kind(error), error, time.monotonic_ns())
            return
        self._read(connection, data, time.monotonic_ns())

    def _read(self, connection, data, now):
        """Take bytes, or the end that no bytes mean."""
        self._count_bytes(connection, len(data))
        if connection.state == _IDLE:
            self._tally.stray += bool(data)
            self._close(connection)
            return
        response, begins = connection.response, connection.response is None
        if begins:
            response = connection.response = Response(self._plan.bodiless, self._heads)
            connection.untouched = False
            connection.first_byte = now
            response.body = self._kept(connection)
        if not data:
            if response.head is not None and response.ended():
                self._whole(connection, response, False, now)
            else:
                self._lost(connection, "closed" if begins else "cut", None, now)
            return
        try:
            complete = response.feed(data)
        except Malformed as error:
            self._lost(connection, "malformed", error, now)
            return
        if complete and response.extra:
            self._lost(connection, "extra", None, now)
        elif complete:
            head = response.head
            self._tally.server = self._tally.server or head.server
            # An answer that came before the request had gone leaves the connection in between.
            keeps = head.keeps and self._plan.keep_alive and connection.state == _WAITING
            if begins and keeps and connection.flow is None:
                self._remember(connection, response, data)
            self._whole(connection, response, keeps, now)

    def _kept(self, connection):
        """Return what keeps the body of a response: of a flow, or of the sample; None of others."""
        if connection.flow is not None:
            return Whole()
        if self._tally.responses >= self._sample_at:
            self._sample_at = next(self._moments)
            return Body()
        return None

    def _whole(self, connection, response, keeps, now):
        """Take a complete response: of a flow, with what it gives for the next step."""
        head, flow = response.head, connection.flow
        if flow is None:
            self._sampled(response)
        else:
            try:
                body = response.body.content
                lines = header_lines(response.text)
                ended = self.stream.flows.answered(flow, head.status, lines, body)
            except NoValue as error:
                self._lost(connection, "take", error, now)
                return
            if ended is not None:
                self._tally.note(ended)
                self.stream.abort(flow)
                connection.flow = None
        self._answered(connection, head.status, response.body_bytes, keeps, now)

    def _count_bytes(self, connection, received):
        self._tally.received_bytes += received
        if self.stream is not None and connection.state != _IDLE:
            self.stream.tallies[connection.kind].received_bytes += received

    def _sampled(self, response):
        if response.body is not None:
            self._tally.sample(response.head.status, response.body_bytes, response.body)

    def _answered(self, connection, status, body_bytes, keeps, now):
        """Count a complete response, unless it came too late, and see what is next."""
        latency = now - connection.intended
        if latency > self._plan.timeout_ns:
            self._lost(connection, "timeout", None, now)
            return
        if now >= self._bin_end:
            self._close_bins(now)
        service = (now - connection.sent) // 1000
        first_byte = (connection.first_byte - connection.sent) // 1000
        self._tally.answered(status, body_bytes, latency // 1000, service, first_byte)
        if self.stream is not None:
            of_kind = self.stream.tallies[connection.kind]
            of_kind.answered(status, body_bytes, latency // 1000, service, first_byte)
        if self.course is not None:
            self.course.answered(connection.intended, latency // 1000)
        self._in_a_row = 0
        if connection.flow is not None:
            self._step(connection, keeps, now)
        elif not keeps:
            self._close(connection)
            self._follow(now + self._plan.think_ns)
        elif self._follows_at_once and self._issued < self._limit:
            self._issued += 1
            self._tally.started += 1
            connection.intended = now
            self._send(connection, now)
        else:
            self._rest(connection)
            self._follow(now + self._plan.think_ns)

    def _step(self, connection, keeps, now):
        """Go on with a flow: after its pause, or that of a closed loop, or at once."""
        flow, think = connection.flow, self._plan.think_ns
        if flow.think_s is not None:
            think = round(flow.think_s * SECOND)
        if think or not keeps:
            connection.flow = None
            (self._rest if keeps else self._close)(connection)
        if think:
            heapq.heappush(self._steps, (now + think, next(self._order), flow))
            return
        self._count_step()
        self._tally.lateness.record(0)
        if keeps:
            connection.intended = now
            self._send(connection, now)
        else:
            self._connect(now, now, flow)

    def _remember(self, connection, response, data):
        """From now on a response with this head and of this length is known."""
        head, size = response.head, len(data) - response.body_bytes
        # Behind an interim answer, or with bare line feeds, the head is not what stands there.
        if head.length is None or data.find(_HEAD_END) + 4 != size:
            return
        fast, tally = connection.fast, self._tally
        if self.stream is not None:
            tally = self.stream.tallies[connection.kind]
        if len(fast) >= FAST_HEADS:
            fast.clear()
        histogram = tally.direct_of(head.status, head.length)
        fast[data[:size]] = Known(head.status, head.length, len(data), histogram)

    def _rest(self, connection):
        """Leave a connection open for another request."""
        connection.state = _IDLE
        connection.untouched = False
        self._idle.append(connection)

    def _follow(self, intended):
        if not self._open and not self._held:
            self._issue(intended)

    def _lost(self, connection, kind, error, now):
        """Count a request that ends without a complete response, and close its connection."""
        if connection.state == _IDLE:
            self._close(connection)
            return
        if now >= self._bin_end:
            self._close_bins(now)
        if connection.state in (_CONNECTING, _SHAKING):
            self._tally.never_sent += 1
        if connection.kind is not None and self.stream is not None:
            self.stream.tallies[connection.kind].fail(kind, "")
        self._tally.fail(kind, _reason(kind, error))
        if connection.flow is not None:
            self.stream.abort(connection.flow)
        if self.course is not None:
            self.course.failed(connection.intended)
        self._close(connection)
        self._in_a_row += 1
        self._follow(now + self._pause())

    def _pause(self):
        """Return how long a closed loop waits: not at all while something is answered."""
        rounds = self._in_a_row // max(1, self._share)
        if not rounds:
            return self._plan.think_ns
        return max(self._plan.think_ns, min(LONGEST_PAUSE_NS, FIRST_PAUSE_NS << min(rounds, 20)))

    def _close(self, connection):
        connection.state = _CLOSED
        connection.untouched = False
        held = self._connections.pop(getattr(connection, "fd", -1), None)
        if held is not None:
            connection.socket.close()

    def _close_bins(self, now):
        while now >= self._bin_end:
            self._tally.close_bin()
            self._bin_end += BIN_NS

    def _give_up(self, now):
        """End what has taken longer than the timeout, sent or not."""
        self._next_sweep = now + min(SWEEP_NS, self._plan.timeout_ns // 4 + 1)
        self._close_bins(now)
        too_old = now - self._plan.timeout_ns
        for connection in list(self._connections.values()):
            if connection.state != _IDLE and connection.intended < too_old:
                self._lost(connection, "timeout", None, now)
        while self._queue and self._queue[0][0] < too_old:
            intended, seen, flow = self._queue.popleft()
            self._tally.lateness.record((seen - intended) // 1000)
            self._tally.waited.record((now - seen) // 1000)
            self._tally.never_sent += 1
            self._tally.fail("timeout", "")
            if flow is not None:
                self.stream.tallies[flow.kind].fail("timeout", "")
                self.stream.abort(flow)
            if self.course is not None:
                self.course.failed(intended)
            self._in_a_row += 1
            self._follow(now + self._pause())

    def _end(self, now):
        """Keep the ages of what is not answered yet: each would have taken longer than that."""
        tally = self._tally
        self._take_due(now)
        for intended, seen, _ in self._queue:
            tally.waiting += 1
            tally.in_flight.record(max(0, now - intended) // 1000)
            if self.course is not None:
                self.course.unfinished(intended)
            tally.lateness.record(max(0, seen - intended) // 1000)
            tally.waited.record(max(0, now - seen) // 1000)
        for connection in self._connections.values():
            if connection.state != _IDLE:
                tally.waiting += connection.state in (_CONNECTING, _SHAKING)
                age = max(0, now - connection.intended) // 1000
                tally.in_flight.record(age)
                if self.course is not None:
                    self.course.unfinished(connection.intended)
                if self.stream is not None and connection.state in (_SENDING, _WAITING):
                    self.stream.tallies[connection.kind].in_flight.record(age)
            connection.socket.close()
        self._close_bins(now)
        tally.close_bin()


def moments(plan, part):
    """Yield after how many responses the next one is of the sample: each with the same chance."""
    if not plan.sample:
        return
    chance = random.Random(f"sample {plan.sample_seed} {part}")  # noqa: S311
    number = -1
    while True:
        number += 1 + int(math.log(1 - chance.random()) / math.log1p(-plan.sample))
        yield number


def arrivals(plan, part, begin):
    """Yield the intended starts of an open loop in ns, those of one process; else nothing.

    Constant arrivals are dealt out to the processes in turn. Poisson processes of a share of the
    rate each make one of the whole rate. In stages, numbers are turned into the times at which so
    many are due.
    """
    if plan.rate is None:
        return
    if plan.stages:
        yield from _staged(plan, part, begin)
        return
    limit = math.ceil(plan.requests / plan.per_record) if plan.requests else 1 << 62
    rate = plan.rate / plan.per_record  # a flow arrives once, and has several requests
    if plan.arrivals == "constant":
        number = part
        while number < limit and (after := round(number * SECOND / rate)) < plan.duration_ns:
            yield begin + after
            number += plan.processes
        return
    draw = random.Random(f"{plan.seed}/{part}")  # noqa: S311
    after = 0.0
    for _ in range(_share(limit, part, plan.processes)):
        after += draw.expovariate(rate / plan.processes) * SECOND
        if after >= plan.duration_ns:
            return
        yield begin + int(after)


def _staged(plan, part, begin):
    stages = [(a / plan.per_record, b / plan.per_record, length) for a, b, length in plan.stages]
    due, draw = inverse(stages), random.Random(f"{plan.seed}/{part}")  # noqa: S311
    constant, number = plan.arrivals == "constant", float(part)
    if not constant:
        number = draw.expovariate(1 / plan.processes)
    while (after := due(number)) is not None and after < plan.duration_ns:
        yield begin + after
        number += plan.processes if constant else draw.expovariate(1 / plan.processes)


def _share(total, part, parts):
    return total // parts + (part < total % parts)


def _kind(error):
    return "tls" if _TLS and isinstance(error, _TLS.SSLError) else "reset"


def _reason(kind, error):
    if error is None:
        return ""
    if _TLS and isinstance(error, _TLS.SSLCertVerificationError):
        return f"{kind}: {error.verify_message}"
    if isinstance(error, OSError):
        return f"{kind}: {error.strerror or error}"
    return f"{kind}: {error}"


def _awake_ns(rate):
    apart = SECOND / rate if rate else 0
    return int(min(max(AWAKE_NS, apart / 100), LONGEST_AWAKE_NS))


def _wake_on_time():
    """Ask the kernel not to delay our timers by its usual 50 us."""
    # Where that is refused requests are sent that much later, which is counted.
    with contextlib.suppress(OSError):
        Path("/proc/self/timerslack_ns").write_text("1000")
