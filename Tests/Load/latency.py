"""Idle and slow clients during normal traffic: their effect on its latency, and the time until they are
disconnected."""

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
HEADER_TIMEOUT = 5  # seconds, as in the policy
BODY_TIMEOUT = 10  # seconds, as in the policy
RATE_WINDOW = 20  # seconds over which the gateway measures the rate of a client
SLACK = 3  # seconds that the granularity of a timer adds
BUSY = 40  # seconds that a busy machine adds; the short form allows for them
FILLING = 60  # seconds in which the kernel buffers of hundreds of readers are filled
SETTLED = 0.03  # share of a core that the gateway may use when only idle and slow clients are connected
PAUSE = 1  # seconds over which this share is measured; the kernel accepts more bytes after half a second without any
FACTOR = 2  # the maximum growth of p99 of normal traffic
# A quiet p99 is a fraction of a millisecond. Users do not notice less than this, and a scheduler tick is as long.
UNNOTICED = 2.0  # milliseconds
# The work for other clients during a request that is always permitted, even if the quiet value is much smaller.
LITTLE_WORK = 1.0  # milliseconds
FIRST_WORK = 12.0  # milliseconds, while hundreds of clients connect within half a second and each requests a large answer

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
        if self.child.stdout.readline() != "standing\n":
            self.child.wait()
            raise RuntimeError("the idle and slow clients do not connect")

    def come(self):
        """Lets the slow clients connect."""
        self.child.stdin.write("go\n")
        self.child.stdin.flush()

    def wait(self, seconds):
        """Returns its results once it ends by itself or its time is over."""
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        return self.end()

    def end(self):
        try:
            output, _ = self.child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.child.kill()
            output, _ = self.child.communicate()
        return json.loads(output.splitlines()[-1]) if output.strip() else None


def normal(gateway, seconds, rate, begun=lambda: None):
    """Runs normal traffic for `seconds`; calls `begun` when it has begun."""
    options = dict(port=gateway.port, tls_port=getattr(gateway, "tls_port", None), host=gateway.host, seconds=seconds,
                   rate=rate, size=stage.SMALL, pid=gateway.pids()[0],
                   own=getattr(gateway, "own", None))
    child = subprocess.Popen(
        ["taskset", "-c", peers.LOAD_CORE, sys.executable, str(HERE / "probe.py"), json.dumps(options)],
        stdout=subprocess.PIPE, text=True)
    if child.stdout.readline() == "ready\n":
        begun()
    try:
        output, _ = child.communicate(timeout=seconds * 4 + 120)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise RuntimeError("the normal traffic does not end")
    if child.returncode:
        raise RuntimeError("the normal traffic failed to run")
    return json.loads(output)


def settle(gateway):
    """Waits until the kernel accepts no more bytes for clients that do not read: hundreds of megabytes, which take up to
    three seconds. Returns a problem if this takes too long."""
    end = time.monotonic() + FILLING
    while True:
        before, began = measure.cpu_seconds(gateway.pids()), time.monotonic()
        time.sleep(PAUSE)
        used = (measure.cpu_seconds(gateway.pids()) - before) / (time.monotonic() - began)
        if used <= SETTLED:
            return []
        if time.monotonic() > end:
            return [f"the gateway uses {used:.0%} of a core {FILLING} s after the slow clients connected"]


