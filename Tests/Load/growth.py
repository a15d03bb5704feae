"""Mixed traffic with as many requests as a small site has in an hour, and the gateway's memory and descriptors after
it."""

import argparse
import collections
import random
import socket
import struct
import threading
import time

import clients
import measure
import stage

import browser  # importing `stage` has added its folder to the path

HOUR = 36_000  # requests: ten per second for an hour
RATE = 300  # requests per second, equal in warm-up and rounds, because the gateway remembers used codes for a minute
# Longer than the gateway remembers a used code (60 s), with time for the allocator to reach a stable size.
WARM_UP = 100  # seconds
ROUNDS = 4
SETTLING = 3  # seconds in which a process notices that connections were closed
CLOSING = 30  # seconds in which a busy machine closes them
# The usual variation of a process between rounds: the numbers of simultaneous connections and buffers differ, and the
# allocator keeps pages. A leak of 100 bytes per request would be 3.5 MiB.
MEMORY = 2.0  # MiB
DESCRIPTORS = 2  # the connection of the admin listener, and one that is about to close
THREADS = 6


class Visitor(threading.Thread):
    """A client that performs random actions one after another until the run ends."""

    def __init__(self, traffic, number):
        super().__init__(daemon=True)
        self.traffic, self.dice = traffic, random.Random(number)
        self.kept, self.session = {}, None

    # Each action returns the number of its requests.

    def hold(self, name, make):
        client = self.kept.get(name)
        if client is None or client.ended():
            client = self.kept[name] = make()
        return client

    def expect(self, outcome, *statuses):
        if outcome[0] not in statuses:
            raise clients.Lost(f"status {outcome[0]} in place of {statuses}")
        return 1

    def one(self):
        return clients.HTTP1(self.traffic.port, self.traffic.host)

    def tls(self, session=None):
        return clients.HTTP1(self.traffic.tls_port, self.traffic.host, self.traffic.tls, session)

    def h2(self):
        return clients.HTTP2(self.traffic.tls_port, self.traffic.host, self.traffic.h2)

    def h2c(self):
        return clients.HTTP2(self.traffic.port, self.traffic.host)

    def passed(self):
        count = 0
        for name, make in (("plain", self.one), ("tls", self.tls), ("h2", self.h2), ("h2c", self.h2c)):
            client = self.hold(name, make)
            for _ in range(3):
                if client.ended():
                    break
                count += self.expect(client.request("/small"), 200)
        return count

    def fresh(self):
        for make in (self.one, self.tls, self.h2):
            client = make()
            self.expect(client.request("/small"), 200)
            client.close()
        client = self.tls(self.session)
        self.expect(client.request("/small"), 200)
        self.session = client.socket.session or self.session
        client.close()
        return 4

    def large(self):
        return self.expect(self.hold("tls", self.tls).request("/large"), 200)

    def upload(self):
        body = b"x" * self.dice.choice((100, 20_000, 300_000))
        return self.expect(self.hold("plain", self.one).request("/sink", body), 200) + self.expect(
            self.hold("h2", self.h2).request("/sink", body), 200)

    def flow(self):
        """Runs a sign-in from the authorization request to the token, with or without TLS."""
        name, make = self.dice.choice((("plain", self.one), ("tls", self.tls)))
        steps, count = browser.flow(self.traffic.options), 0
        try:
            # There is only one server.
            _, request = next(steps)
            while True:
                count += 1
                _, request = steps.send(self.traffic.exchange(self.hold(name, make), request))
        except StopIteration:
            return count

    def refused(self):
        client = self.hold("plain", self.one)
        count = 0
        for target in ("/authorize?response_type=code&client_id=nobody", "/authorize?response_type=code&client_id=demo-app",
                       "/authorize?response_type=code&client_id=demo-app&redirect_uri=https://evil.example/"):
            if not client.ended():
                count += self.expect(client.request(target), 302, 303, 400, 403)
        for head in (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET /x HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 20_000,
                     b"\x16\x03\x01\x00\x05hello\r\n\r\n", b"POST /token HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"):
            client = self.one()
            client.send(head)
            self.expect(client.answer(), 400, 421, 431)
            client.close()
            count += 1
        return count

    def limited(self):
        """Guesses a secret; after twenty guesses the answer is 429."""
        client, count = self.hold("plain", self.one), 0
        for number in range(3):
            if client.ended():
                break
            body = f"grant_type=refresh_token&refresh_token=x&client_id=back-office&client_secret=guess{number}".encode()
            status, _ = client.request("/token", body, ("Content-Type: application/x-www-form-urlencoded",))
            self.traffic.statuses[status] += 1
            count += self.expect((status,), 401, 429)
        return count

    def aborted(self):
        """Disconnects in the middle of a head, an upload, an answer, a handshake or a stream."""
        reset = struct.pack("ii", 1, 0)
        host = self.traffic.host
        for data in (f"GET /small HTTP/1.1\r\nHost: {host}\r\nX-Half: ".encode(),
                     f"POST /sink HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100000\r\n\r\n".encode() + b"x" * 5000,
                     f"GET /large HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()):
            plain = clients.opened(self.traffic.port)
            plain.sendall(data)
            if b"large" in data:
                plain.recv(1000)
            if self.dice.random() < 0.5:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            plain.close()
        plain = clients.opened(self.traffic.tls_port)
        plain.sendall(b"\x16\x03\x01\x02\x00\x01")
        plain.close()
        client = self.hold("h2c", self.h2c)
        stream = client.begin("/large")
        client.send(clients.frame(3, 0, stream, struct.pack(">I", 8)))
        client.done[stream] = 8
        client.windows.pop(stream, None)
        return 4

    LOT = (("passed", 12), ("fresh", 4), ("large", 1), ("upload", 3), ("flow", 6), ("refused", 3), ("limited", 2),
           ("aborted", 2))

    def run(self):
        names, weights = zip(*self.LOT)
        while not self.traffic.done.is_set():
            name = self.dice.choices(names, weights)[0]
            try:
                count = getattr(self, name)()
            except (clients.NotTaken,):
                self.kept, count = {}, 1
            except Exception as error:
                count = 1
                self.traffic.fail(f"{name}: {type(error).__name__}: {error}")
                self.kept = {}
            if not self.traffic.made(name, count):
                break
        for client in self.kept.values():
            client.close()


class Traffic:
    """Requests at a steady rate from several visitors, with policy reloads."""

    def __init__(self, gateway):
        self.gateway, self.port, self.tls_port, self.host = gateway, gateway.port, gateway.tls_port, gateway.host
        self.tls, self.h2 = clients.context(), clients.context(protocols=("h2",))
        self.lock = threading.Lock()
        self.options = argparse.Namespace(
            gateway=gateway.origin, authorize="/authorize", token="/token", resource=None, client_id="demo-app",
            redirect_uri="http://127.0.0.1:9/callback", scope=None, username="alice", password="wonderland")
        self.statuses, self.problems, self.lost = collections.Counter(), [], 0

    def fail(self, text):
        with self.lock:
            self.lost += 1
            if len(self.problems) < 20:
                self.problems.append(text)

    def exchange(self, client, request):
        """Sends a request of a flow unchanged. Returns the answer in the form that the flow reads."""
        client.send(request)
        while (end := client.data.find(b"\r\n\r\n")) < 0:
            client._more(False)
        status, headers, cookies = browser.parse_head(client.data[:end])
        client.data = client.data[end + 4:]
        body = b""
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while True:
                while (line := client.data.find(b"\r\n")) < 0:
                    client._more(True)
                size = int(client.data[:line], 16)
                while len(client.data) < line + size + 4:
                    client._more(True)
                body += client.data[line + 2:line + 2 + size]
                client.data = client.data[line + size + 4:]
                if not size:
                    break
        elif status not in (204, 304):
            wanted = int(headers.get("content-length", 0))
            while len(client.data) < wanted:
                client._more(True)
            body, client.data = client.data[:wanted], client.data[wanted:]
        if headers.get("connection", "").lower() == "close":
            client.close()
        return browser.Answer(status, headers, cookies, body)

    def made(self, name, count):
        """Counts requests and waits as the rate requires. Returns false when there are enough."""
        with self.lock:
            self.counts[name] += count
            self.total += count
            total = self.total
        if total >= self.wanted or time.monotonic() > self.latest:
            self.done.set()
            return False
        if (early := self.began + total / RATE - time.monotonic()) > 0:
            self.done.wait(min(early, 1))
        return True

    def run(self, requests, seed):
        self.counts, self.total, self.wanted = collections.Counter(), 0, requests
        self.done, self.began = threading.Event(), time.monotonic()
        self.latest = self.began + requests / RATE * 6 + 60
        visitors = [Visitor(self, seed * 100 + number) for number in range(THREADS)]
        for each in visitors:
            each.start()
        number = 0
        while not self.done.wait(3):
            number += 1
            self.gateway.title = f"Load {seed} {number}"
            self.gateway.write_policy()
            self.gateway.install(("other", "gateway")[number % 2])
            if "refused" in self.gateway.reload():
                self.fail("a reload was refused")
        for each in visitors:
            each.join(60)
        if self.total < requests:
            self.fail(f"only {self.total} of {requests} requests within the time limit")


def held(gateway, most=None):
    """Returns the memory in MiB, and the number of descriptors without the idle connections to the upstream. Waits for at
    most CLOSING until these are no more than `most`."""
    time.sleep(SETTLING)
    end = time.monotonic() + CLOSING
    while True:
        memory = measure.resident_bytes(gateway.pids()) / 2**20
        descriptors = measure.descriptors(gateway.pids()) - gateway.connections_to(gateway.upstream)
        if most is None or descriptors <= most or time.monotonic() > end:
            return memory, descriptors
        time.sleep(0.5)


def run(options, folder, judge):
    requests = options.requests or (1500 if options.short else HOUR)
    rounds = 1 if options.short else ROUNDS
    legacy = stage.Legacy(options.proofgate)
    upstream = gateway = None
    try:
        upstream = stage.Upstream(folder, legacy.port).start()
        # The legacy server accepts only the redirect URI of the demo's gateway, so this gateway uses the same origin.
        gateway = stage.Gateway(
            folder, options.proofgate, upstream.port, workers=2, origin=f"http://127.0.0.1:{legacy.port_of_gateway}",
            limits="header_timeout: 5s, token_requests_per_client: off").start()
        traffic = Traffic(gateway)
        began = time.monotonic()
        traffic.run(800 if options.short else WARM_UP * RATE, 0)
        first = before = held(gateway)
        figures, counts = [], collections.Counter()
        for number in range(1, rounds + 1):
            traffic.run(requests // rounds, number)
            counts += traffic.counts
            figures.append(held(gateway, before[1] + DESCRIPTORS))
            print(f"         after {sum(counts.values())} requests: {figures[-1][0]:.1f} MiB, {figures[-1][1]} descriptors",
                  flush=True)
        after = figures[-1]
        problems = list(traffic.problems)
        allowed = 12 if options.short else MEMORY
        if after[0] > before[0] + allowed:
            problems.append(f"memory grew by {after[0] - before[0]:.1f} MiB, more than {allowed}")
        if after[1] > before[1] + DESCRIPTORS:
            problems.append(f"there are {after[1] - before[1]} more descriptors")
        text = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        judge("growth", f"{sum(counts.values())} requests ({text}) in {time.monotonic() - began:.0f} s with the warm-up, "
              f"{traffic.lost} lost, {traffic.statuses[429]} answered with 429; after the warm-up {first[0]:.1f} MiB and "
              f"{first[1]} descriptors, at the end {after[0]:.1f} MiB and {after[1]}", problems)
    finally:
        for each in (gateway, upstream, legacy):
            if each:
                each.stop()
