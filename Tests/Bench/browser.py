"""A browser and an app that run a whole OAuth flow: authorization request with PKCE, pages and forms, redirect to the
app, token request. The browser fills in any form: it types name and password, returns hidden fields, and presses the
button that approves. No program listens at the redirect URI: a redirect to it ends the browser's part.
"""

import asyncio
import base64
import collections
import hashlib
import html
import json
import pathlib
import re
import socket
import sys
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))

import dice  # noqa: E402

chance = dice.dice("browser")

STEPS = 20  # maximum number of requests of one flow; about ten are needed

FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.S | re.I)
FIELD = re.compile(r"<input\b([^>]*)>|<button\b([^>]*)>(.*?)</button>", re.S | re.I)
ATTRIBUTE = re.compile(r"([\w-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+)))?")
APPROVE = re.compile(r"approve|allow|accept|agree|authori[sz]e|consent|continue|yes", re.I)
REFUSE = re.compile(r"don.t|cancel|decline|deny|refuse|reject|^no$", re.I)

Answer = collections.namedtuple("Answer", "status headers cookies body")


class Failure(Exception):
    pass


def attributes(text):
    return {m[0].lower(): html.unescape(m[1] or m[2] or m[3]) for m in ATTRIBUTE.findall(text)}


def filled(page, options):
    """Returns method, action and fields of the form that continues the flow."""
    best = None
    for head, inside in FORM.findall(page):
        form, fields, buttons = attributes(head), [], []
        for text, button, label in FIELD.findall(inside):
            field = attributes(button or text)
            kind = field.get("type", "submit" if button or label else "text").lower()
            name, value = field.get("name"), field.get("value", "")
            if kind == "submit":
                if not REFUSE.search(value) and not REFUSE.search(label):
                    buttons.append((bool(APPROVE.search(f"{value} {label}")), name, value))
            elif not name or kind in ("button", "reset", "file"):
                continue
            elif kind == "password":
                fields.append((name, options.password))
            elif kind in ("checkbox", "radio"):
                fields.append((name, field.get("value", "on")))
            else:
                fields.append((name, value if kind == "hidden" or value else options.username))
        if not buttons:
            continue
        approves, name, value = max(buttons, key=lambda button: button[0])
        if name:
            fields.append((name, value))
        if best is None or approves > best[0]:
            best = approves, form.get("method", "get").lower(), form.get("action", ""), fields
    if best is None:
        raise Failure(f"a page without a form that continues the flow: {' '.join(re.sub('<[^>]*>', ' ', page).split())[:200]}")
    return best[1:]


