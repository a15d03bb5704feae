"""Simultaneous refreshes with one token: at three gateways with a Redis server, and at one with a store in a file.

The requests come from two addresses of one network, as those of an app behind two egress addresses. Within
`refresh_reuse_window`, the legacy server gets one refresh and all requests get the same answer. After the window, a
repeat ends the family.
"""

import asyncio
import time

import app
import gateway
import history
import judge
import legacy
import load
import processes
import servers

AT_ONCE = 9  # the first use and the 8 repeats that a gateway answers
ADDRESSES = ("127.0.0.1", "127.0.0.2")  # of one /24, the network that counts
WINDOW, SHORT_WINDOW = 30, 2  # seconds
# Times of the store are whole seconds.
ROUNDING = 1  # second
ARRIVAL = 0.3  # seconds after which a gateway has read a request that was written
LIMIT = 600  # seconds for all rounds of an engine


class Engine:
    """The gateways with one store."""

    def __init__(self, stage, server, store, count, name):
        self.server = server
        self.replicas = gateway.Replicas(
            stage, server, store, processes.free_ports(1)[0], load.clients(1), window=WINDOW, count=count)
        self.gateways = [stage.start(gateway.Gateway(self.replicas, f"gateway-{n}")) for n in range(count)]
        self.past = history.History(stage.history(f"refresh-{name}"))
        self.apps = [app.App("app0", self.replicas.host, self.past, source) for source in ADDRESSES]
        self.problems, self.rounds, self.replays, self.number = [], 0, 0, 0

    async def sign_in(self, kind=""):
        client = self.apps[0]
        login = client.login(kind)
        code = await client.authorize(self.gateways[0], login)
        grant = code and (await client.redeem(code, self.gateways[0]))[1]
        if not grant:
            raise RuntimeError(f"the sign-in {login} failed{self.past.latest()}")
        return grant

    async def simultaneous(self, isHeld):
        """Sends AT_ONCE refreshes with one token. If `isHeld`, the server answers the first after all have arrived."""
        grant = await self.sign_in(".slow" if isHeld else "")
        places = [[], []]
        for number in range(AT_ONCE):
            places[number % 2].append(self.gateways[number % len(self.gateways)])
        sending = asyncio.gather(*(
            client.tokens("refresh", grant, at) for client, at in zip(self.apps, places)))
        if isHeld:
            await asyncio.sleep(ARRIVAL)
            await asyncio.to_thread(self.server.release, grant.login)
        results = [each for group in await sending for each in group]
        name = f"sign-in {grant.login}"
        good = [(new, access) for event, new, access in results if event.get("status") == 200 and new]
        if len(good) != AT_ONCE:
            bad = next(event for event, new, _ in results if event.get("status") != 200 or not new)
            self.problems.append(f"{name}: {len(good)} of {AT_ONCE} refreshes succeeded{self.past.around(bad)}")
        if len(set(good)) > 1:
            self.problems.append(f"{name}: {len(set(good))} different answers to one token")
        if good:
            await self.judge_successor(name, grant, good[0][0])
        self.rounds += 1

    async def judge_successor(self, name, grant, successor):
        """One refresh reached the server, and the token in the answer is the valid one."""
        arrived = (await asyncio.to_thread(self.server.count, grant.login)).get("refresh", 0)
        if arrived != 1:
            self.problems.append(f"{name}: the server got {arrived} refreshes for one token")
        event, renewed, _ = await self.apps[1].refresh(successor, self.gateways[-1])
        if renewed is None:
            self.problems.append(f"{name}: the token of the answer is refused: {self.past.text(event)}")

    async def shorten(self):
        """Puts the short window in force at all gateways."""
        self.replicas.window = SHORT_WINDOW
        for each in self.gateways:
            each.write("policy.yaml", self.replicas.policy(each.port, each.admin))
            await asyncio.to_thread(each.reload)

    async def late(self):
        """A repeat after the window is refused, and ends the family."""
        grant = await self.sign_in()
        _, successor, _ = await self.apps[0].refresh(grant, self.gateways[0])
        if successor is None:
            raise RuntimeError(f"the first refresh failed{self.past.latest()}")
        await asyncio.sleep(SHORT_WINDOW + ROUNDING)
        event, _, _ = await self.apps[1].refresh(grant, self.gateways[-1])
        if event.get("error") != "invalid_grant":
            self.problems.append(f"a repeat after the window is not refused: {self.past.text(event)}")
        event, _, _ = await self.apps[0].refresh(successor, self.gateways[0])
        if event.get("error") != "invalid_grant":
            self.problems.append(f"a repeat after the window does not end the family: {self.past.text(event)}")
        arrived = (await asyncio.to_thread(self.server.count, grant.login)).get("refresh", 0)
        if arrived != 1:
            self.problems.append(f"the server got {arrived} refreshes, although only the first was accepted")
        self.replays += 1

    async def play(self, rounds, replays):
        probe = app.App("probe", self.replicas.host, self.past)
        if await load.recovered(probe, self.gateways, 60) is None:
            raise RuntimeError(f"no sign-in works before the first round{self.past.latest()}")
        began = time.monotonic()
        for number in range(rounds):
            if time.monotonic() - began > LIMIT:
                self.problems.append(f"only {number} of {rounds} rounds within {LIMIT} s")
                break
            await self.simultaneous(isHeld=number % 2 == 0)
        await self.shorten()
        for _ in range(replays):
            await self.late()
        for each in (probe, *self.apps):
            each.close()
        self.problems += self.past.collect(self.server, self.gateways) + judge.problems(self.past)


async def play(stage, verdict, name, store, count):
    rounds = stage.options.rounds_of(200, 2)
    server = stage.start(legacy.Legacy(stage.folder))
    engine = Engine(stage, server, store, count, name)
    await engine.play(rounds, 1 if stage.options.short else 5)
    verdict(f"refresh, {name}", f"{engine.rounds} tokens with {AT_ONCE} simultaneous refreshes each at {count} "
            f"gateway{'s' if count > 1 else ''}: one upstream refresh and one answer for each; {engine.replays} repeats "
            "after the window ended their families", engine.problems + stage.problems())


def run(stage, verdict):
    for name in ("redis", "file"):
        folder = stage.folder / name
        folder.mkdir()
        inner = processes.Stage(stage.options, folder)
        try:
            if name == "redis":
                server = inner.start(servers.Redis(folder, "redis"))
                asyncio.run(play(inner, verdict, name, f"redis://proofgate@127.0.0.1:{server.port}", 3))
            else:
                asyncio.run(play(inner, verdict, name, f"{{ file: {folder}/state.db }}", 1))
        finally:
            inner.close()
