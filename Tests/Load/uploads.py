"""Hundreds of uploads of one address that never become complete, over HTTP/1.1 and over HTTP/2: the server sees none of
them, and other clients do not notice them."""

import time

import clients
import measure
import peers
import stage
from latency import FACTOR, UNNOTICED, normal, percentile

UPLOADS = 900
STREAMS = 100  # uploads on one connection of HTTP/2: `concurrent_streams`
ADDRESS = "192.0.2.1"  # the address of the senders, in the header of the PROXY protocol
BALANCER = "127.0.0.2"  # the address of the load balancer that passes their connections on
LENGTH = 15_000  # announced bytes, which fit into the request buffer
SENT = (100, 14_000)  # bytes that are sent, alternately
MEMORY = 32  # MiB of buffers; 900 requests with three blocks each would need 47
WAIT = 60  # seconds until the gateway must have read all that was sent


class Upstream(stage.Upstream):
    """Logs each request for `/half`."""

    def configuration(self):
        text = super().configuration()
        location = f"    location = /half {{ access_log {self.folder}/half; return 200 ok; }}\n"
        return text.replace("    location = /small", f"{location}    location = /small", 1)

    def seen(self):
        return len((self.folder / "half").read_text().splitlines())


class Gateway(stage.Gateway):
    """Has a plaintext and a TLS listener for connections that a load balancer passes on, with the client's address."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, gateway=f"  trusted_proxies: [{BALANCER}]", **options)
        self.balanced_port, self.balanced_tls_port = peers.free_port(), peers.free_port()
        self.listeners = f"""\
    - {{ address: "127.0.0.1:{self.balanced_port}", proxy_protocol: true }}
    - address: 127.0.0.1:{self.balanced_tls_port}
      proxy_protocol: true
      tls: {{ certificate: served.pem, private_key: served.key }}
"""

    def write_policy(self):
        path = super().write_policy()
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(text.replace("  listeners:\n", f"  listeners:\n{self.listeners}", 1))
        return path


# The options of a connection that the load balancer passes on.
BALANCED = dict(
    seconds=WAIT, source=BALANCER, proxy_header=f"PROXY TCP4 {ADDRESS} 127.0.0.1 4000 80\r\n".encode())


class Connections:
    """Uploads over HTTP/1.1, one on each connection."""

    protocol = "HTTP/1.1"

    def __init__(self, gateway):
        self.senders = []
        head = f"POST /half HTTP/1.1\r\nHost: {gateway.host}\r\nContent-Length: {LENGTH}\r\n\r\n".encode()
        for number in range(UPLOADS):
            self.senders.append(clients.opened(gateway.balanced_port, **BALANCED))
            self.senders[-1].sendall(head + b"x" * SENT[number % len(SENT)])

    def ended(self):
        """Returns the number of uploads that the gateway has answered or ended."""
        return sum(clients.is_readable(sender) for sender in self.senders)

    def complete(self):
        """Completes one upload. Returns true if the answer is 200."""
        self.senders[0].sendall(b"x" * (LENGTH - SENT[0]))
        return b" 200 " in self.senders[0].recv(1000)

    def close(self):
        for sender in self.senders:
            sender.close()


class Streams:
    """Uploads over HTTP/2, as many on each connection as the gateway permits. Every other connection uses TLS."""

    protocol = "HTTP/2"

    def __init__(self, gateway):
        self.senders, tls = [], clients.context(protocols=("h2",))
        try:
            for number in range(UPLOADS):
                if number % STREAMS == 0:
                    port, context = ((gateway.balanced_port, None), (gateway.balanced_tls_port, tls))[
                        len(self.senders) % 2]
                    self.senders.append(clients.HTTP2(port, gateway.host, context, **BALANCED))
                stream = self.senders[-1].begin("/half", b"x" * SENT[number % len(SENT)], length=LENGTH)
                self.first = stream if number == 0 else self.first
        except clients.Lost as error:
            self.close()
            raise RuntimeError(f"a connection with half-sent uploads is lost: {error}")

    def ended(self):
        """Returns the number of uploads that the gateway has answered or ended."""
        return sum(STREAMS if sender.ended() else len(sender.done | sender.status) for sender in self.senders)

    def complete(self):
        """Completes one upload. Returns true if the answer is 200."""
        try:
            self.senders[0].send_body(self.first, b"x" * (LENGTH - SENT[0]))
            return self.senders[0].answer(self.first)[0] == 200
        except (clients.Lost, clients.NotTaken):
            return False

    def close(self):
        for sender in self.senders:
            sender.close()


def wait_until_read(gateway):
    """Waits until the gateway is idle, so that it has read everything."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        before = measure.cpu_seconds(gateway.pids())
        time.sleep(0.3)
        if measure.cpu_seconds(gateway.pids()) - before < 0.02:
            return
    raise RuntimeError("the gateway does not become idle")


def one_round(gateway, upstream, kind, options, problems):
    """Measures normal traffic with half-sent uploads of one kind. Returns its p99 and the resident memory in MiB, and
    adds to `problems`."""
    before, seen = gateway.connections_to(upstream.port), upstream.seen()
    uploads = kind(gateway)
    try:
        wait_until_read(gateway)
        if gateway.connections_to(upstream.port) > before:
            problems.append("half-sent uploads have opened connections to the server")
        sample = normal(gateway, options.seconds, options.rate)
        problems += sample["failures"][:3]
        resident = measure.resident_bytes(gateway.pids()) / 2**20
        if upstream.seen() != seen:
            problems.append(f"the server has seen {upstream.seen() - seen} of them")
        if ended := uploads.ended():
            problems.append(f"the gateway has answered or ended {ended} of them")
        # One of them becomes complete, so that the log of the server is known to work.
        elif not uploads.complete():
            problems.append("an upload that becomes complete is not answered")
        elif upstream.seen() != seen + 1:
            problems.append("the server has not logged the complete upload")
    finally:
        uploads.close()
    wait_until_read(gateway)
    return percentile(sample["latencies"], 0.99), resident


def run(options, folder, judge):
    upstream = Upstream(folder).start()
    gateway = None
    try:
        limits = f"minimum_rate: off, max_buffer_memory: {MEMORY}MiB"
        gateway = Gateway(folder, options.proofgate, upstream.port, limits=limits).start()
        normal(gateway, 1, options.rate)
        kinds = (Connections, Streams)
        quiet, loaded, memory = [], {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
        problems = {kind: [] for kind in kinds}
        for _ in range(options.rounds_of(5)):
            sample = normal(gateway, options.seconds, options.rate)
            problems[kinds[0]] += sample["failures"][:3]
            quiet.append(percentile(sample["latencies"], 0.99))
            for kind in kinds:
                p99, resident = one_round(gateway, upstream, kind, options, problems[kind])
                loaded[kind].append(p99)
                memory[kind].append(resident)
        without = percentile(quiet, 0.5)
        for kind in kinds:
            beside = percentile(loaded[kind], 0.5)
            if not options.short and beside > without * FACTOR and beside > UNNOTICED:
                problems[kind].append(f"p99 is {beside / without:.1f} times its quiet value, more than {FACTOR}")
            judge("uploads", f"{UPLOADS} half-sent uploads of one address over {kind.protocol}: p99 {without:.2f} ms "
                  f"without, {beside:.2f} ms with them, {max(memory[kind]):.0f} MiB", problems[kind])
    finally:
        if gateway:
            gateway.stop()
        upstream.stop()
