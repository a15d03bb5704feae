"""Hundreds of uploads of one address that never become complete: the server sees none of them, and other clients do not
notice them."""

import socket
import time

import measure
import peers
import stage
from latency import FACTOR, UNNOTICED, normal, percentile

UPLOADS = 900
ADDRESS = "192.0.2.1"  # the address of the senders, in the header of the PROXY protocol
BALANCER = "127.0.0.2"  # the address of the load balancer that passes their connections on
LENGTH = 15_000  # announced bytes, which fit into the request buffer
SENT = (100, 14_000)  # bytes that are sent, alternately
MEMORY = 32  # MiB of buffers; 900 requests with three blocks each would need 47
WAIT = 10  # seconds until the gateway must have read all that was sent


class Upstream(stage.Upstream):
    """Logs each request for `/half`."""

    def configuration(self):
        text = super().configuration()
        location = f"    location = /half {{ access_log {self.folder}/half; return 200 ok; }}\n"
        return text.replace("    location = /small", f"{location}    location = /small", 1)

    def seen(self):
        return len((self.folder / "half").read_text().splitlines())


class Gateway(stage.Gateway):
    """Has a listener for connections that a load balancer passes on, with the client's address."""

    def __init__(self, *arguments, **options):
        self.balanced_port = peers.free_port()
        listener = f"    - {{ address: \"127.0.0.1:{self.balanced_port}\", proxy_protocol: true }}\n"
        super().__init__(*arguments, gateway=f"  trusted_proxies: [{BALANCER}]", **options)
        self.listener = listener

    def write_policy(self):
        path = super().write_policy()
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(text.replace("  listeners:\n", f"  listeners:\n{self.listener}", 1))
        return path


def begin(gateway, sent):
    connection = socket.create_connection(
        ("127.0.0.1", gateway.balanced_port), timeout=WAIT, source_address=(BALANCER, 0))
    head = (f"PROXY TCP4 {ADDRESS} 127.0.0.1 4000 80\r\n"
            f"POST /half HTTP/1.1\r\nHost: {gateway.host}\r\nContent-Length: {LENGTH}\r\n\r\n")
    connection.sendall(head.encode() + b"x" * sent)
    return connection


def wait_until_read(gateway):
    """Waits until the gateway is idle, so that it has read everything."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        before = measure.cpu_seconds(gateway.pids())
        time.sleep(0.3)
        if measure.cpu_seconds(gateway.pids()) - before < 0.02:
            return
    raise RuntimeError("the gateway does not become idle")


def run(options, folder, judge):
    upstream = Upstream(folder).start()
    gateway = None
    try:
        limits = f"minimum_rate: off, max_buffer_memory: {MEMORY}MiB"
        gateway = Gateway(folder, options.proofgate, upstream.port, limits=limits).start()
        normal(gateway, 1, options.rate)
        problems, quiet, loaded, memory = [], [], [], []
        for _ in range(options.rounds_of(5)):
            sample = normal(gateway, options.seconds, options.rate)
            problems += sample["failures"][:3]
            quiet.append(percentile(sample["latencies"], 0.99))
            before, seen = gateway.connections_to(upstream.port), upstream.seen()
            senders = [begin(gateway, SENT[number % len(SENT)]) for number in range(UPLOADS)]
            try:
                wait_until_read(gateway)
                if gateway.connections_to(upstream.port) > before:
                    problems.append("half-sent uploads have opened connections to the server")
                sample = normal(gateway, options.seconds, options.rate)
                problems += sample["failures"][:3]
                loaded.append(percentile(sample["latencies"], 0.99))
                memory.append(measure.resident_bytes(gateway.pids()) / 2**20)
                if upstream.seen() != seen:
                    problems.append(f"the server has seen {upstream.seen() - seen} of them")
                # One of them becomes complete, so that the log of the server is known to work.
                senders[0].sendall(b"x" * (LENGTH - SENT[0]))
                if b" 200 " not in senders[0].recv(1000):
                    problems.append("an upload that becomes complete is not answered")
                if upstream.seen() != seen + 1:
                    problems.append("the server has not logged the complete upload")
            finally:
                for sender in senders:
                    sender.close()
        without, beside = percentile(quiet, 0.5), percentile(loaded, 0.5)
        if not options.short and beside > without * FACTOR and beside > UNNOTICED:
            problems.append(f"p99 is {beside / without:.1f} times its quiet value, more than {FACTOR}")
        judge("uploads", f"{UPLOADS} half-sent uploads of one address: p99 {without:.2f} ms without, {beside:.2f} ms with "
              f"them, {max(memory):.0f} MiB", problems)
    finally:
        if gateway:
            gateway.stop()
        upstream.stop()
