#!/usr/bin/env python3
"""Normal traffic and its latency: a number of requests per second, one after another, mostly on kept connections.

  probe.py JSON

Prints `ready` when it begins, and at the end JSON with the latencies in milliseconds, in order, and the failures. The
latency of a request that starts late, because the previous one took long, counts from its planned start; otherwise a
stall would be only one slow request among thousands. With a target `own`, which the gateway answers itself, every other
request is for that target. `work` is the processor time of the gateway during each of those, in milliseconds: its work
for other clients. A busy machine or upstream makes requests slower, but does not change it.
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
    gap, latencies, work, failures = 1 / options["rate"], [], [], []
    # The processor clock of another process (clock_getcpuclockid(3)).
    clock = ~options["pid"] << 3 | 2
    print("ready", flush=True)
    began = time.monotonic()
    for number in range(int(options["seconds"] * options["rate"])):
        planned = began + number * gap
        while (early := planned - time.monotonic()) > 0:
            time.sleep(early)
        # Ignores up to 1 ms by which the kernel ends the sleep late.
        planned = max(planned, min(time.monotonic(), planned + 0.001))
        used = time.clock_gettime(clock)
        own = options.get("own") if number % 2 else None
        try:
            place = number // 2 % (len(kept) + 1)
            target, expected = (own, 400) if own else ("/small", 200)
            if place == len(kept):
                client = clients.HTTP1(port, host)
                status, count = client.request(target, fields=("Connection: close",))
            else:
                client = kept[place]
                status, count = client.request(target)
            if status != expected or not own and count != options["size"]:
                failures.append(f"{status} with {count} bytes")
        except (clients.Lost, clients.NotTaken, OSError) as error:
            failures.append(f"{type(error).__name__}: {error}")
            if place < len(kept):
                kept[place] = clients.HTTP1(port, host)
        if own or not options.get("own"):
            work.append((time.clock_gettime(clock) - used) * 1000)
        if not own:
            latencies.append((time.monotonic() - planned) * 1000)
        if time.monotonic() - began > options["seconds"] * 3 + 60:
            failures.append("too slow to continue")
            break
    print(json.dumps({"latencies": latencies, "work": work, "failures": failures}))


main()
