#!/usr/bin/env python3
"""Clients that hold connections: idle ones, and slow ones of three kinds. A process of its own, so that it is not in the
way of what measures.

  crowd.py JSON

Says `standing` when the idle ones stand, waits for a line, and lets the slow ones come. It goes on until its input ends or
`seconds` are over, and then says as JSON what it saw: for each kind of slow client how long each was suffered, in seconds
since it came or since its kernel last took something for it, and how many idle connections are left.
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
    """A slow client; `renew` comes back when it is sent away."""

    def __init__(self, kind, options):
        self.kind, self.options = kind, options
        self.socket = socket.socket()
        # What it does not read waits in the gateway and in the kernel, not here.
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
                pass  # the next event says that it is over
            return
        # What it does not read comes late where hundreds are served before it.
        waiting, = struct.unpack("i", fcntl.ioctl(self.socket, termios.FIONREAD, b"1234"))
        if waiting > self.waiting:
            self.began, self.waiting = time.monotonic(), waiting

    def is_over(self, event):
        if event & (select.EPOLLERR | select.EPOLLHUP):
            return True
        if self.kind == "readers":
            return bool(event & select.EPOLLRDHUP)
        try:
            # The answer that sends it away, and the end behind it.
            while self.socket.recv(65536):
                pass
            return True
        except BlockingIOError:
            return False
        except OSError:
            return True


def stand(options):
    """The idle connections, each after one request."""
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
    # A large table of clients makes a collection long, and this process shares its core with what measures.
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

    # Within half a second, and not all in the same instant: hundreds of requests at once take their time anywhere.
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
        # Not all at once: that would be a burst of its own.
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
