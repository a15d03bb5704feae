#!/usr/bin/env python3
"""Normal traffic, and how long it takes: so many requests a second, one after another, most on kept connections.

  probe.py JSON

Says as JSON: latencies in milliseconds, in the order in which they came, and failures. A request that starts late because
the one before took long counts from when it should have started: else a stall would be one slow request among thousands.
"""

import gc
import json
import sys
import time

import clients


def main():
    options = json.loads(sys.argv[1])
    port, host, tls_port = options["port"], options["host"], options.get("tls_port")
    kept = [clients.HTTP1(port, host) for _ in range(4)]
    if tls_port:
        kept.append(clients.HTTP1(tls_port, host, clients.context()))
        kept.append(clients.HTTP2(port, host))
        kept.append(clients.HTTP2(tls_port, host, clients.context(protocols=("h2",))))
    for each in kept:
        each.request("/small")
    gc.disable()
    gap, latencies, failures = 1 / options["rate"], [], []
    began = time.monotonic()
    for number in range(int(options["seconds"] * options["rate"])):
        planned = began + number * gap
        while (early := planned - time.monotonic()) > 0:
            time.sleep(early)
        # The sleep itself is late by what the kernel likes: that is not the gateway's.
        planned = max(planned, min(time.monotonic(), planned + 0.001))
        try:
            place = number % (len(kept) + 1)
            if place == len(kept):
                client = clients.HTTP1(port, host)
                status, count = client.request("/small", fields=("Connection: close",))
            else:
                client = kept[place]
                status, count = client.request("/small")
            if status != 200 or count != options["size"]:
                failures.append(f"{status} with {count} bytes")
        except (clients.Lost, clients.NotTaken, OSError) as error:
            failures.append(f"{type(error).__name__}: {error}")
            if place < len(kept):
                kept[place] = clients.HTTP1(port, host)
        latencies.append((time.monotonic() - planned) * 1000)
        if time.monotonic() - began > options["seconds"] * 3 + 10:
            failures.append("too slow to go on")
            break
    print(json.dumps({"latencies": latencies, "failures": failures}))


main()
