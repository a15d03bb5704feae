"""An app: a public native client of the gateways, with a fresh browser for each sign-in. Each request and its answer is
an event of the history."""

import asyncio
import base64
import collections
import hashlib
import itertools
import json
import time
import urllib.parse

import gateway
from dice import dice
from legacy import PAGE, digest

chance = dice("app")

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636, appendix B
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
# Longer than all deadlines of the gateway for one request.
PATIENCE = 60  # seconds
IDLE = 20  # seconds after which an open connection is not used again; the gateways keep it longer

Answer = collections.namedtuple("Answer", "status fields body sent done lost")
# A code or refresh token, with the sign-in that it belongs to.
Grant = collections.namedtuple("Grant", "login secret")


class App:
    def __init__(self, client, host, history, source=None):
        self.client, self.host, self.history, self.source = client, host, history, source
        self.idle, self.numbers = collections.defaultdict(list), itertools.count(1)
        self.written = 0  # requests of the latest volley

    # Connections

    async def connect(self, port):
        while self.idle[port]:
            reader, writer, since = self.idle[port].pop()
            if not reader.at_eof() and time.monotonic() - since < IDLE:
                return reader, writer
            writer.close()
        return await asyncio.wait_for(
            asyncio.open_connection("127.0.0.1", port, local_addr=self.source and (self.source, 0)), PATIENCE)

    def close(self):
        for connections in self.idle.values():
            for _, writer, _ in connections:
                writer.close()
        self.idle.clear()

    def message(self, method, target, form=None, fields=()):
        body = urllib.parse.urlencode(form).encode() if form is not None else b""
        head = [f"{method} {target} HTTP/1.1", f"Host: {self.host}", *fields]
        if form is not None:
            head += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
        return ("\r\n".join(head) + "\r\n\r\n").encode() + body

    async def volley(self, requests):
        """Sends all (port, message) at once, each on a connection of its own. Returns the answers."""
        self.written = 0
        held = await asyncio.gather(*(self.connect(port) for port, _ in requests), return_exceptions=True)
        pending = []
        for connection, (port, message) in zip(held, requests):
            sent = time.monotonic()
            if isinstance(connection, BaseException):
                pending.append(self.lost(sent, connection))
            else:
                connection[1].write(message)
                self.written += 1
                pending.append(self.receive(port, *connection, sent))
        return await asyncio.gather(*pending)

    async def ask(self, port, method, target, form=None, fields=()):
        return (await self.volley([(port, self.message(method, target, form, fields))]))[0]

    async def lost(self, sent, error):
        return Answer(None, {}, b"", sent, time.monotonic(), f"no answer: {type(error).__name__} {error}".strip())

    async def receive(self, port, reader, writer, sent):
        try:
            status, fields, body = await asyncio.wait_for(self.read(reader), PATIENCE)
        except (OSError, EOFError, ValueError, asyncio.TimeoutError, asyncio.LimitOverrunError) as error:
            writer.close()
            return await self.lost(sent, error)
        done = time.monotonic()
        if fields.get("connection", "").lower() == "close":
            writer.close()
        else:
            self.idle[port].append((reader, writer, done))
        return Answer(status, fields, body, sent, done, None)

    @staticmethod
    async def read(reader):
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines[1:] if each)}
        body = b""
        if fields.get("transfer-encoding", "").lower() == "chunked":
            while size := int(await reader.readuntil(b"\r\n"), 16):
                body += await reader.readexactly(size)
                await reader.readexactly(2)
            await reader.readuntil(b"\r\n")
        elif "content-length" in fields:
            body = await reader.readexactly(int(fields["content-length"]))
        elif lines[0].split(" ")[1] not in ("204", "304"):
            body = await reader.read(-1)
            fields["connection"] = "close"
        return int(lines[0].split(" ")[1]), fields, body

    # Requests

    def event(self, kind, at, answer, **members):
        return self.history.add(
            kind, answer.sent, answer.done, client=self.client, gateway=at.name, status=answer.status,
            lost=answer.lost, rule=answer.fields.get("x-proofgate-rule"), replica=answer.fields.get("x-replica"),
            retry="retry-after" in answer.fields or None, **members)

    def login(self, kind=""):
        """Returns the name of a new sign-in. `kind` is `.page`, `.held` or `.slow`, see legacy.py."""
        return f"{self.client}-{next(self.numbers)}{kind}"

    def authorization(self, login):
        """Returns the target of an authorization request."""
        return "/oauth/authorize?" + urllib.parse.urlencode({
            "response_type": "code", "client_id": self.client, "redirect_uri": gateway.redirect(self.client),
            "state": login, "login_hint": login, "code_challenge": CHALLENGE, "code_challenge_method": "S256"})

    async def authorize(self, at, login, then=None):
        """Signs in at the gateway `at`, with the login page at the gateway `then`. Returns the code, or `None`."""
        answer = await self.ask(at.port, "GET", self.authorization(login))
        if not login.endswith(".page"):
            return self.complete(at, login, answer)
        page = await self.begin(at, login, answer)
        return page and await self.finish(then or at, login, page)

    async def begin(self, at, login, answer):
        """Records the answer to an authorization request. Returns the login page and the cookie, or `None`."""
        location = answer.fields.get("location", "")
        isBegun = answer.status == 302 and "/login?" in location
        self.event("begin", at, answer, login=login, error=None if isBegun else self.words(location, answer))
        cookie = answer.fields.get("set-cookie", "").partition(";")[0]
        return (location[location.index("/login?"):], cookie) if isBegun else None

    async def finish(self, at, login, page):
        """Requests the login page, which signs the user in. Returns the code, or `None`."""
        target, cookie = page
        answer = await self.ask(at.port, "GET", target, fields=[f"Cookie: {cookie}"] if cookie else [])
        return self.complete(at, login, answer)

    def complete(self, at, login, answer):
        location = answer.fields.get("location", "")
        parameters = dict(urllib.parse.parse_qsl(location.partition("?")[2]))
        isOurs = location.startswith(gateway.redirect(self.client) + "?") and parameters.get("state") == login
        code = parameters.get("code") if isOurs and answer.status in (302, 303) else None
        error = None if code else parameters.get("error") if isOurs else self.words(location, answer)
        self.event("authorize", at, answer, login=login, error=error, got=digest(code) if code else None)
        return Grant(login, code) if code else None

    @staticmethod
    def words(location, answer):
        """Returns an unexpected answer in a few words, without its secrets."""
        if answer.lost:
            return None
        return f"a redirect to {location.partition('?')[0]}" if location else f"{len(answer.body)} bytes"

    def token_form(self, kind, grant):
        if kind == "refresh":
            return {"grant_type": "refresh_token", "client_id": self.client, "refresh_token": grant.secret}
        return {"grant_type": "authorization_code", "client_id": self.client, "code": grant.secret,
                "code_verifier": VERIFIER, "redirect_uri": gateway.redirect(self.client)}

    async def tokens(self, kind, grant, gateways):
        """Sends one token request to each gateway at once. Returns the events, each with its tokens in `tokens`."""
        message = self.message("POST", "/oauth/token", self.token_form(kind, grant))
        answers = await self.volley([(each.port, message) for each in gateways])
        events = []
        for at, answer in zip(gateways, answers):
            try:
                content = json.loads(answer.body) if answer.body else {}
            except ValueError:
                content = {"error": f"not JSON: {len(answer.body)} bytes"}
            refresh = content.get("refresh_token") if answer.status == 200 else None
            error = content.get("error")
            if answer.status == 200 and (not refresh or not content.get("access_token")):
                error = "an answer without tokens"
            event = self.event(
                kind, at, answer, login=grant.login, token=digest(grant.secret), error=error,
                got=digest(refresh) if refresh else None)
            events.append((event, Grant(grant.login, refresh) if refresh else None, content.get("access_token")))
        return events

    async def redeem(self, grant, at):
        """Redeems a code. Returns the event, the refresh token or `None`, and the access token or `None`."""
        return (await self.tokens("redeem", grant, [at]))[0]

    async def refresh(self, grant, at):
        return (await self.tokens("refresh", grant, [at]))[0]

    async def pass_through(self, at):
        """Requests a page of the legacy server."""
        answer = await self.ask(at.port, "GET", "/page")
        isRight = answer.status == 200 and answer.body == PAGE
        return self.event("pass", at, answer, error=None if isRight else f"{len(answer.body)} bytes")

    async def uses(self, access, at):
        """Returns true if the legacy server accepts an access token."""
        answer = await self.ask(at.port, "GET", "/api/me", fields=[f"Authorization: Bearer {access}"])
        self.event("use", at, answer)
        return answer.status == 200

    async def flow(self, gateways, kind=""):
        """Runs a whole sign-in with a refresh, each step at a random gateway. Returns the new token, or `None`."""
        login = self.login(kind)
        code = await self.authorize(chance.choice(gateways), login, chance.choice(gateways))
        grant = code and (await self.redeem(code, chance.choice(gateways)))[1]
        return grant and (await self.refresh(grant, chance.choice(gateways)))[1]
