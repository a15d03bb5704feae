#!/usr/bin/env python3
"""Normal traffic, and how long it takes: so many requests a second, one after another, most on kept connections.

  probe.py JSON

Says `ready` when it begins, and then as JSON: latencies in milliseconds, in the order in which they came, and failures. A request that starts late because
the one before took long counts from when it should have started: else a stall would be one slow request among thousands.
Where the gateway answers the target `own` itself, every other request is for that. `work` is the processor time that the
gateway has used while each of those was on its way, in milliseconds too: what it has done for others first. A busy machine
and a busy upstream make requests take longer, but have no part in that.
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
        # The sleep itself is late by what the kernel likes: that is not the gateway's.
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
        if time.monotonic() - began > options["seconds"] * 3 + 10:
            failures.append("too slow to go on")
            break
    print(json.dumps({"latencies": latencies, "work": work, "failures": failures}))


main()
