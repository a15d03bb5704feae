"""Dumps of the families of refresh tokens on each server that becomes the primary, to show which writes it never had.

The sentinels sometimes choose another primary once more, soon after a failover, and for some seconds two servers are
primaries. So each change of a role is a fault of the history, also if the test did not cause it.
"""

import asyncio
import time

import servers

INTERVAL = 0.03  # seconds between two looks at the role of a server
# Seconds after a promotion at which the families are dumped.
MOMENTS = (0, 0.2, 0.5, 1, 2, 3)
PATIENCE = 60  # seconds for an answer of the sentinels
ADOPTION = 1.5  # seconds after a change until every gateway uses the new primary


class Dumps:
    """Watches the servers until `stop`. Adds an event `stored` to the history for each dump."""

    def __init__(self, cluster, past):
        self.cluster, self.past, self.tasks, self.problems = cluster, past, [], []

    def start(self):
        self.tasks = [asyncio.create_task(self.watch(each)) for each in self.cluster.servers]
        return self

    async def watch(self, server):
        role, seen, promoted, due = None, None, None, []
        while True:
            latest = await asyncio.to_thread(servers.attempt, server.port, "ROLE")
            if latest:
                if latest[0] == "master" and role == "slave":
                    promoted, due = time.monotonic(), list(MOMENTS)
                    self.past.fault(f"{server.name} becomes the primary", seen, promoted + ADOPTION)
                elif latest[0] != "master":
                    due = []
                    if role == "master":
                        self.past.fault(f"{server.name} is a primary no longer", seen, time.monotonic() + ADOPTION)
                role, seen = latest[0], time.monotonic()
            if due and time.monotonic() >= promoted + due[0]:
                due.pop(0)
                await self.dump(server)
            await asyncio.sleep(INTERVAL)

    async def dump(self, server):
        sent = time.monotonic()
        try:
            tokens = await asyncio.to_thread(servers.families, server.port)
        except (OSError, servers.RedisError, ValueError):
            return
        self.past.add("stored", sent, time.monotonic(), server=server.name, tokens=sorted(tokens))

    async def check(self):
        """Dumps the families of the present primary. The dump must have the tokens that apps have got: otherwise no dump
        shows anything."""
        got = {each["got"] for each in self.past.events if each["kind"] == "refresh" and "got" in each}
        end = time.monotonic() + PATIENCE
        while (primary := await asyncio.to_thread(self.cluster.primary)) is None and time.monotonic() < end:
            await asyncio.sleep(INTERVAL)
        tokens = await asyncio.to_thread(servers.families, primary.port) if primary else set()
        # The latest tokens may be newer than the dump, and ended families have none.
        if not got or len(got & tokens) < len(tokens) / 4:
            self.problems.append(f"the dump has {len(tokens)} tokens, {len(got & tokens)} of them those of the history")

    async def stop(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        return self.problems
