"""A gateway with all endpoints, the server behind it, and the requests that reach both."""

import base64
import contextlib
import dataclasses
import hashlib
import itertools
import os
import re
import socket
import subprocess
import time
import urllib.parse

from counting import Upstream
from searches.common import Failure, free_ports
from searches.http2_frames import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PREFACE, RESET, SETTINGS,
                                   frame, text)

SECRET = "0f7c2a9d5be84c1693d07ae2f85b6c41"
POLICY = """version: 1
gateway:
  origin: http://127.0.0.1:{main}
  listeners: [{{ address: "127.0.0.1:{main}" }}]
  admin: 127.0.0.1:{admin}
  workers: 1
  # Clients from here name another address in each request, so that no limit for an address hides a cost.
  trusted_proxies: [127.0.0.2]
  sealing_keys: {{ file: keys.json }}
  # A client that has sent its request ends its side, so that each connection ends after the response.
  half_close: serve
  access_log: {{ to: {{ file: /dev/null }} }}
  cors_origins: ["http://127.0.0.1:5151"]
  trace_context: continue
  request_ids: all
  store: {{ memory: 1GiB }}
  limits:
    body_timeout: 600s
    minimum_rate: off
    token_requests_per_client: off
    token_requests_per_address: off
    registrations_per_network: off
    registrations: off
upstream:
  url: http://127.0.0.1:{upstream}
  endpoints:
    authorization: /oauth/authorize
    token: /oauth/token
    revocation: /oauth/revoke
    introspection: /oauth/introspect
    pushed_authorization: /oauth/par
    metadata: /metadata
  affinity: SESSION
  upgrades: [websocket]
  early_hints: true
  forward_trailers: true
  parameters: [audience]
  response_parameters: [realmId]
enforcement: {{ mode: enforce, raw_refresh_until: never, pushed_authorization: optional }}
registration:
  scopes: [openid, read]
  redirects: {{ https: any, loopback: true, schemes: any }}
  upstream: {{ client_id: web, client_secret: {{ file: secret }} }}
clients:
  - id: app
    type: public
    application: native
    redirect_uris: ["http://127.0.0.1/callback"]
    consent: upstream
    response_modes: [query, fragment, form_post]
    upstream: {{ client_id: web, client_secret: {{ file: secret }} }}
  - id: asking
    type: public
    application: native
    redirect_uris: ["com.example.app:/callback"]
    upstream: {{ client_id: web, client_secret: {{ file: secret }} }}
  - {{ id: observed, type: public, application: native, redirect_uris: ["com.example.observed:/callback"], mode: observe }}
  - {{ id: television, type: public, application: device, upstream: {{ client_id: web, client_secret: {{ file: secret }} }} }}
  - {{ id: machine, type: confidential, application: web, grants: [client_credentials] }}
  - id: site
    type: confidential
    application: web
    redirect_uris: ["https://site.example/callback"]
    secret: {{ file: secret }}
    upstream: {{ client_id: web, client_secret: {{ file: secret }} }}
resources:
  - uri: https://api.example.com/mcp
    introspection: {{ id: api, secret: {{ file: secret }}, upstream: {{ client_id: api, client_secret: {{ file: secret }} }} }}
    check: 127.0.0.1:{check}
routes:
  - prefix: /routed
    request_headers: {{ set: {{ X-Set: a }}, remove: Accept-Encoding }}
    response_headers: {{ set: {{ Cache-Control: public }}, remove: [Server, X-Powered-By] }}
"""
PATIENCE = 60  # seconds for a response
IP_BIND_ADDRESS_NO_PORT = 24  # of Linux; Python 3.11 has no name for it
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
FORM = b"application/x-www-form-urlencoded"
REDIRECTS = {"app": "http://127.0.0.1:1/callback", "asking": "com.example.app:/callback",
             "observed": "com.example.observed:/callback",
             "site": "https://site.example/callback"}
FORM_AGE = 60  # seconds for which a sealed form of the gateway is used


@dataclasses.dataclass
class Request:
    """A request. `raw` replaces everything but the body; `chunks` is a body with the framing of chunks."""

    target: bytes = b"/x"
    method: bytes = b"GET"
    fields: tuple = ()
    body: bytes | None = None
    kind: bytes = FORM
    chunks: bytes | None = None
    raw: bytes | None = None
    # False if the gateway does not trust the address from which the request arrives.
    is_trusted: bool = True
    port: str = "main"
    # With HTTP/2, the sizes of DATA frames.
    piece: int = 16_384
    # The answer of the server: a function of the target; `None` for the usual one.
    answer: object = None


