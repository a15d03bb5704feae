#!/usr/bin/env python3
"""Load that the tools of Debian cannot make: full or resumed TLS handshakes, and connections that stay open and idle.

  client.py handshakes PORT HOST SECONDS [--resume]   one after another, each with a request; prints results as JSON
  client.py hold PORT HOST COUNT [--tls]              a request on each, then prints `ready` and waits until stdin ends
  client.py hold PORT HOST COUNT --stop PATH          the same, but of the answer to `PATH` only the first byte is read
"""

import argparse
import json
import socket
import ssl
import struct
import sys
import time


def context():
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE  # only the server is measured, and its certificate is self-signed
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    return made


def connect(port):
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Closing with a reset frees the port at once; thousands of closed connections would otherwise use up the ports.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return connection


def ask(connection, host, closes=False):
    """Sends a request and reads the whole answer. Returns false unless the status is 200."""
    field = "Connection: close\r\n" if closes else ""
    connection.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\n{field}\r\n".encode())
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65536)
        if not part:
            return False
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    left = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            left = int(value) - len(body)
    while left > 0 and (part := connection.recv(65536)):
        left -= len(part)
    return head.startswith(b"HTTP/1.1 200")


def handshakes(options):
    tls, session = context(), None
    times, errors = [], 0
    end = time.monotonic() + options.seconds
    began = time.monotonic()
    while time.monotonic() < end:
        start = time.monotonic()
        try:
            with tls.wrap_socket(connect(options.port), session=session if options.resume else None) as connection:
                answered = ask(connection, options.host, closes=True)
                wanted = options.resume and session is not None
                if not answered or connection.session_reused != wanted:
                    errors += 1
                # A ticket of TLS 1.3 arrives with the first bytes after the handshake, and may be used only once.
                session = connection.session
        except OSError:
            errors += 1
        times.append(time.monotonic() - start)
    times.sort()
    print(
        json.dumps(
            {
                "requests": len(times),
                "seconds": time.monotonic() - began,
                "p50": times[len(times) // 2] * 1000,
                "p99": times[len(times) * 99 // 100] * 1000,
                "errors": errors,
            }
        )
    )


def hold(options):
    tls = context() if options.tls else None
    held = []
    for _ in range(options.count):
        connection = connect(options.port)
        if tls:
            connection = tls.wrap_socket(connection)
        held.append(connection)
        if options.stop:
            connection.sendall(f"GET {options.stop} HTTP/1.1\r\nHost: {options.host}\r\n\r\n".encode())
            answered = connection.recv(1) == b"H"
        else:
            answered = ask(connection, options.host)
        if not answered:
            sys.exit("client: a connection got no answer")
    print("ready", flush=True)
    sys.stdin.read()
    for connection in held:
        # Without `unwrap`: the connection ends without a close_notify.
        connection.close()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = arguments.add_subparsers(dest="kind", required=True)
    for name, number, option in (("handshakes", "seconds", "--resume"), ("hold", "count", "--tls")):
        each = kinds.add_parser(name)
        each.add_argument("port", type=int)
        each.add_argument("host")
        each.add_argument(number, type=int)
        each.add_argument(option, action="store_true")
        if name == "hold":
            each.add_argument("--stop", metavar="PATH")
    options = arguments.parse_args()
    {"handshakes": handshakes, "hold": hold}[options.kind](options)


if __name__ == "__main__":
    main()