class Rounds:
    """The p99 of each phase in each round: the latency of requests, and the gateway's work during a request."""

    PHASES = ("quiet", "first second", "loaded")

    def __init__(self):
        self.latency = {phase: [] for phase in self.PHASES}
        self.work = {phase: [] for phase in self.PHASES}
        self.calm = []

    def add(self, phase, sample):
        """Adds a sample. Returns its failures."""
        self.latency[phase].append(percentile(sample["latencies"], 0.99))
        self.work[phase].append(percentile(sample["work"], 0.99))
        return sample["failures"][:3]

    def problems(self):
        """Returns the problems. Latency is judged by the rounds without other load on the machine, work by all
        rounds."""
        found = []
        for what, values, rounds, least in (
                ("p99", self.latency, [place for place, calm in enumerate(self.calm) if calm], UNNOTICED),
                ("the gateway's work during a request", self.work, range(len(self.calm)), LITTLE_WORK)):
            full = statistics.median([values["loaded"][place] for place in rounds] or [0])
            ratios = [values["loaded"][place] / values["quiet"][place] for place in rounds]
            if ratios and statistics.median(ratios) > FACTOR and full > least:
                found.append(f"{what} is {statistics.median(ratios):.1f} times its quiet value, more than {FACTOR}")
        first = statistics.median(self.work["first second"])
        if first > FIRST_WORK:
            found.append(f"the gateway works for {first:.1f} ms during a request while others connect, more than {FIRST_WORK}")
        return found

    def show(self):
        for what, values in (("p99 of latency", self.latency), ("p99 of work meanwhile", self.work)):
            line = f"         {what:<22}"
            for phase in self.PHASES:
                line += f" {phase} {statistics.median(values[phase]):.2f} ms"
                if phase != "quiet":
                    ratios = [full / quiet for quiet, full in zip(values["quiet"], values[phase])]
                    line += f" ({statistics.median(ratios):.2f} x; {', '.join(f'{ratio:.1f}' for ratio in ratios)})"
            print(line, flush=True)


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
    """HAProxy in place of the gateway, to compare the effect of the same clients."""

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
            rounds, problems, used, held = Rounds(), [], [], []
            normal(gateway, 1, options.rate)
            for number in range(options.rounds_of(7)):
                machine = measure.Machine()
                problems += rounds.add("quiet", normal(gateway, options.seconds, options.rate))
                # In the first second all clients send requests; later they only hold their connections.
                crowd = Crowd(gateway, kinds, options.seconds * 6 + 240)
                problems += rounds.add("first second", normal(gateway, 1, options.rate, crowd.come))
                problems += settle(gateway)
                before, began = measure.cpu_seconds(gateway.pids()), time.monotonic()
                problems += rounds.add("loaded", normal(gateway, options.seconds, options.rate))
                used.append((measure.cpu_seconds(gateway.pids()) - before) / (time.monotonic() - began))
                held.append(measure.resident_bytes(gateway.pids()) / 2**20)
                seen = crowd.end()
                if seen is None or seen["idle_gone"]:
                    problems.append(f"idle connections were closed: {seen and seen['idle_gone']}")
                others, stolen = machine.others()
                all_rounds += 1
                is_busy = others > stage.OTHERS or stolen > stage.STEAL
                busy_rounds += is_busy
                rounds.calm.append(not is_busy)
                time.sleep(0.5)
            if not options.short:
                problems += rounds.problems()
            judge(name, f"{about}: {statistics.median(used):.0%} of a core, {max(held):.0f} MiB", problems)
            rounds.show()
        if all_rounds and busy_rounds > all_rounds // 4:
            print(f"WARNING: other processes were busy in {busy_rounds} of {all_rounds} rounds; latencies are unreliable")
        if options.short or options.only in (None, "deadlines"):
            deadlines(options, gateway, judge)
    finally:
        if gateway:
            gateway.stop()
        upstream.stop()


def deadlines(options, gateway, judge):
    """Connects slow clients that do not come back. Each must be disconnected by its deadline."""
    # A client that reads nothing makes no progress; a client that sends an occasional byte makes too little.
    allowed = dict(headers=HEADER_TIMEOUT, bodies=RATE_WINDOW, readers=BODY_TIMEOUT)
    if options.short:
        allowed.pop("bodies")
    slack = BUSY if options.short else SLACK
    longest = max(allowed.values()) + slack + FILLING
    # The crowd ends when all clients are disconnected.
    crowd = Crowd(gateway, {kind: options.slow for kind in allowed}, longest, renew=False)
    crowd.come()
    seen = crowd.wait(longest + 10)
    for kind, deadline in allowed.items():
        lives, left = seen["lives"][kind], seen["left"][kind]
        problems = [f"{left} are still connected after {longest} s" if left else ""]
        if lives and max(lives) > deadline + slack:
            problems.append(f"one was connected for {max(lives):.1f} s")
        if lives and min(lives) < deadline / 2 or len(lives) < options.slow and not left:
            problems.append("not all clients connected")
        judge(f"deadline of slow {kind}", f"{len(lives)} of {options.slow} disconnected after "
              f"{min(lives, default=0):.1f} to {max(lives, default=0):.1f} s; the deadline is {deadline} s", problems)
