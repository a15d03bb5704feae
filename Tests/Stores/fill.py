"""1,000 addresses that fill the store together refuse no sign-in of another address, with each engine.

The gateway has a small store and trusts a proxy, which is this program: each request names an address, and all
addresses are in networks of their own. The attackers start sign-ins that they do not finish (states behind handles),
push requests, and sign in with a redemption and a refresh (codes, claims and families). Meanwhile, one new address
after the other signs in completely, and an address that signed in before the attack refreshes its session. None of
them may be refused.
"""

import asyncio
import collections
import http.client
import itertools
import re
import time
import urllib.parse

import app
import gateway
import history
import legacy
import processes
import servers

ATTACKERS = 1_000  # addresses
AT_ONCE = 24  # attackers with a request in progress
LIMIT = 45  # seconds of the attack on one engine
SHORT = 2.5  # the least seconds of the attack on one engine in the short form, which then ends if the store is full
PAUSE = 0.4  # seconds between two sign-ins of other addresses
REFUSALS = 300  # refused attackers after which the store counts as full
MEMORY = "16mb"  # of the Redis server, twice the `store_size`


class Replicas(gateway.Replicas):
    """One gateway behind a proxy, with handles in place of long states and with pushed requests."""

    def policy(self, port, admin):
        text = super().policy(port, admin)
        for found, more in (
                ("gateway:\n", "  trusted_proxies: [127.0.0.1]\n" + self.size()),
                ("upstream:\n", "  state_limit: 128\n"),
                ("endpoints: { ", "pushed_authorization: /oauth/par, "),
                ("    consent: upstream\n", "    pushed_authorization: optional\n")):
            if found not in text:
                raise RuntimeError(f"the policy of gateway.py has no `{found.strip()}`")
            text = text.replace(found, found + more)
        return text

    def size(self):
        return "  store_size: 8MiB\n" if "://" in self.store else ""


class Silent:
    """A history that records nothing, for the attackers."""

    def add(self, kind, sent, done=None, **members):
        return {"kind": kind, **members}


# The parts of a stage that the gateways of one engine need.
Part = collections.namedtuple("Part", "folder options")


class Client(app.App):
    """An app whose user has an address of its own."""

    def __init__(self, address, host, past, pool):
        super().__init__("fill", host, past)
        self.address, self.idle = address, pool

    def message(self, method, target, form=None, fields=()):
        return super().message(
            method, target, form, [*fields, f"X-Forwarded-For: {self.address}", "X-Forwarded-Proto: https"])

    async def push(self, at, login):
        """Pushes an authorization request, which is never used. Returns true if it was accepted."""
        form = dict(urllib.parse.parse_qsl(self.authorization(login).partition("?")[2]))
        answer = await self.ask(at.port, "POST", "/oauth/par", form)
        return answer.status == 201

    async def start(self, at):
        """Starts a sign-in that waits for the login page. Returns true if it was started."""
        login = self.login(".page")
        return await self.begin(at, login, await self.ask(at.port, "GET", self.authorization(login))) is not None

    async def sign_in(self, at, kind=""):
        """Signs in with a refresh. Returns the refresh token, or `None` after a refused step."""
        code = await self.authorize(at, self.login(kind))
        grant = code and (await self.redeem(code, at))[1]
        return grant and (await self.refresh(grant, at))[1]


class Attack:
    """The attackers, in turn, for `seconds`, or for at least `least` seconds and until the store has evicted an entry.
    `counts` has the accepted and the refused steps."""

    def __init__(self, at, host, seconds, least=None):
        self.at, self.seconds, self.least, pool = at, seconds, least, collections.defaultdict(list)
        self.clients = [
            Client(f"10.{number // 250}.{number % 250}.1", host, Silent(), pool) for number in range(ATTACKERS)]
        self.counts, self.used = collections.Counter(), set()

    async def run(self):
        self.end = time.monotonic() + self.seconds
        turns = itertools.cycle(range(ATTACKERS))
        if self.least is not None:
            asyncio.create_task(self.end_early())
        await asyncio.gather(*(self.work(turns) for _ in range(AT_ONCE)))
        self.clients[0].close()

    async def end_early(self):
        await asyncio.sleep(self.least)
        while time.monotonic() < self.end:
            seen = await asyncio.to_thread(figures, self.at)
            if seen.get(("evictions_total", "state")):
                self.end = 0
            await asyncio.sleep(0.2)

    async def work(self, turns):
        while time.monotonic() < self.end and self.counts["sign-in refused"] < REFUSALS:
            number = next(turns)
            client = self.clients[number]
            self.used.add(number)
            self.count("state", await client.start(self.at))
            self.count("push", await client.push(self.at, f"attack-{number}"))
            self.count("sign-in", await client.sign_in(self.at) is not None)

    def count(self, step, accepted):
        self.counts[f"{step} {'accepted' if accepted else 'refused'}"] += 1