def answer(status, fields=b"", body=b"", reason=b"A"):
    head = b"HTTP/1.1 %d %s\r\n%sContent-Length: %d\r\n\r\n" % (status, reason, fields, len(body))
    return head + body


def query_of(target):
    return dict(urllib.parse.parse_qsl(target.partition("?")[2]))


def authorization(client, **changes):
    values = {"response_type": "code", "client_id": client, "redirect_uri": REDIRECTS[client], "state": "s",
              "code_challenge": CHALLENGE, "code_challenge_method": "S256"}
    return {name: value for name, value in (values | changes).items() if value is not None}


def encoded(values):
    return urllib.parse.urlencode(values).encode()


class Scene:
    """`start` starts a gateway: a function of a program, a folder, a policy and a port."""

    def __init__(self, start, program, folder, keys):
        folder.mkdir()
        self.answer, self.numbers, self.forms = None, itertools.count(1), {}
        self.ports = dict(zip(("main", "admin", "check"), free_ports(3)))
        (folder / "secret").write_text(SECRET)
        # The program itself makes the keys of clients that register; under valgrind, that would take long.
        subprocess.run([*keys, "keys", "generate", "--registration", "--file", str(folder / "keys.json")], check=True,
                       capture_output=True)
        self.folder, self.policy = folder, POLICY.format(upstream=Upstream(self.serve).port, **self.ports)
        self.started = start(program, folder, self.policy, self.ports["main"])
        self.gateway = getattr(self.started, "gateway", self.started)
        self.host = b"127.0.0.1:%d" % self.ports["main"]

    # --- The server

    def serve(self, target):
        if self.answer:
            return self.answer(target), True
        path = target.partition("?")[0]
        if path == "/oauth/authorize":
            return answer(302, b"Location: %s\r\n" % self.location(target)), False
        if path == "/oauth/token":
            return answer(200, b"Content-Type: application/json\r\n", b'{"access_token":"a","token_type":"bearer"}'), False
        if path == "/oauth/introspect":
            return answer(200, b"Content-Type: application/json\r\n", b'{"active":true}'), False
        return answer(200, b"", b"ok"), False

    def location(self, target):
        query = query_of(target)
        code = hashlib.sha256(repr(time.monotonic_ns()).encode()).hexdigest()[:24]
        address = query.get("redirect_uri", "/")
        return f"{address}?code={code}&state={query.get('state', '')}".encode()

    # --- Requests

    def send(self, request, version=1):
        """Sends a request. Returns the response as it arrives, which is empty if the connection ends without one."""
        self.answer = request.answer
        source = "127.0.0.2" if request.is_trusted and request.port == "main" else "127.0.0.1"
        data = self.http2(request) if version == 2 else self.http1(request)
        with socket.socket() as connection:
            connection.settimeout(PATIENCE)
            # The port is chosen by `connect`, which can use that of a connection that has just ended.
            connection.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
            connection.bind((source, 0))
            connection.connect(("127.0.0.1", self.ports[request.port]))
            try:
                connection.sendall(data)
                return self.read2(connection) if version == 2 else self.read1(connection)
            except TimeoutError:
                raise Failure(f"no response within {PATIENCE} seconds") from None
            except OSError:
                return b""  # The gateway has refused the request before it was complete.

    @staticmethod
    def read1(connection):
        connection.shutdown(socket.SHUT_WR)
        found = b""
        while piece := connection.recv(262_144):
            found += piece
        return found

    @staticmethod
    def read2(connection):
        """Returns the first frame of the response; the frames in front of it are dropped."""
        data, first = b"", b""
        while True:
            while len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[:3], "big"):
                size = 9 + int.from_bytes(data[:3], "big")
                kind, flags, one, data = data[3], data[4], data[:size], data[size:]
                if kind in (HEADERS, RESET, GOAWAY):
                    first = first or one
                if kind in (RESET, GOAWAY) or kind in (HEADERS, DATA) and flags & END_STREAM:
                    return first
            piece = connection.recv(262_144)
            if not piece:
                return first
            data += piece

    def lines(self, request):
        """The fields of a request that differ between requests, and those that it brings."""
        fields = [] if any(name.lower() == b"host" for name, _ in request.fields) else [(b"Host", self.host)]
        if request.is_trusted and request.port == "main":
            number = next(self.numbers)
            address = b"203.%d.%d.%d" % (number >> 16 & 255, number >> 8 & 255, number & 255)
            own = {name.lower() for name, _ in request.fields}
            fields += [pair for pair in ((b"X-Forwarded-For", address),
                                         (b"X-Forwarded-Proto", b"https")) if pair[0].lower() not in own]
        fields += request.fields
        if request.body is not None and not any(name.lower() == b"content-type" for name, _ in request.fields):
            fields.append((b"Content-Type", request.kind))
        return fields

    def http1(self, request):
        if request.raw is not None:
            head = request.raw
        else:
            fields = self.lines(request)
            if request.chunks is not None:
                fields.append((b"Transfer-Encoding", b"chunked"))
            elif request.body is not None:
                fields.append((b"Content-Length", b"%d" % len(request.body)))
            lines = b"".join(b"%s: %s\r\n" % pair for pair in fields)
            head = request.method + b" " + request.target + b" HTTP/1.1\r\n" + lines + b"\r\n"
        return head + (request.chunks or b"" if request.chunks is not None else request.body or b"")

    def http2(self, request):
        fields = self.lines(request)
        host = next((value for name, value in fields if name.lower() == b"host"), b"")
        pairs = [(b":method", request.method), (b":scheme", b"http"), (b":path", request.target), (b":authority", host)]
        pairs += [(name.lower(), value) for name, value in fields if name.lower() != b"host"]
        block = b"".join(b"\0" + text(name) + text(value) for name, value in pairs)
        data = PREFACE + frame(SETTINGS, 0, 0, b"") + frame(SETTINGS, ACK, 0, b"")
        pieces = [block[at:at + 16_384] for at in range(0, len(block), 16_384)]
        for number, piece in enumerate(pieces):
            flags = (END_HEADERS if number == len(pieces) - 1 else 0) | (END_STREAM if number == 0 and request.body is None else 0)
            data += frame(CONTINUATION if number else HEADERS, flags, 1, piece)
        body = request.body or b""
        if request.body is not None:
            cuts = range(0, max(1, len(body)), request.piece)
            data += b"".join(frame(DATA, END_STREAM if at == cuts[-1] else 0, 1, body[at:at + request.piece]) for at in cuts)
        return data

    # --- What some requests need

    def code(self):
        """Signs in to `app`. Returns its sealed code."""
        found = self.send(Request(b"/oauth/authorize?" + encoded(authorization("app"))))
        code = re.search(rb"[?&]code=([^&\r]+)", found)
        if not code:
            raise Failure("a sign-in got no code", repr(found[:500]))
        return code[1].decode()

    def form(self, request, name):
        """Returns the cookie and the sealed value of the gateway's form that this request shows."""
        made, *known = self.forms.get(name, (0,))
        if time.monotonic() - made > FORM_AGE:
            page = self.send(request)
            cookie = re.search(rb"(?i)\r\nset-cookie: ([^;\r]+)", page)
            value = re.search(rb'name="%s" value="([^"]+)"' % name, page)
            if not cookie or not value:
                raise Failure("a page has no form", repr(page[:500]))
            known = [cookie[1], value[1]]
            self.forms[name] = (time.monotonic(), *known)
        return known

    def consent_form(self):
        return self.form(Request(b"/oauth/authorize?" + encoded(authorization("asking"))), b"consent_token")

    def device_form(self):
        return self.form(Request(b"/device"), b"device_token")


    def forget_metadata(self):
        """Changes the path of the server's metadata document, so that the gateway reads it again."""
        path = f"/metadata-{next(self.numbers)}"
        (self.folder / "policy.yaml").write_text(self.policy.replace("metadata: /metadata\n", f"metadata: {path}\n"))
        found = self.send(Request(b"/reload", b"POST", body=b"", port="admin"))
        if not found.startswith(b"HTTP/1.1 200 "):
            raise Failure("the policy was not loaded again", repr(found[:500]))


class ProcessorTime:
    """The processor time of a process, in nanoseconds."""

    def __init__(self, process):
        self.folder, self.files, self.reads = f"/proc/{process}/task", {}, 0

    def read(self):
        if self.reads % 1_000 == 0:
            for task in set(os.listdir(self.folder)) - set(self.files):
                with contextlib.suppress(OSError):  # The thread has just ended.
                    self.files[task] = os.open(f"{self.folder}/{task}/schedstat", os.O_RDONLY)
        self.reads += 1
        total = 0
        for task, file in list(self.files.items()):
            try:
                total += int(os.pread(file, 64, 0).split()[0])
            except (OSError, IndexError):  # The thread has ended.
                os.close(self.files.pop(task))
        return total
