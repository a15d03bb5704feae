"""A Redis server that is away, frozen, slow, or that cuts its replies, under load at one gateway.

Authorization requests and all requests that pass continue; codes and tokens get 503; the gateway neither ends nor
grows, and works within two seconds after the server does.
"""

import asyncio
import contextlib
import signal
import time

import app
import gateway
import history
import judge
import legacy
import links
import load
import processes
import servers
from dice import dice

chance = dice("outage")
RECOVERY = 2.0  # seconds
GROWTH = 16 * 2**20  # bytes
SLOW = 1.0  # seconds that a request may take which needs no store
KINDS = ("stopped", "frozen", "paused", "slow", "cut")


class Outages:
    def __init__(self, stage, server, network, at, past, probe, seconds):
        self.redis, self.network, self.gateway = server, network, at
        self.past, self.probe, self.seconds = past, probe, seconds
        # The short form does not judge speed.
        self.limit = stage.options.limit_of(RECOVERY)
        self.pause = 1 if stage.options.short else 2 * RECOVERY  # until the next outage
        self.problems, self.recoveries, self.ends, self.largest = [], [], [], 0

    async def watch(self):
        """Notes the largest memory of the gateway."""
        while True:
            with contextlib.suppress(OSError):
                self.largest = max(self.largest, self.gateway.resident())
            await asyncio.sleep(0.1)

    async def slowness(self, end):
        while time.monotonic() < end:
            delay = chance.choice([0.02, 0.2, 0.7, 2.0])
            await asyncio.to_thread(self.network.delay, self.redis.name, delay)
            await asyncio.sleep(min(1, self.seconds / 4))

    async def cuts(self, end):
        while time.monotonic() < end:
            await asyncio.to_thread(self.network.end_replies, self.redis.name, chance.choice([0, 1, 3, 20, 200, 2000]))
            await asyncio.sleep(0.2)

    async def one(self, kind):
        """Makes the server fail for some seconds, and waits until the gateway works again."""
        end = time.monotonic() + self.seconds
        if kind == "stopped":
            self.redis.send(signal.SIGTERM)
            await asyncio.to_thread(self.redis.process.wait, 60)
        elif kind == "frozen":
            self.redis.freeze()
        elif kind == "paused":
            await asyncio.to_thread(
                servers.command, self.redis.port, "CLIENT", "PAUSE", int(self.seconds * 1000), "ALL")
        began = time.monotonic()
        if kind == "slow":
            await self.slowness(end)
        elif kind == "cut":
            await self.cuts(end)
        else:
            # A pause ends on its own, a little after `end`.
            await asyncio.sleep(end - time.monotonic())
        until = time.monotonic()
        if kind == "stopped":
            self.redis.launch()
        elif kind == "frozen":
            self.redis.thaw()
        await asyncio.to_thread(self.network.heal)
        await asyncio.to_thread(self.redis.wait)
        self.ends.append(time.monotonic())
        # Slow and cut replies may still be answers in time.
        dark = [self.gateway.name] if kind in ("stopped", "frozen", "paused") else []
        self.past.fault(kind, began, until, dark=dark)
        took = await load.recovered(self.probe, [self.gateway], self.limit * 5)
        if took is None or took > self.limit:
            self.problems.append(f"{kind}: the first sign-in that works is {took or self.limit * 5:.1f} s after it, more "
                                 f"than {self.limit} s{self.past.latest()}")
        self.recoveries.append(took or self.limit * 5)
        await asyncio.sleep(self.pause)

    def judge_waits(self, faults):
        """A busy machine makes some requests slow; those that wait for the store are all slow."""
        times = sorted(
            event["done"] - event["sent"] for event in self.past.events
            if event["kind"] in ("pass", "begin") and any(begin <= event["sent"] <= end for begin, end in faults))
        if not times or times[len(times) // 2] > SLOW:
            return [f"half of the {len(times)} requests that need no store took more than {SLOW} s in the outages"]
        return []

    def judge(self):
        """Judges what depends on the times of the outages."""
        problems = []
        faults = [(each["sent"], end + max(RECOVERY, took)) for each, end, took in zip(
            (each for each in self.past.events if each["kind"] == "fault"), self.ends, self.recoveries)]
        issued = {each["got"]: each for each in self.past.events if "got" in each}
        if self.limit != RECOVERY:
            problems += self.judge_waits(faults)
        for event in self.past.events:
            isSlow = event["kind"] in ("pass", "begin") and event["done"] - event["sent"] > SLOW
            if isSlow and self.limit == RECOVERY:
                problems.append(f"a request that needs no store took more than {SLOW} s: {self.past.text(event)}")
            if event["kind"] != "redeem" or event.get("status") != 503:
                continue
            # A code from before belongs to another epoch of the store, and is refused for its whole lifetime.
            origin = issued.get(event["token"], event)
            if not any(begin - 0.1 <= event["done"] and origin["sent"] <= end for begin, end in faults):
                problems.append(f"a code of a usable store was refused: {self.past.text(event)}")
        return problems


async def play(stage, verdict):
    options = stage.options
    seconds = 2 if options.short else 10
    server = stage.start(legacy.Legacy(stage.folder))
    network = links.Links(stage)
    redis = servers.Redis(stage.folder, "redis", keeps=True)
    redis.public = network.open(redis.name, redis.port)
    stage.start(redis)
    users = 8 if options.short else 16
    replicas = gateway.Replicas(
        stage, server, f"redis://proofgate@127.0.0.1:{redis.public}", processes.free_ports(1)[0], load.clients(users),
        workers=2)
    at = stage.start(gateway.Gateway(replicas, "gateway-0"))
    past = history.History(stage.history("outage"))
    probe = app.App("probe", replicas.host, past)
    outages = Outages(stage, redis, network, at, past, probe, seconds)
    if await load.recovered(probe, [at], 60) is None:
        raise RuntimeError(f"no sign-in works before the first outage{past.latest()}")
    running = load.Load(users, [at], replicas.host, past, pages=True).start()
    await asyncio.sleep(2 if options.short else 10)
    before = outages.largest = at.resident()
    watch = asyncio.create_task(outages.watch())
    kinds = options.only.split(",") if options.only else KINDS
    for kind in kinds:
        await outages.one(kind)
    watch.cancel()
    away = await running.stop(0 if options.short else gateway.LEASE + 5)
    probe.close()
    problems = outages.problems + past.collect(server, [at]) + judge.problems(past) + outages.judge()
    if outages.largest - before > GROWTH:
        problems.append(f"the memory grew from {before / 2**20:.1f} to {outages.largest / 2**20:.1f} MiB")
    if away and not options.short:
        problems.append(f"{away} sessions got only 503 until {gateway.LEASE + 5} s after the last outage")
    taken = ", ".join(f"{kind} {took:.2f} s" for kind, took in zip(kinds, outages.recoveries))
    verdict("outage", f"{len(kinds)} outages of {seconds} s; sign-ins work again after: {taken}; memory "
            f"{before / 2**20:.1f} to {outages.largest / 2**20:.1f} MiB; {load.figures(past)}; {away} sessions still "
            "refused with 503", problems + stage.problems())


def run(stage, verdict):
    asyncio.run(play(stage, verdict))
