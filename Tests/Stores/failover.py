"""Failovers and partitions of a primary with two replicas and three sentinels, under load at three gateways.

With `store_min_replicas: 1` these are covered: the primary alone is lost or isolated, with or without a gateway on its
side. A partition that isolates the primary together with the replica that confirmed its writes is not.
"""

import asyncio
import time

import app
import dumps
import gateway
import history
import judge
import legacy
import links
import load
import processes
import servers
from dice import dice

SWITCH = 120  # seconds until the sentinels have another primary
RECOVERY = 60  # seconds until sign-ins work at each gateway after that
HOLD = 2  # seconds for which a partition lasts after the failover
PAUSE = 3  # seconds of CLIENT PAUSE, and for which all replicas are frozen
LIMIT = 1_800  # seconds for all failovers of a run
# In this order. The short form runs one, which the seed selects.
KINDS = ("with-gateway", "kill", "alone", "planned", "half", "freeze", "pause", "no-replicas")


class Failovers:
    def __init__(self, stage, cluster, network, gateways, past, probe):
        self.stage, self.cluster, self.network = stage, cluster, network
        self.gateways, self.past, self.probe = gateways, past, probe
        self.problems, self.recoveries = [], []

    def names(self, *groups):
        return [each.name for group in groups for each in group]

    async def switched(self, old):
        """Waits until the sentinels have another primary. Returns false if they do not."""
        end = time.monotonic() + SWITCH
        while time.monotonic() < end:
            new = await asyncio.to_thread(self.cluster.primary)
            if new is not None and new is not old:
                return True
            await asyncio.sleep(0.05)
        self.problems.append(f"the sentinels have no other primary after {SWITCH} s")
        return False

    async def partition(self, kind, old, group, others, gateways):
        """Cuts the links between two groups, and waits for a failover and for these gateways."""
        isolated = [each.name for each in self.gateways if each.name in group]
        began = time.monotonic()
        await asyncio.to_thread(self.network.cut, group, others)
        isCut = time.monotonic()
        if await self.switched(old):
            await self.recover(kind, gateways)
            await asyncio.sleep(HOLD)
        until = time.monotonic()
        await asyncio.to_thread(self.network.heal)
        self.past.fault(kind, began, time.monotonic())
        if isolated:
            # From the moment of the cut, these gateways reach only a primary without replicas.
            self.past.fault(f"{kind}: {', '.join(isolated)} isolated with the old primary", isCut, until, dark=isolated)

    async def recover(self, kind, gateways):
        took = await load.recovered(self.probe, gateways, RECOVERY)
        if took is None:
            self.problems.append(f"{kind}: no sign-in works at each gateway within {RECOVERY} s{self.past.latest()}")
        else:
            self.recoveries.append(took)

    async def one(self, kind):
        old = await asyncio.to_thread(self.cluster.primary)
        replicas = [each for each in self.cluster.servers if each is not old]
        sentinels, gateways = self.cluster.sentinels, self.gateways
        began = time.monotonic()
        if kind == "with-gateway":
            await self.partition(kind, old, self.names([old], gateways[:1]),
                                 self.names(replicas, sentinels, gateways[1:]), gateways[1:])
        elif kind == "alone":
            await self.partition(kind, old, [old.name], self.names(replicas, sentinels, gateways), gateways)
        elif kind == "half":
            # Gateways still reach the old primary, which takes writes and gets no confirmation.
            await self.partition(kind, old, [old.name], self.names(replicas, sentinels), gateways)
        elif kind == "no-replicas":
            await self.freeze_all(kind, replicas)
        else:
            await self.lose(kind, old)
            self.past.fault(kind, began, time.monotonic())
        await self.recover(f"after {kind}", gateways)
        try:
            await asyncio.to_thread(self.cluster.settle)
        except RuntimeError as error:
            self.problems.append(f"after {kind}: {error}")

    async def lose(self, kind, old):
        """Makes the primary fail, lets another take over, and brings the old one back."""
        if kind == "planned":
            sentinel = self.cluster.sentinels[0]
            await asyncio.to_thread(servers.command, sentinel.port, "SENTINEL", "FAILOVER", servers.NAME)
        elif kind == "kill":
            old.kill()
        elif kind == "freeze":
            old.freeze()
        else:
            await asyncio.to_thread(servers.command, old.port, "CLIENT", "PAUSE", PAUSE * 1000, "ALL")
            # Longer than the sentinels wait, so they choose another primary.
        if await self.switched(old):
            await self.recover(kind, self.gateways)
        if kind == "kill":
            new = await asyncio.to_thread(self.cluster.primary)
            if new is not None:
                old.become_replica(new.public)
            old.launch()
            await asyncio.to_thread(old.wait)
        elif kind == "freeze":
            old.thaw()

    async def freeze_all(self, kind, group):
        """Freezes all replicas: the primary stays, and no write counts. The sentinels run on, because a sentinel that
        was frozen takes no action for 30 s (TILT)."""
        for each in group:
            each.freeze()
        began = time.monotonic()
        await asyncio.sleep(PAUSE)
        until = time.monotonic()
        for each in group:
            each.thaw()
        self.past.fault(kind, began, until, dark=self.names(self.gateways))


