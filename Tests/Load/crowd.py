#!/usr/bin/env python3
"""Idle clients, and three kinds of slow clients, which all hold connections open. They run in a separate process, so
that they do not disturb the measurements.

  crowd.py JSON

Prints `standing` when the idle clients are connected, waits for a line, and connects the slow clients. It continues
until its input ends or `seconds` are over, and then prints its results as JSON: for each kind of slow client the times
until the gateway disconnected them, in seconds since a client connected or since its kernel last received bytes for it,
and the number of idle connections that are left.
"""

import fcntl
import json
import select
import socket
import struct
import sys
import termios
import time

import clients

TICK = 0.5  # seconds between two bytes of a slow client
KINDS = ("headers", "bodies", "readers")


class Slow:
    """A slow client; with `renew`, a new one follows when it is disconnected."""

    def __init__(self, kind, options):
        self.kind, self.options = kind, options
        self.socket = socket.socket()
        # A small buffer: unread bytes wait in the gateway and in its kernel buffers, not here.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.socket.connect(("127.0.0.1", options["port"]))
        self.socket.setblocking(False)
        self.began, self.waiting = time.monotonic(), 0
        host = options["host"]
        if kind == "headers":
            first = f"GET /small HTTP/1.1\r\nHost: {host}\r\nX-Slow: "
        elif kind == "bodies":
            first = f"POST /sink HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1048576\r\n\r\n"
        else:
            first = f"GET /large HTTP/1.1\r\nHost: {host}\r\n\r\n"
        self.socket.send(first.encode())

    def tick(self):
        if self.kind != "readers":
            try:
                self.socket.send(b"x")
            except OSError:
                pass  # the next event reports the end
            return
        # Bytes can still arrive late for a client that does not read, because hundreds of others are served first.
        waiting, = struct.unpack("i", fcntl.ioctl(self.socket, termios.FIONREAD, b"1234"))
        if waiting > self.waiting:
            self.began, self.waiting = time.monotonic(), waiting

    def is_over(self, event):
        if event & (select.EPOLLERR | select.EPOLLHUP):
            return True
        if self.kind == "readers":
            return bool(event & select.EPOLLRDHUP)
        try:
            # Reads the refusal and the end of the connection.
            while self.socket.recv(65536):
                pass
            return True
        except BlockingIOError:
            return False
        except OSError:
            return True


def stand(options):
    """Opens the idle connections and sends one request on each."""
    held = []
    tls, tls2 = clients.context(), clients.context(protocols=("h2",))

    def stay(client):
        status, _ = client.request("/small")
        if status != 200:
            sys.exit(f"crowd: an idle connection's request is answered with {status}")
        held.append(client)

    for _ in range(options["idle"]):
        stay(clients.HTTP1(options["port"], options["host"]))
    for _ in range(options["idle_tls"]):
        stay(clients.HTTP1(options["tls_port"], options["host"], tls))
    for number in range(options["idle_h2"]):
        over_tls = number % 2 == 0
        stay(clients.HTTP2(options["tls_port" if over_tls else "port"], options["host"], tls2 if over_tls else None))
    return held


def main():
    options = json.loads(sys.argv[1])
    # With many clients a garbage collection takes long, and this process shares its core with the measurements.
    import gc

    gc.disable()
    idle = stand(options)
    print("standing", flush=True)
    sys.stdin.readline()
    poll = select.epoll()
    slow, lives, began = {}, {kind: [] for kind in KINDS}, time.monotonic()

    def add(kind):
        client = Slow(kind, options)
        slow[client.socket.fileno()] = client
        poll.register(client.socket, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)

    # Spread over half a second, because hundreds of simultaneous requests take time in any server.
    coming = [kind for kind in KINDS for _ in range(options[kind])]
    gap = 0.5 / max(1, len(coming))
    for kind in coming:
        add(kind)
        time.sleep(gap)
    poll.register(0, select.EPOLLIN | select.EPOLLHUP)
    ends = False
    due = time.monotonic() + TICK
    ticking = []
    while not ends and time.monotonic() - began < options["seconds"] and (slow or idle):
        # Not all at once, which would be another burst.
        wait = TICK / 20
        for descriptor, event in poll.poll(wait):
            if descriptor == 0:
                ends = True
                continue
            client = slow.get(descriptor)
            if client is None or not client.is_over(event):
                continue
            lives[client.kind].append(time.monotonic() - client.began)
            del slow[descriptor]
            poll.unregister(descriptor)
            client.socket.close()
            if options["renew"]:
                add(client.kind)
        now = time.monotonic()
        if now >= due:
            due = now + TICK
            ticking = list(slow.values())
        share = max(1, len(slow) // 15)
        for client in ticking[:share]:
            if client.socket.fileno() >= 0:
                client.tick()
        ticking = ticking[share:]
    left = {kind: sum(1 for each in slow.values() if each.kind == kind) for kind in KINDS}
    gone = sum(1 for each in idle if each.ended())
    print(json.dumps({"lives": lives, "left": left, "idle": len(idle) - gone, "idle_gone": gone}), flush=True)


main()
