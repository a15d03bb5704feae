#!/usr/bin/env python3
"""The legacy server behind the gateways, as a process of its own. It knows neither PKCE nor single use: it accepts each
code and refresh token of its own any number of times, so that only the gateways prevent a second use. It records what
reaches it.

    legacy.py PORT CONTROL RECORD

The `login_hint` of an authorization request names the sign-in. Its end decides the behaviour: `.page` gets a login page
first. A redemption for `.held` and a refresh for `.slow` are answered after `/release` on the control port, or after HOLD
seconds.
"""

import asyncio
import collections
import hashlib
import http.client
import itertools
import json
import signal
import sys
import time
import urllib.parse

import processes

HOLD = 3  # seconds, less than the response timeout of the gateways
PAGE = b"a page of the legacy server\n"


def digest(secret):
    """Returns a short digest, because tests print codes and tokens too."""
    return hashlib.sha256(secret.encode()).hexdigest()[:12]


class Legacy(processes.Child):
    """The server as a child process."""

    def __init__(self, folder):
        port, self.control = processes.free_ports(2)
        super().__init__(folder, "legacy", port)
        self.record = self.folder / "record"

    def command(self):
        return [sys.executable, __file__, self.port, self.control, self.record]

    def ask(self, target):
        connection = http.client.HTTPConnection("127.0.0.1", self.control, timeout=10)
        try:
            connection.request("GET", target)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def release(self, login):
        """Answers the token requests of this sign-in."""
        self.ask(f"/release?login={login}")

    def count(self, login):
        """Returns how many requests of each kind this sign-in had."""
        return self.ask(f"/count?login={login}")

    def events(self):
        """Returns all token requests that reached the server."""
        self.ask("/flush")
        return [json.loads(line) for line in self.record.read_text().splitlines()]


class Server:
    def __init__(self, record):
        self.record = open(record, "w")
        self.sessions, self.numbers = {}, itertools.count(1)
        self.codes, self.refresh, self.access = {}, {}, {}
        self.counts, self.gates = collections.defaultdict(collections.Counter), {}

    def reached(self, kind, login, secret=""):
        self.counts[login][kind] += 1
        self.record.write(json.dumps({
            "kind": "upstream", "what": kind, "login": login, "token": digest(secret), "sent": time.monotonic(),
        }) + "\n")

    async def answer(self, method, target, fields, body):
        """Returns the status, more header fields and the content."""
        path, _, query = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        form = dict(urllib.parse.parse_qsl(body.decode()))
        if path == "/oauth/authorize":
            login = query.get("login_hint", "")
            self.counts[login]["begin"] += 1
            session = str(next(self.numbers))
            self.sessions[session] = (login, query["redirect_uri"], query.get("state", ""))
            if login.endswith(".page"):
                return 302, f"Location: /login?session={session}\r\n", b""
            return self.signed_in(session)
        if path == "/login":
            return self.signed_in(query["session"])
        if path == "/oauth/token":
            return await self.token(form)
        if path == "/oauth/revoke":
            known = self.access.pop(form.get("token"), None) or self.refresh.get(form.get("token"))
            self.reached("revoke", known or "", form.get("token", ""))
            return 200, "", b""
        if path == "/api/me":
            login = self.access.get(fields.get("authorization", "").removeprefix("Bearer "))
            return (200, "", login.encode()) if login else (401, "WWW-Authenticate: Bearer\r\n", b"")
        return 200, "", PAGE

    def signed_in(self, session):
        login, redirect, state = self.sessions[session]
        self.counts[login]["complete"] += 1
        code = f"raw-code-{login}-{next(self.numbers)}"
        self.codes[code] = login
        return 302, f"Location: {redirect}?{urllib.parse.urlencode({'code': code, 'state': state})}\r\n", b""

    async def token(self, form):
        kind = "redeem" if form.get("grant_type") == "authorization_code" else "refresh"
        secret = form.get("code" if kind == "redeem" else "refresh_token", "")
        login = (self.codes if kind == "redeem" else self.refresh).get(secret)
        if not login:
            return 400, "Content-Type: application/json\r\n", b'{"error":"invalid_grant"}'
        self.reached(kind, login, secret)
        if login.endswith(".held" if kind == "redeem" else ".slow"):
            gate = self.gates.setdefault(login, asyncio.Event())
            try:
                await asyncio.wait_for(gate.wait(), HOLD)
            except asyncio.TimeoutError:
                pass
        number = next(self.numbers)
        access, renewed = f"access-{login}-{number}", f"raw-refresh-{login}-{number}"
        self.access[access], self.refresh[renewed] = login, login
        content = {"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": renewed}
        return 200, "Content-Type: application/json\r\n", json.dumps(content).encode()

    async def control(self, method, target, fields, body):
        path, _, query = target.partition("?")
        login = dict(urllib.parse.parse_qsl(query)).get("login", "")
        content = {}
        if path == "/release":
            self.gates.setdefault(login, asyncio.Event()).set()
        elif path == "/count":
            content = dict(self.counts[login]) if login in self.counts else {}
        elif path == "/flush":
            self.record.flush()
        return 200, "Content-Type: application/json\r\n", json.dumps(content).encode()

    def converse(self, answer):
        async def each(reader, writer):
            try:
                while True:
                    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                    method, target, _ = lines[0].split(" ")
                    fields = {name.lower(): value.strip() for name, _, value in (e.partition(":") for e in lines[1:])}
                    body = await reader.readexactly(int(fields.get("content-length", 0)))
                    status, more, content = await answer(method, target, fields, body)
                    head = f"HTTP/1.1 {status} Answer\r\n{more}Content-Length: {len(content)}\r\n\r\n"
                    writer.write(head.encode() + (b"" if method == "HEAD" else content))
            except (OSError, EOFError, ValueError, KeyError):
                pass
            finally:
                writer.close()

        return each


async def main():
    port, control, record = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    server = Server(record)
    # The control port first: the server is ready when the other one accepts connections.
    await asyncio.start_server(server.converse(server.control), "127.0.0.1", control)
    await asyncio.start_server(server.converse(server.answer), "127.0.0.1", port, backlog=1024)
    await ended.wait()
    server.record.close()


if __name__ == "__main__":
    asyncio.run(main())
