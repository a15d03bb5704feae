"""Idle and slow clients beside normal traffic: what they do to its latency, and how long they are suffered."""

import json
import pathlib
import statistics
import subprocess
import sys
import time

import measure
import peers
import stage

HERE = pathlib.Path(__file__).resolve().parent
HEADER_TIMEOUT = 5  # seconds, as the policy says
BODY_TIMEOUT = 10  # seconds, as the policy says
RATE_WINDOW = 20  # seconds over which the gateway measures a client's rate
SLACK = 3  # seconds: what a busy machine and a timer's own granularity add
FACTOR = 2  # p99 of normal traffic may grow by this
# A quiet p99 is a fraction of a millisecond; below this nobody notices, and a scheduler's tick is as long.
UNNOTICED = 2.0  # milliseconds

LIMITS = f"header_timeout: {HEADER_TIMEOUT}s, body_timeout: {BODY_TIMEOUT}s, idle_timeout: 10m, minimum_rate: 4KiB"


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


class Crowd:
    def __init__(self, gateway, kinds, seconds, renew=True):
        options = dict(port=gateway.port, tls_port=getattr(gateway, "tls_port", None), host=gateway.host, idle=0,
                       idle_tls=0, idle_h2=0, headers=0, bodies=0, readers=0, seconds=seconds, renew=renew)
        options.update(kinds)
        self.child = subprocess.Popen(
            ["taskset", "-c", peers.LOAD_CORE, sys.executable, str(HERE / "crowd.py"), json.dumps(options)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.child.stdout.readline() != "ready\n":
            self.child.wait()
            raise RuntimeError("the crowd does not come about")

    def wait(self, seconds):
        """What it saw, once it ends by itself or when its time is over."""
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        return self.end()

    def end(self):
        try:
            output, _ = self.child.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.child.kill()
            output, _ = self.child.communicate()
        return json.loads(output.splitlines()[-1]) if output.strip() else None


def normal(gateway, seconds, rate):
    options = dict(port=gateway.port, tls_port=getattr(gateway, "tls_port", None), host=gateway.host, seconds=seconds,
                   rate=rate, size=stage.SMALL)
    done = subprocess.run(
        ["taskset", "-c", peers.LOAD_CORE, sys.executable, str(HERE / "probe.py"), json.dumps(options)],
        stdout=subprocess.PIPE, text=True, timeout=seconds * 4 + 30)
    return json.loads(done.stdout)


def scenarios(options):
    idle = dict(idle=options.idle * 8 // 10, idle_tls=options.idle // 10, idle_h2=options.idle // 10)
    slow = options.slow
    third = slow // 3
    return {
        "idle": (f"{options.idle} idle connections, a tenth of them over TLS, a tenth h2", idle),
        "slow headers": (f"{slow} clients with slow headers", dict(headers=slow)),
        "slow bodies": (f"{slow} clients with slow bodies", dict(bodies=slow)),
        "stopped readers": (f"{slow} clients that stop reading", dict(readers=slow)),
        "all": (f"{options.idle} idle and {slow} slow clients",
                dict(idle, headers=slow - 2 * third, bodies=third, readers=third)),
    }


class Proxy(peers.HAProxy):
    """HAProxy in the gateway's place: what the same clients do to a proxy that many know."""

    name = "peer"

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"


def run(options, folder, judge):
    upstream = stage.Upstream(folder).start()
    gateway = None
    try:
        if options.peer:
            gateway = Proxy(folder, upstream.port).start()
        else:
            gateway = stage.Gateway(folder, options.proofgate, upstream.port, limits=LIMITS).start()
        busy_rounds = all_rounds = 0
        for name, (about, kinds) in scenarios(options).items():
            if options.only and options.only != name:
                continue
            if options.peer:
                kinds = {key: value for key, value in kinds.items() if key in ("idle", "headers", "bodies", "readers")}
            quiet, loaded, onset, work, problems = [], [], [], [], []
            normal(gateway, 1, options.rate)
            for number in range(options.rounds_of(7)):
                busy = stage.Busy(gateway.pids() + upstream.pids())
                sample = normal(gateway, options.seconds, options.rate)
                quiet.append(percentile(sample["latencies"], 0.99))
                problems += sample["failures"][:3]
                crowd = Crowd(gateway, kinds, options.seconds * 6 + 60)
                # What their coming costs is another question than what their being there costs.
                coming = normal(gateway, 1, options.rate)
                onset.append(percentile(coming["latencies"], 0.99))
                before = measure.cpu_seconds(gateway.pids())
                began = time.monotonic()
                sample = normal(gateway, options.seconds, options.rate)
                work.append((measure.cpu_seconds(gateway.pids()) - before) / (time.monotonic() - began))
                loaded.append(percentile(sample["latencies"], 0.99))
                problems += coming["failures"][:3] + sample["failures"][:3]
                seen = crowd.end()
                if seen is None or seen["idle_gone"]:
                    problems.append(f"idle connections were closed: {seen and seen['idle_gone']}")
                others, stolen = busy.others()
                all_rounds += 1
                busy_rounds += others > stage.OTHERS or stolen > stage.STEAL
                time.sleep(0.5)
            calm, full = statistics.median(quiet), statistics.median(loaded)
            ratio = statistics.median(theirs / ours for theirs, ours in zip(loaded, quiet))
            if ratio > FACTOR and full > UNNOTICED and not options.short:
                problems.append(f"p99 is {ratio:.1f} times what it is when all is quiet, more than {FACTOR}")
            judge(name, f"{about}: p99 {calm:.2f} -> {full:.2f} ms, {ratio:.2f} x (rounds "
                  f"{', '.join(f'{theirs / ours:.1f}' for theirs, ours in zip(loaded, quiet))}); in their first second "
                  f"{statistics.median(onset):.2f} ms; the gateway uses {statistics.median(work):.0%} of a core", problems)
        if all_rounds and busy_rounds > all_rounds // 4:
            print(f"WARNING: others were busy in {busy_rounds} of {all_rounds} rounds; do not believe these numbers")
        if options.short or options.only in (None, "deadlines"):
            deadlines(options, gateway, judge)
    finally:
        if gateway:
            gateway.stop()
        upstream.stop()


def deadlines(options, gateway, judge):
    """Slow clients that do not come back: each has to be sent away in its time."""
    # Who takes nothing at all makes no progress; who gives a byte now and then makes too little.
    allowed = dict(headers=HEADER_TIMEOUT, bodies=RATE_WINDOW, readers=BODY_TIMEOUT)
    if options.short:
        allowed.pop("bodies")
    longest = max(allowed.values()) + SLACK
    crowd = Crowd(gateway, {kind: options.slow for kind in allowed}, longest + 2, renew=False)
    seen = crowd.wait(longest + 10)
    for kind, deadline in allowed.items():
        lives, left = seen["lives"][kind], seen["left"][kind]
        problems = [f"{left} are left after {longest} s" if left else ""]
        if lives and max(lives) > deadline + SLACK:
            problems.append(f"one was suffered for {max(lives):.1f} s")
        if lives and min(lives) < deadline / 2 or len(lives) < options.slow and not left:
            problems.append("they did not come about")
        judge(f"deadline of slow {kind}", f"{len(lives)} of {options.slow} sent away, after "
              f"{min(lives, default=0):.1f} to {max(lives, default=0):.1f} s; the deadline is {deadline} s", problems)
