"""Apps that use the gateways at the same time: honest ones, and ones whose codes and tokens are used twice."""

import asyncio
import collections
import time

import app
from dice import dice

chance = dice("load")

# The kinds of a sign-in and their weights. A late one waits between code and redemption, so that failures happen then.
KINDS = {"plain": 40, "late": 20, "double": 25, "replay": 15}
TRIES = 4  # redemptions of one code, if the store is not usable
SESSIONS = 5  # of one app at the same time
USED = 20  # used tokens that one app remembers for a second use
EVENTS = 500_000  # the most of one history


class Session:
    def __init__(self, grant, isHonest):
        self.grant, self.isHonest = grant, isHonest


class User:
    """One app with several sessions. Its requests follow one after another, except those with one token."""

    def __init__(self, number, gateways, host, history, pages, pause):
        self.app = app.App(f"app{number}", host, history)
        self.gateways, self.pages, self.pause = gateways, pages, pause
        self.sessions, self.used = [], collections.deque(maxlen=USED)
        self.isDone = False

    def any(self):
        return chance.choice(self.gateways)

    async def run(self):
        while not self.isDone and len(self.app.history.events) < EVENTS:
            choice = chance.random()
            if self.used and choice < 0.08:
                await self.use_again()
            elif self.sessions and choice < 0.6:
                await self.refresh(chance.choice(self.sessions))
            else:
                await self.sign_in()
            await self.app.pass_through(self.any())
            await asyncio.sleep(chance.uniform(0, self.pause))

    async def sign_in(self):
        login = self.app.login(".page" if self.pages else "")
        kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
        code = await self.app.authorize(self.any(), login, self.any())
        if code is None:
            return
        if kind == "late":
            await asyncio.sleep(chance.uniform(0, 2))
        grant = None
        for attempt in range(TRIES):
            gateways = chance.sample(self.gateways * 2, 2) if kind == "double" else [self.any()]
            results = await self.app.tokens("redeem", code, gateways)
            grant = next((new for _, new, _ in results if new), None)
            if grant or any(event.get("status") != 503 for event, _, _ in results):
                break
            await asyncio.sleep(chance.uniform(0.1, 0.6))
        if grant is None:
            return
        if kind == "replay":
            await asyncio.sleep(chance.uniform(0, 0.2))
            await self.app.redeem(code, self.any())
        self.sessions.append(Session(grant, kind != "replay" and chance.random() < 0.6))
        if len(self.sessions) > SESSIONS:
            self.sessions.pop(0)

    async def refresh(self, session):
        """Uses the newest token of a session. After 503 or a lost answer, the session keeps it."""
        event, grant, _ = await self.app.refresh(session.grant, self.any())
        if grant:
            if not session.isHonest:
                self.used.append(session.grant)
            session.grant = grant
        elif event.get("status") == 400 and session in self.sessions:
            self.sessions.remove(session)

    async def use_again(self):
        """Uses a token again that was used some time ago."""
        grant = self.used.popleft()
        await self.app.refresh(grant, self.any())

    async def finish(self, until):
        """Uses every session once more, until it is answered or the time is over. Returns the number of sessions that
        got no answer but 503."""
        waiting = list(self.sessions)
        while waiting:
            for session in list(waiting):
                before = session.grant
                await self.refresh(session)
                if session.grant is not before or session not in self.sessions:
                    waiting.remove(session)
            if time.monotonic() > until:
                break
            if waiting:
                await asyncio.sleep(1)
        self.app.close()
        return len(waiting)


class Load:
    """The load of a run. `pause` is the longest pause between two requests of one user, in seconds."""

    def __init__(self, count, gateways, host, history, pages=False, pause=0.1):
        self.users = [User(number, gateways, host, history, pages, pause) for number in range(count)]
        self.history, self.tasks = history, []

    def start(self):
        self.tasks = [asyncio.create_task(user.run()) for user in self.users]
        return self

    async def renew(self, seconds=120):
        """Waits until no session has a token from before, and forgets used tokens."""
        before = {id(session): session.grant for user in self.users for session in user.sessions}
        end = time.monotonic() + seconds
        while any(before.get(id(session)) is session.grant for user in self.users for session in user.sessions):
            if time.monotonic() > end:
                raise RuntimeError(f"sessions were not used for {seconds} s")
            await asyncio.sleep(0.1)
        for user in self.users:
            user.used.clear()

    async def stop(self, seconds=0):
        """Ends the load, and waits so long for sessions that are not answered. Returns the number of those that got no
        answer but 503."""
        for user in self.users:
            user.isDone = True
        await asyncio.gather(*self.tasks)
        if len(self.history.events) >= EVENTS:
            raise RuntimeError(f"the load ended early, after {EVENTS} events")
        until = time.monotonic() + seconds
        return sum(await asyncio.gather(*(user.finish(until) for user in self.users)))


async def recovered(probe, gateways, seconds):
    """Waits until a whole sign-in works at each gateway. Returns the time that this took, or `None`."""
    began = time.monotonic()

    async def one(at):
        while time.monotonic() - began < seconds:
            if await probe.flow([at]):
                return True
            await asyncio.sleep(0.05)
        return False

    # One after another: the requests of a client must not overlap, or its log lines would be ambiguous.
    for at in gateways:
        if not await one(at):
            return None
    return time.monotonic() - began


def clients(count):
    """Returns the ids of the clients of a load, and that of its probe."""
    return [f"app{number}" for number in range(count)] + ["probe"]


def figures(history):
    """Returns the numbers of a history in words."""
    events = [each for each in history.events if each["kind"] in ("redeem", "refresh")]
    count = collections.Counter((each["kind"], each.get("status")) for each in events)
    revived = sum("epoch-family" in each.get("findings", ()) for each in events)
    return (f"{count['redeem', 200]} codes redeemed, {count['redeem', 503]} times 503, {count['redeem', 400]} times "
            f"invalid_grant; {count['refresh', 200]} tokens refreshed, {count['refresh', 503]} times 503, "
            f"{count['refresh', 400]} times invalid_grant; {revived} epoch-family")
