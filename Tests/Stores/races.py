"""Simultaneous redemptions of one code at three gateways in front of sentinels, a primary and two replicas."""

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

AT_ONCE = 50
WAIT = 2  # seconds for writing all requests; the legacy server holds the winner's answer longer
ARRIVAL = 0.3  # seconds after which a gateway has decided on a request that it has read
LIMIT = 900  # seconds for all rounds


class Race:
    def __init__(self, server, gateways, client):
        self.server, self.gateways, self.client = server, gateways, client
        self.problems, self.away, self.complete = [], 0, 0

    async def all_written(self):
        while self.client.written < AT_ONCE:
            await asyncio.sleep(0.005)
        while any(each.unread() for each in self.gateways):
            await asyncio.sleep(0.02)
        await asyncio.sleep(ARRIVAL)

    async def run(self, isHeld):
        """Runs one round. If `isHeld`, the legacy server answers the winner after all requests have reached a
        gateway."""
        client, gateways = self.client, self.gateways
        login = client.login(".held" if isHeld else "")
        code = await client.authorize(gateways[0], login)
        if code is None:
            self.problems.append(f"the sign-in {login} failed")
            return
        name = f"sign-in {login}, code {legacy.digest(code.secret)}"
        sending = asyncio.create_task(
            client.tokens("redeem", code, [gateways[number % len(gateways)] for number in range(AT_ONCE)]))
        areAllBefore = False
        if isHeld:
            # `volley` counts from 0 again as soon as it runs.
            await asyncio.sleep(0.01)
            try:
                await asyncio.wait_for(self.all_written(), WAIT)
                areAllBefore = True
            except asyncio.TimeoutError:
                pass
            await asyncio.to_thread(self.server.release, login)
        results = await sending
        won = [(grant, access) for event, grant, access in results if event.get("status") == 200]
        self.away += sum(event.get("status") == 503 for event, _, _ in results)
        if len(won) != 1:
            self.problems.append(f"{name}: {len(won)} of {AT_ONCE} redemptions succeeded")
        elif areAllBefore:
            self.complete += 1
            self.problems += [f"{name}: {each}" for each in await self.judge_tokens(code, *won[0])]

    async def judge_tokens(self, code, grant, access):
        """The winner's tokens work, and end with a later redemption (RFC 6749, section 4.1.2)."""
        client, gateways = self.client, self.gateways
        if not await client.uses(access, gateways[1]):
            return ["the winner's access token is refused, although all requests came before the answer"]
        event, renewed, _ = await client.refresh(grant, gateways[2])
        if renewed is None:
            return [f"the winner's refresh token is refused: {client.history.text(event)}"]
        problems = []
        event, _, _ = await client.redeem(code, gateways[1])
        if event.get("error") != "invalid_grant":
            problems.append(f"a later redemption is not refused: {client.history.text(event)}")
        if await client.uses(access, gateways[0]):
            problems.append("the access token still works after a later redemption")
        event, _, _ = await client.refresh(renewed, gateways[0])
        if event.get("error") != "invalid_grant":
            problems.append(f"the refresh token still works after a later redemption: {client.history.text(event)}")
        return problems


async def play(stage, verdict):
    rounds = stage.options.rounds_of(1_000, 20)
    server = stage.start(legacy.Legacy(stage.folder))
    cluster = servers.Cluster(stage)
    replicas = gateway.Replicas(
        stage, server, cluster.store, processes.free_ports(1)[0], load.clients(1), least=1, count=3)
    gateways = [stage.start(gateway.Gateway(replicas, f"gateway-{n}")) for n in range(3)]
    past = history.History(stage.history("races"))
    if await load.recovered(app.App("probe", replicas.host, past), gateways, 60) is None:
        raise RuntimeError(f"no sign-in works before the first round{past.latest()}")
    race, began = Race(server, gateways, app.App("app0", replicas.host, past)), time.monotonic()
    held = 0
    for number in range(rounds):
        if time.monotonic() - began > LIMIT:
            race.problems.append(f"only {number} of {rounds} rounds within {LIMIT} s")
            break
        # In each fourth round the winner is answered at once, as in normal use.
        isHeld = number % 4 != 3
        held += isHeld
        await race.run(isHeld)
    race.client.close()
    if race.complete < held / 2:
        race.problems.append(f"in only {race.complete} of {held} rounds all requests came before the winner's answer, so "
                             "the winner's tokens were not judged")
    problems = race.problems + past.collect(server, gateways) + judge.problems(past)
    verdict("races", f"{rounds} codes with {AT_ONCE} simultaneous redemptions each at 3 gateways in "
            f"{time.monotonic() - began:.0f} s; the tokens of {race.complete} winners worked and ended; {race.away} "
            "refused with 503", problems + stage.problems())


def run(stage, verdict):
    asyncio.run(play(stage, verdict))
