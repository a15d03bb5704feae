"""One of two upstream addresses does not answer. Requests do not wait for it, after the first second."""

import socket
import statistics
import threading
import time

import clients
import latency
import stage
from latency import UNNOTICED

FIRST = 1.0  # seconds in which the gateway may find out that the address is silent
SECONDS = 14  # longer than the first outage of an address, so that the gateway tests it again
CLIENTS, PAUSE = 8, 0.02  # each client sends a request and then waits for this time
FACTOR = 1.5  # the maximum growth of p99


class Silent:
    """A listener whose queue of connections is full, so that the kernel drops the packets of further clients."""

    def __init__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(0)
        self.port = self.listener.getsockname()[1]
        self.fillers = []
        for _ in range(8):
            filler = socket.socket()
            filler.settimeout(1)
            self.fillers.append(filler)
            try:
                filler.connect(("127.0.0.1", self.port))
            except TimeoutError:
                return
        raise RuntimeError("the queue of the silent address does not fill up")

    def close(self):
        for each in (*self.fillers, self.listener):
            each.close()


class Client(threading.Thread):
    def __init__(self, gateway, seconds):
        super().__init__(daemon=True)
        self.gateway, self.seconds = gateway, seconds
        self.times, self.early, self.losses = [], [], []

    def run(self):
        began = time.monotonic()
        connection = None
        while (sent := time.monotonic()) < began + self.seconds:
            problem = ""
            try:
                connection = connection or clients.HTTP1(self.gateway.port, self.gateway.host)
                status, count = connection.request("/small")
                if status != 200 or count != stage.SMALL:
                    problem = f"{status} with {count} bytes"
            except (clients.Lost, clients.NotTaken, OSError) as error:
                problem, connection = str(error) or "lost", None
            if connection and not connection.is_open:
                connection.close()
                connection = None
            took = (time.monotonic() - sent) * 1000
            if sent < began + FIRST:
                self.early.append(took)
            elif problem:
                self.losses.append(f"{sent - began:.1f} s: {problem}")
            else:
                self.times.append(took)
            time.sleep(PAUSE)
        if connection:
            connection.close()


def measured(gateway, seconds):
    """Returns p99 after the first second, the longest time within it, and the failures after it."""
    crowd = [Client(gateway, seconds) for _ in range(CLIENTS)]
    for client in crowd:
        client.start()
    for client in crowd:
        client.join(seconds + 120)
    times = [each for client in crowd for each in client.times]
    if len(times) < 100:
        raise RuntimeError(f"only {len(times)} requests were answered")
    return (latency.percentile(times, 0.99), max(each for client in crowd for each in client.early),
            [loss for client in crowd for loss in client.losses])


def once(options, folder, upstream, silent, number):
    # Connections end soon, so that the gateway opens many.
    common = "  connection_requests: 10"
    results = []
    for name, servers in (
            ("quiet", f"  url: http://127.0.0.1:{upstream.port}"),
            ("silent", f"  urls: [http://127.0.0.1:{silent.port}, http://127.0.0.1:{upstream.port}]\n"
                       "  affinity: none")):
        gateway = stage.Gateway(
            folder, options.proofgate, upstream.port, name=f"{name}-{number}", servers=f"{servers}\n{common}").start()
        try:
            results.append(measured(gateway, 3 if name == "quiet" or options.short else SECONDS))
        finally:
            gateway.stop()
    return results


def run(options, folder, judge):
    upstream = stage.Upstream(folder).start()
    silent = Silent()
    try:
        rounds = [once(options, folder, upstream, silent, number) for number in range(options.rounds_of(5))]
    finally:
        silent.close()
        upstream.stop()
    quiet = statistics.median(each[0][0] for each in rounds)
    loaded = statistics.median(each[1][0] for each in rounds)
    problems = [loss for _, result in rounds for loss in result[2]]
    limit = max(FACTOR * quiet, UNNOTICED)
    if loaded > limit and not options.short:
        problems.append(f"p99 is {loaded:.1f} ms, the limit {limit:.1f} ms")
    first = max(each[1][1] for each in rounds)
    judge("silent", f"p99 {quiet:.2f} ms with one address, {loaded:.2f} ms with another that is silent; "
                    f"at most {first:.0f} ms in the first second", problems)
