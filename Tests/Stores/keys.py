"""`proofgate keys rotate` and `retire` at two gateways with one key file, under load: no sign-in and no session is
lost.

The gateways load the file one after the other, so that each step also runs with different keys at the two gateways.
"""

import asyncio
import re
import time

import app
import gateway
import history
import judge
import legacy
import load
import processes
import servers

CODE = 3  # seconds for which a code can be redeemed, so that the old key is soon in no code
APART = 0.5  # seconds between the reloads of the two gateways


class Rotation:
    def __init__(self, replicas, gateways, past):
        self.replicas, self.gateways, self.past, self.problems = replicas, gateways, past, []

    def states(self):
        """Returns the states of the keys by id."""
        _, text = self.replicas.keys_command("list")
        return {found[1]: found[2] for found in re.finditer(r"^([0-9a-f]{8}) +\S+ +(\w+)", text, re.M)}

    def change(self, *words):
        began = time.monotonic()
        code, text = self.replicas.keys_command(*words)
        if code:
            self.problems.append(f"keys {' '.join(words)} ends with {code}: {text.strip()}")
        self.past.fault(f"keys {' '.join(words)}", began, time.monotonic())
        return code

    async def load_keys(self):
        for each in self.gateways:
            await asyncio.to_thread(each.reload)
            await asyncio.sleep(APART)

    def retire(self, key):
        """Retires a key, with `--now` if the command wants to wait for the longest lifetime of a refresh token."""
        code, text = self.replicas.keys_command("retire", key)
        if code and "--now" in text:
            self.change("retire", key, "--now")
        elif code:
            self.problems.append(f"keys retire {key} ends with {code}: {text.strip()}")


async def play(stage, verdict):
    options = stage.options
    rounds = options.rounds_of(5, 1)
    server = stage.start(legacy.Legacy(stage.folder))
    redis = stage.start(servers.Redis(stage.folder, "redis"))
    users = 8 if options.short else 24
    replicas = gateway.Replicas(
        stage, server, f"redis://proofgate@127.0.0.1:{redis.port}", processes.free_ports(1)[0],
        load.clients(users) + ["witness"], code=CODE, idle="1m")
    gateways = [stage.start(gateway.Gateway(replicas, f"gateway-{n}")) for n in range(2)]
    past = history.History(stage.history("keys"))
    probe, witness = app.App("probe", replicas.host, past), app.App("witness", replicas.host, past)
    if await load.recovered(probe, gateways, 60) is None:
        raise RuntimeError(f"no sign-in works before the first rotation{past.latest()}")
    rotation, began, refused = Rotation(replicas, gateways, past), time.monotonic(), 0
    # Every session is used every few seconds, so that after some time no token of the old key is in use.
    running = load.Load(users, gateways, replicas.host, past, pages=True, pause=0.1).start()
    for _ in range(rounds):
        old = next(iter(key for key, state in rotation.states().items() if state == "seals"), None)
        # On a busy machine a code may expire before its redemption.
        for _ in range(10):
            code = await witness.authorize(gateways[0], witness.login())
            kept = code and (await witness.redeem(code, gateways[0]))[1]
            if kept:
                break
        if old is None or kept is None:
            rotation.problems.append(f"no key that seals, or no sign-in: {rotation.states()}{past.latest()}")
            break
        rotation.change("rotate")
        await rotation.load_keys()
        rotation.change("rotate")
        await rotation.load_keys()
        await asyncio.sleep(CODE)
        await running.renew()
        rotation.retire(old)
        await rotation.load_keys()
        # Outside of the history: the token of a retired key is refused on purpose.
        answer = await witness.ask(gateways[1].port, "POST", "/oauth/token", witness.token_form("refresh", kept))
        refused += answer.status == 400
        if answer.status != 400:
            rotation.problems.append(f"a token of the retired key {old} is answered with {answer.status}")
        await asyncio.sleep(1)
    await running.stop()
    for each in (probe, witness):
        each.close()
    problems = rotation.problems + past.collect(server, gateways) + judge.problems(past, lifetime=CODE)
    failed = [event for event in past.events
              if event["kind"] in ("begin", "authorize", "redeem", "refresh") and event.get("status") in (None, 503)
              and event.get("rule") != "refresh-token-busy"]
    problems += [f"refused during a rotation: {past.text(event)}" for event in failed]
    verdict("keys", f"{rounds} rotations at 2 replicas in {time.monotonic() - began:.0f} s; {load.figures(past)}; "
            f"{refused} tokens of retired keys refused", problems + stage.problems())


def run(stage, verdict):
    asyncio.run(play(stage, verdict))
