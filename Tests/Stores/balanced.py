"""Whole sign-ins over two gateways behind HAProxy, each request at a random replica, while one replica after the other
is killed and started again.

Only requests in flight at the killed replica may fail. If a failed step did not reach the legacy server, its retry
succeeds. A redemption or refresh that was in flight keeps its claim for some seconds, until its process counts as gone;
its retries get 503 until then. A refresh that has reached the server may keep it until its lease ends.
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

AT_ONCE = 32  # sign-ins
LIMIT = 900  # seconds for all sign-ins
WINDOW = 30  # seconds of `refresh_reuse_window`
CODE = 60  # seconds for which a code can be redeemed, shorter than a lease
RETRY = 0.2  # seconds between retries
BUSY = gateway.GONE + 10  # seconds of retries of a step after the latest kill; the short form waits less


class Balancer:
    """The place to which all requests go."""

    def __init__(self, port):
        self.name, self.port = "haproxy", port


class Failed(Exception):
    """A step that failed without a reason. The text has the events around it."""


class Flows:
    def __init__(self, server, place, past, host, count, patience):
        self.server, self.place, self.past, self.host, self.count = server, place, past, host, count
        self.patience = patience
        self.begun, self.done, self.restarted, self.retried, self.busy = 0, 0, 0, 0, 0
        self.problems = []
        self.killed = 0  # the time of the latest kill

    def patience_ends(self, began):
        """Returns the time at which the retries of a step end. A gateway that has just started takes over no claims, so
        the time begins again with each kill."""
        return max(began, self.killed) + self.patience

    async def reached(self, login, kind):
        """Returns how often a step of this sign-in has reached the legacy server."""
        return (await asyncio.to_thread(self.server.count, login)).get(kind, 0)

    async def step(self, login, kind, action, isDone):
        """Runs a step until it succeeds. Returns its result; `None` for a code that the server has used up, and for a
        claim that has not ended in time. Throws `Failed`."""
        began, isRetry = time.monotonic(), False
        while True:
            result = await action()
            if isDone(result):
                self.retried += isRetry
                return result
            event = self.past.latest_of(login)
            if isRetry:
                hasReached = await self.reached(login, kind) > 0
                # The refusal of a retry by the server is 502, and spends the code.
                if kind == "redeem" and hasReached and (
                        event.get("error") == "invalid_grant" or event.get("status") == 502):
                    self.restarted += 1
                    return None
                isBusy = kind in ("redeem", "refresh") and event.get("status") == 503
                if isBusy and time.monotonic() > self.patience_ends(began) and (self.patience < BUSY or hasReached):
                    self.busy += 1
                    return None
                if not isBusy and not self.is_in_flight(event) or time.monotonic() > self.patience_ends(began):
                    raise Failed(f"the retry of a {kind} that {'' if hasReached else 'never '}reached the server failed"
                                 f"{self.past.around(event)}")
            # Whether a kill explains the first failure is decided by `judge`.
            isRetry = True
            await asyncio.sleep(RETRY)

    def is_in_flight(self, event):
        return any(each["kind"] == "fault" and judge.overlap(each, event) for each in self.past.events[-5_000:])

    async def worker(self, number):
        client = app.App(f"app{number}", self.host, self.past)
        while self.begun < self.count:
            self.begun += 1
            try:
                while not await self.flow(client):
                    pass
                self.done += 1
            except Failed as error:
                self.problems.append(str(error))
        client.close()

    async def flow(self, client):
        """Runs a sign-in: authorization request, login page and redirect, token request, refresh. Returns false if the
        user has to sign in again."""
        login, place = client.login(".page"), self.place
        page = await self.step(login, "begin", lambda: self.begin(client, login), bool)
        code = await self.step(login, "complete", lambda: client.finish(place, login, page), bool)
        tokens = await self.step(login, "redeem", lambda: client.redeem(code, place), lambda each: each[1])
        if tokens is None:
            return False
        await self.step(login, "refresh", lambda: client.refresh(tokens[1], place), lambda each: each[1])
        return True

    async def begin(self, client, login):
        answer = await client.ask(self.place.port, "GET", client.authorization(login))
        return await client.begin(self.place, login, answer)


async def kills(flows, gateways, count, past):
    """Kills one gateway after the other, evenly over the sign-ins, and starts it again."""
    for number in range(count):
        while flows.done < flows.count * (number + 1) / (count + 1):
            await asyncio.sleep(0.01)
        victim = gateways[number % 2]
        began = flows.killed = time.monotonic()
        victim.kill()
        # Its connections end with it, at once; the balancer needs a moment for its answers.
        past.fault(f"SIGKILL of {victim.name}", began, time.monotonic() + 0.5, kill=victim.name, balancer="haproxy")
        await asyncio.sleep(0.5)
        victim.launch()
        await asyncio.to_thread(victim.wait)
        await asyncio.sleep(0.5)


async def play(stage, verdict):
    options = stage.options
    count = options.rounds_of(10_000, 200)
    server = stage.start(legacy.Legacy(stage.folder))
    redis = stage.start(servers.Redis(stage.folder, "redis"))
    balancer_port = processes.free_ports(1)[0]
    replicas = gateway.Replicas(
        stage, server, f"redis://proofgate@127.0.0.1:{redis.port}", balancer_port, load.clients(AT_ONCE), window=WINDOW,
        code=CODE)
    gateways = [stage.start(gateway.Gateway(replicas, f"gateway-{n}")) for n in range(2)]
    balancer = processes.HAProxy(stage.folder, gateways, balancer_port)
    stage.start(balancer)
    past = history.History(stage.history("haproxy"))
    probe = app.App("probe", replicas.host, past)
    if await load.recovered(probe, gateways, 60) is None:
        raise RuntimeError(f"no sign-in works before the first kill{past.latest()}")
    probe.close()
    flows = Flows(server, Balancer(balancer.port), past, replicas.host, count, 3 if options.short else BUSY)
    times = 1 if options.short else 8
    began = time.monotonic()
    killing = asyncio.create_task(kills(flows, gateways, times, past))
    try:
        await asyncio.wait_for(asyncio.gather(*(flows.worker(number) for number in range(AT_ONCE))), LIMIT)
    except asyncio.TimeoutError:
        flows.problems.append(f"only {flows.done} of {count} sign-ins within {LIMIT} s")
    if flows.done >= count:
        await killing
    killing.cancel()
    problems = flows.problems + past.collect(server, gateways) + judge.problems(past)
    if flows.done < count:
        problems.append(f"{count - flows.done} of {count} sign-ins failed")
    served = {each["replica"] for each in past.events if "replica" in each}
    if not served >= {each.name for each in gateways}:
        problems.append(f"requests reached only {', '.join(sorted(served)) or 'no replica'}")
    failed = sum("lost" in each or (each.get("status") or 0) >= 500 for each in past.events)
    verdict("haproxy", f"{flows.done} sign-ins over 2 replicas with {times} kills in {time.monotonic() - began:.0f} s; "
            f"{failed} requests failed, {flows.retried} steps succeeded when repeated, {flows.restarted} sign-ins "
            f"began again because the server had used up their code, {flows.busy} claims were not waited for until "
            "they ended", problems + stage.problems())


def run(stage, verdict):
    asyncio.run(play(stage, verdict))