def figures(at):
    """Returns the figures of the store from the metrics, by name and kind."""
    connection = http.client.HTTPConnection("127.0.0.1", at.admin, timeout=60)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    finally:
        connection.close()
    pattern = r'^proofgate_store_(\w+)\{[^}]*kind="(\w+)"[^}]*\} (\d+)'
    return {(found[1], found[2]): int(found[3]) for found in re.finditer(pattern, text, re.M)}


async def others(at, host, past, attack):
    """Signs in from new addresses, and refreshes an earlier session, until the attack has ended and once after it.
    Returns the problems, and the number of sign-ins."""
    pool, problems, number = collections.defaultdict(list), [], 0
    early = Client("192.0.2.1", host, past, pool)
    # The gateway connects to a Redis server after its start.
    for _ in range(200):
        session = await early.sign_in(at)
        if session is not None:
            break
        await asyncio.sleep(0.1)
    if session is None:
        return [f"the sign-in before the attack failed: {last(past)}"], 0
    attack = asyncio.create_task(attack.run())
    while True:
        isLast = attack.done()
        new = Client(f"198.{51 + number // 250}.{number % 250}.1", host, past, pool)
        # Every second sign-in has a login page, so its state waits in the store.
        if await new.sign_in(at, ".page" if number % 2 else "") is None:
            problems.append(f"the sign-in of the new address {new.address} was refused: {last(past)}")
        event, renewed, _ = await early.refresh(session, at)
        if renewed is None:
            problems.append(f"the refresh of the earlier session was refused: {last(past)}")
            break
        session, number = renewed, number + 1
        if isLast:
            break
        await asyncio.sleep(PAUSE)
    await attack
    early.close()
    return problems, number


def last(past):
    event = past.events[-1]
    return ", ".join(f"{name} {event[name]}" for name in ("kind", "status", "error", "rule", "lost") if name in event)


async def play(stage, verdict, engine, store, redis=None):
    short = stage.options.short
    server = stage.start(legacy.Legacy(stage.folder))
    folder = stage.folder / engine
    folder.mkdir()
    port = processes.free_ports(1)[0]
    replicas = Replicas(Part(folder, stage.options), server, store, port, ["fill"], count=1)
    at = stage.start(gateway.Gateway(replicas, f"fill-{engine}", replicas.port))
    past = history.History(stage.history(f"fill-{engine}"))
    # A Redis server does not say when it is full.
    attack = Attack(at, replicas.host, SHORT if short and redis else LIMIT, SHORT if short and not redis else None)
    problems, number = await others(at, replicas.host, past, attack)
    counts = attack.counts
    if redis:
        used = re.search(r"used_memory:(\d+)", servers.command(redis.port, "INFO", "memory"))
        maximum = int(servers.command(redis.port, "CONFIG", "GET", "maxmemory")[1])
        if int(used[1]) >= maximum * 3 // 4:
            problems.append(f"the server uses {used[1]} bytes, more than three quarters of its maxmemory {maximum}")
        if "OOM" in at.said():
            problems.append("the server has refused writes for lack of memory")
    else:
        seen = figures(at)
        kinds = ["state"] if short else ["state", "pushed"]
        problems += [f"no entry of the kind `{kind}` was evicted, so the store was not full"
                     for kind in kinds if not seen.get(("evictions_total", kind))]
    if not short:
        if len(attack.used) < ATTACKERS:
            problems.append(f"only {len(attack.used)} of {ATTACKERS} attackers had a turn")
        if not counts["sign-in refused"]:
            problems.append("no attacker was refused, so the store was not full")
    problems += stage.problems()
    verdict(
        f"fill {engine}",
        f"{number} sign-ins of new addresses and refreshes of an earlier session, against {len(attack.used)} attackers "
        f"with {counts['sign-in accepted']} sign-ins, {counts['state accepted']} states, {counts['push accepted']} "
        f"pushed requests, and {counts['sign-in refused']} refusals", problems)
    for child in (at, server):
        child.stop()
        stage.children.remove(child)


def run(stage, verdict):
    redis = stage.start(servers.Redis(stage.folder, "redis"))
    servers.command(redis.port, "CONFIG", "SET", "maxmemory", MEMORY)
    # The smallest stores in which each of the attackers has a first claim. A file needs more room for an entry.
    stores = {"memory": "{ memory: 2MiB }", "file": f"{{ file: {stage.folder}/state.db, size: 4MiB }}",
              "redis": f"redis://proofgate@127.0.0.1:{redis.port}"}
    for engine, store in stores.items():
        asyncio.run(play(stage, verdict, engine, store, redis if engine == "redis" else None))
