#!/usr/bin/env python3
"""A network of forwarders on loopback whose links can be cut, because a test cannot rely on network namespaces.

Each server has one forwarder, at whose port all others reach it. The forwarder knows who connects: Redis servers and
sentinels by their source address (127.0.0.11, ...), gateways by the process that owns the other end of the connection.
A link between two names that is cut forwards nothing in either direction and closes nothing; its bytes arrive when it
is restored, as with TCP on a network that comes back.

The forwarders run as a process of their own, so that a busy test does not delay them:

    links.py    reads one JSON command a line, and answers each with one line
"""

import asyncio
import json
import os
import select
import subprocess
import sys


class Links:
    """The forwarders as a child process."""

    def __init__(self, stage):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, start_new_session=True)
        stage.add(self)

    def ask(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], 10)[0]:
            raise RuntimeError("the forwarders do not answer")
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the forwarders have ended"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("port")

    def open(self, name, port, source=None):
        """Adds a server. Returns the port at which the others reach it."""
        return self.ask(do="open", name=name, port=port, source=source)

    def know(self, gateway):
        """Adds a gateway, again after each start."""
        self.ask(do="know", name=gateway.name, pid=gateway.pid)

    def cut(self, group, others):
        """Cuts the links between two groups of names."""
        self.ask(do="cut", pairs=[[one, other] for one in group for other in others])

    def heal(self):
        """Restores all links, and ends delays and cuts of replies."""
        self.ask(do="heal")

    def delay(self, name, seconds):
        """Delays all replies of a server."""
        self.ask(do="replies", name=name, rule=["delay", seconds])

    def end_replies(self, name, after):
        """Ends each connection of a server after so many bytes of replies, from now on."""
        self.ask(do="replies", name=name, rule=["end", after])

    def problem(self):
        return "" if self.process.poll() is None else f"the forwarders ended with {self.process.returncode}"

    def stop(self):
        # Its input ends, and so does the process.
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        self.process.stdout.close()


class Network:
    def __init__(self):
        self.sources, self.pids = {}, {}
        self.cuts, self.rules, self.listeners = set(), {}, []
        # Replaced and set whenever a link changes.
        self.changed = asyncio.Event()

    async def execute(self, command):
        what, name = command["do"], command.get("name")
        if what == "open":
            if command["source"]:
                self.sources[command["source"]] = name
            listener = await asyncio.start_server(self.forwarder(name, command["port"]), "127.0.0.1", 0, backlog=256)
            self.listeners.append(listener)
            return {"port": listener.sockets[0].getsockname()[1]}
        if what == "know":
            self.pids[name] = command["pid"]
        elif what == "cut":
            self.cuts.update(frozenset(pair) for pair in command["pairs"])
        elif what == "replies":
            self.rules[name] = command["rule"]
        elif what == "heal":
            self.cuts.clear()
            self.rules.clear()
        self.changed.set()
        self.changed = asyncio.Event()
        return {}

    async def passable(self, pair):
        """Waits until the link is not cut."""
        while pair in self.cuts:
            await self.changed.wait()

    def forwarder(self, name, port):
        async def accept(reader, writer):
            peer = self.owner(*writer.get_extra_info("peername"))
            pair = frozenset((peer, name))
            await self.passable(pair)
            try:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                writer.transport.abort()
                return
            await asyncio.gather(
                self.pump(reader, far_writer, pair), self.pump(far_reader, writer, pair, name), return_exceptions=True)

        return accept

    async def pump(self, reader, writer, pair, server=None):
        """Forwards one direction; `server` is given for replies."""
        forwarded, rule = 0, None
        try:
            while data := await reader.read(65536):
                await self.passable(pair)
                if server and self.rules.get(server) is not rule:
                    forwarded, rule = 0, self.rules.get(server)
                if server and rule:
                    kind, amount = rule
                    if kind == "delay":
                        await asyncio.sleep(amount)
                    elif forwarded + len(data) > amount:
                        writer.write(data[:max(0, amount - forwarded)])
                        await writer.drain()
                        break
                    forwarded += len(data)
                writer.write(data)
                await writer.drain()
            await self.passable(pair)
        except OSError:
            pass
        finally:
            writer.close()

    def owner(self, address, port):
        """Returns the name of the other end of a connection."""
        if name := self.sources.get(address):
            return name
        end = f"{int.from_bytes(bytes(map(int, address.split('.'))), 'little'):08X}:{port:04X}"
        with open("/proc/net/tcp") as table:
            found = next((row for line in table if (row := line.split())[1] == end and row[9] != "0"), None)
        for name, pid in self.pids.items():
            try:
                for entry in os.scandir(f"/proc/{pid}/fd"):
                    if found and os.readlink(entry.path) == f"socket:[{found[9]}]":
                        return name
            except OSError:
                pass  # the process has ended, or closed the descriptor
        return "unknown"


async def main():
    network = Network()
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        try:
            answer = await network.execute(json.loads(line))
        except (OSError, ValueError, KeyError) as error:
            answer = {"error": f"the forwarders: {type(error).__name__} {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
