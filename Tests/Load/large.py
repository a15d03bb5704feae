"""Reloads of a large policy during normal traffic: no request fails, and p99 grows only a little."""

import signal
import statistics
import time

import stage
from latency import normal, percentile

CLIENTS, FEWER = 100_000, 10_000
FACTOR = 1.2  # the maximum growth of p99 of normal traffic
UNNOTICED = 0.5  # milliseconds: the variation of p99 that the machine itself causes
CALM = 0.25  # the share of rounds that are compared, because a virtual machine is paused occasionally
WAIT = 60  # seconds until a reload must be in force


def reloads(gateway):
    return gateway.said().count(" in force\n")


def duration(gateway, before, began):
    """Returns the seconds that a reload took; it may have ended already."""
    while reloads(gateway) == before:
        if time.time() - began > WAIT:
            raise RuntimeError(f"no reload in {WAIT} seconds: {gateway.said()[-500:]}")
        time.sleep(0.05)
    return (gateway.folder / "log").stat().st_mtime - began


def run(options, folder, judge):
    count, rounds = (FEWER, 1) if options.short else (CLIENTS, options.rounds_of(11))
    upstream = stage.Upstream(folder).start()
    gateway = None
    try:
        gateway = stage.Gateway(folder, options.proofgate, upstream.port, clients=count).start()
        normal(gateway, 1, options.rate)
        problems, quiet, loaded, took = [], [], [], []
        for _ in range(rounds):
            sample = normal(gateway, options.seconds, options.rate)
            problems += sample["failures"][:3]
            quiet.append(percentile(sample["latencies"], 0.99))
            before, began = reloads(gateway), time.time()
            sample = normal(gateway, options.seconds, options.rate, lambda: gateway.child.send_signal(signal.SIGHUP))
            problems += sample["failures"][:3]
            loaded.append(percentile(sample["latencies"], 0.99))
            took.append(duration(gateway, before, began))
        without, beside = percentile(quiet, CALM), percentile(loaded, CALM)
        ratios = sorted(with_reload / alone for alone, with_reload in zip(quiet, loaded))
        # The median of all possible rounds is above this with a probability of 99 %, for 11 rounds.
        lowest = ratios[min(len(ratios) // 7, len(ratios) - 1)]
        if not options.short and lowest > FACTOR and beside > without + UNNOTICED:
            problems.append(f"p99 is at least {lowest:.2f} times its value without a reload, more than {FACTOR}")
        judge("large", f"{rounds} reloads of {count:,} clients, of {statistics.median(took):.1f} s each: p99 "
              f"{without:.2f} ms without, {beside:.2f} ms with, {statistics.median(ratios):.2f} x "
              f"({lowest:.2f} to {ratios[-1 - len(ratios) // 7]:.2f})", problems)
    finally:
        if gateway:
            gateway.stop()
        upstream.stop()