async def play(stage, verdict, epoch, count):
    server = stage.start(legacy.Legacy(stage.folder))
    network = links.Links(stage)
    cluster = servers.Cluster(stage, network)
    users = 10 if stage.options.short else 20
    replicas = gateway.Replicas(
        stage, server, cluster.store, processes.free_ports(1)[0], load.clients(users), epoch=epoch, least=1, count=3)
    gateways = [stage.add(gateway.Gateway(replicas, f"gateway-{n}")) for n in range(3)]
    for each in gateways:
        each.launch()
        network.know(each)
        each.wait()
    past = history.History(stage.history(f"failover-{epoch}"))
    probe = app.App("probe", replicas.host, past)
    failovers = Failovers(stage, cluster, network, gateways, past, probe)
    if await load.recovered(probe, gateways, RECOVERY) is None:
        raise RuntimeError(f"no sign-in works before the first failover{past.latest()}")
    began, done = time.monotonic(), 0
    running = load.Load(users, gateways, replicas.host, past, pause=0.1 if stage.options.short else 0.3).start()
    watched = dumps.Dumps(cluster, past).start()
    kinds = stage.options.only.split(",") if stage.options.only else KINDS
    if stage.options.short and not stage.options.only:
        kinds = dice("failover").sample(KINDS, len(KINDS))
        print(f"       kinds: {', '.join(kinds[:count])}", flush=True)
    for number in range(count):
        if time.monotonic() - began > LIMIT:
            failovers.problems.append(f"only {number} of {count} failovers within {LIMIT} s")
            break
        await asyncio.sleep(1)
        await watched.check()
        try:
            await failovers.one(kinds[number % len(kinds)])
        except (servers.RedisError, OSError) as error:
            failovers.problems.append(f"{kinds[number % len(kinds)]}: {error}")
        done += 1
    failovers.problems += await watched.stop()
    away = await running.stop(0 if stage.options.short else gateway.LEASE + 5)
    probe.close()
    problems = failovers.problems + past.collect(server, gateways)
    judged = judge.Verdict(past, epoch, hasDumps=True)
    problems += judged.problems
    if away and not stage.options.short:
        problems.append(f"{away} sessions got only 503 until {gateway.LEASE + 5} s after the last failover")
    slowest = max(failovers.recoveries, default=0)
    verdict(f"failover, store_epoch: {epoch}",
            f"{done} failovers in {time.monotonic() - began:.0f} s, sign-ins work at most {slowest:.1f} s after each; "
            f"{load.figures(past)}; {judged.losses} tokens accepted twice, whose first use Redis had lost; {away} sessions "
            "still refused with 503", problems + stage.problems())


def run(stage, verdict):
    asyncio.run(play(stage, verdict, "once", stage.options.rounds_of(20, 1)))


def run_strict(stage, verdict):
    asyncio.run(play(stage, verdict, "strict", stage.options.rounds_of(len(KINDS), 1)))