def flow(options):
    """Runs one flow without I/O: yields the host and port of a server and the bytes of a request, receives each
    `Answer`, and returns the token. The browser follows redirects to `options.servers`, by default to the gateway
    only."""
    base = urlsplit(options.gateway).netloc
    servers = {base, *getattr(options, "servers", ())}
    cookies = {server: {} for server in servers}

    def request(method, target, body=None, headers=(), server=base):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {server}", "Accept: text/html, */*;q=0.8", *headers]
        if kept := cookies.get(server):
            lines.append("Cookie: " + "; ".join(f"{name}={value}" for name, value in kept.items()))
        encoded = b"" if body is None else urlencode(body).encode()
        if body is not None:
            lines += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(encoded)}"]
        return server, "\r\n".join(lines).encode() + b"\r\n\r\n" + encoded

    verifier, state = dice.token(chance, 32), dice.token(chance, 16)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = {
        "response_type": "code",
        "client_id": options.client_id,
        "redirect_uri": options.redirect_uri,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    if options.scope:
        query["scope"] = options.scope
    url = options.gateway + options.authorize + "?" + urlencode(query)
    method, body = "GET", None
    for _ in range(STEPS):
        parts = urlsplit(url)
        target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
        server = parts.netloc
        origin = [f"Origin: http://{server}"] if method == "POST" else []
        answer = yield request(method, target, body, origin, server)
        for cookie in answer.cookies:
            pair, _, rest = cookie.partition(";")
            name, _, value = pair.strip().partition("=")
            if value and not re.search(r"max-age=0\b", rest, re.I):
                cookies[server][name] = value
            else:
                cookies[server].pop(name, None)
        if answer.status in (301, 302, 303, 307, 308):
            url = urljoin(url, answer.headers.get("location", ""))
            if url.startswith(options.redirect_uri):
                break
            if urlsplit(url).netloc not in servers:
                raise Failure(f"redirected to {url}")
            if answer.status not in (307, 308):
                method, body = "GET", None
        elif answer.status == 200:
            how, action, fields = filled(answer.body.decode("utf-8", "replace"), options)
            url = urljoin(url, action) if action else url
            method, body = ("POST", fields) if how == "post" else ("GET", None)
            if how != "post":
                url = url.split("?")[0] + "?" + urlencode(fields)
        else:
            raise Failure(f"{method} {parts.path} answered {answer.status}: {answer.body[:200]!r}")
    else:
        raise Failure(f"the flow did not end after {STEPS} requests")

    result = parse_qs(urlsplit(url).query)
    if result.get("state") != [state]:
        raise Failure(f"the state came back as {result.get('state')}")
    if "code" not in result:
        raise Failure(f"error instead of a code: {result.get('error')} {result.get('error_description', '')}")
    fields = {
        "grant_type": "authorization_code",
        "code": result["code"][0],
        "redirect_uri": options.redirect_uri,
        "client_id": options.client_id,
        "code_verifier": verifier,
    }
    cookies.clear()
    answer = yield request("POST", options.token, fields)
    if answer.status != 200:
        raise Failure(f"the token endpoint answered {answer.status}: {answer.body[:200]!r}")
    token = json.loads(answer.body).get("access_token")
    if not token:
        raise Failure("a token response without a token")
    if options.resource:
        answer = yield request("GET", options.resource, None, [f"Authorization: Bearer {token}"])
        if answer.status != 200:
            raise Failure(f"the resource endpoint answered {answer.status}")
    return token


def parse_head(head):
    lines = head.decode("latin-1").split("\r\n")
    headers, cookies = {}, []
    for line in lines[1:]:
        name, _, value = line.partition(":")
        name = name.lower()
        if name == "set-cookie":
            cookies.append(value.strip())
        elif name:
            headers[name] = value.strip()
    return int(lines[0].split(" ", 2)[1]), headers, cookies


class Blocking:
    """One connection that is kept for several flows."""

    def __init__(self, host, port, timeout):
        self.address, self.timeout, self.socket = (host, port), timeout, None

    def exchange(self, request):
        for attempt in (1, 2):
            fresh = self.socket is None
            if fresh:
                self.socket = socket.create_connection(self.address, timeout=self.timeout)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.data = b""
            try:
                self.socket.sendall(request)
                return self._answer()
            except ConnectionError:
                # The server may have closed a kept connection; on a new connection this is an error.
                self.close()
                if fresh or attempt == 2:
                    raise

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def _more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionResetError("the connection ended within an answer")
        self.data += piece

    def _until(self, mark):
        while (end := self.data.find(mark)) < 0:
            self._more()
        found, self.data = self.data[:end], self.data[end + len(mark) :]
        return found

    def _exactly(self, count):
        while len(self.data) < count:
            self._more()
        found, self.data = self.data[:count], self.data[count:]
        return found

    def _answer(self):
        status, headers, cookies = parse_head(self._until(b"\r\n\r\n"))
        body = b""
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int(self._until(b"\r\n").split(b";")[0], 16):
                body += self._exactly(size)
                self._exactly(2)
            while self._until(b"\r\n"):
                pass
        elif status not in (204, 304):
            body = self._exactly(int(headers.get("content-length", "0")))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Answer(status, headers, cookies, body)


async def exchange(connection, address, request):
    """Sends one request with asyncio streams. `connection` is an empty list or holds reader and writer."""
    if not connection:
        connection[:] = await asyncio.open_connection(*address)
    reader, writer = connection
    writer.write(request)
    status, headers, cookies = parse_head((await reader.readuntil(b"\r\n\r\n"))[:-4])
    body = b""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        while await reader.readuntil(b"\r\n") != b"\r\n":
            pass
    elif status not in (204, 304):
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    if headers.get("connection", "").lower() == "close":
        writer.close()
        connection.clear()
    return Answer(status, headers, cookies, body)
