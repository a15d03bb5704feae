"""Hostile requests whose lines in the access log are read. One gateway writes JSON, another one the combined format.

Every secret begins with the same characters, so that one search finds all of them, cut or encoded ones too. Secrets are sent
only where the log promises to hide them (docs/operations.md, "Access log"). Each response has one line, with its status.
"""

import base64
import collections
import json
import random
import re
import socket
import time
import urllib.parse
import urllib.request

from .common import PATIENCE, Client, Failure, Gateway, Server, Time, free_ports, response, shown

COUNT, UNIT = 23_000, "requests"
CONNECTIONS, BATCH = 24, 256
POLICY = """version: 1
gateway:
  origin: http://127.0.0.1:{port}
  listeners: [{{ address: "127.0.0.1:{port}" }}]
  admin: 127.0.0.1:{admin}
  workers: 1
  # So that a client can also choose the address and the id of its request in the log.
  trusted_proxies: [127.0.0.1]
  # The clients close their sending side, and then read the responses.
  half_close: serve
  limits: {{ token_requests_per_address: off, token_requests_per_client: off, registrations_per_network: off }}
  access_log: {{ to: {{ file: {log} }}, format: {format} }}
upstream:
  url: http://127.0.0.1:{server}
  endpoints: {{ authorization: /authorize, token: /token, revocation: /revoke }}
clients:
  - {{ id: com.example.app, name: App, type: public, application: native, redirect_uris: ["com.example.app:/cb"], raw_refresh_until: never }}
"""
MEMBERS = {
    "v", "time", "event", "request", "trace", "peer", "listener", "protocol", "tls", "method", "host", "path", "query", "status",
    "reason", "bytes_in", "bytes_out", "duration_us", "upstream", "upstream_connect_us", "upstream_first_byte_us", "referer",
    "user_agent"}
TEXT = rb'"(?:[ !#-\[\]-~]|\\x[0-9A-Fa-f]{2})*"'
COMBINED = re.compile(
    rb"[!-~]+ - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\] " + TEXT + rb" (\d{3}) \d+ " + TEXT + b" " + TEXT)

NAMES = ["code", "state", "token", "access_token", "refresh_token", "id_token", "client_secret", "password", "assertion",
         "client_assertion", "code_verifier", "code_challenge", "request", "request_uri", "SAMLResponse", "RelayState", "nonce",
         "jsessionid", "api_key", "X-CSRF-Token", "user_code", "device_code", "login[password]", "user.password", "passwd", "sid",
         "ticket", "CODE", "otp", "sms_code", "passcode", "reset-code", "my_token", "session_state", "pwd"]
# Names that have no secret elsewhere; at an endpoint and in `Referer` their values are hidden too.
ANY_NAMES = ["login_hint", "x", "page", "Client_ID", "q", "user", "id", "data"]
ODD = [b"\x00", b"\x01", b"\x07", b"\x0b", b"\x1b[31m", b"\x7f", b"\n", b"\r", b"\r\n", b"\t", b'"', b"'", b"\\", b"\\n", b"\\x22",
       b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80\xae", b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xc2\x85",
       b"\xc2\x9b", b"\xef\xbb\xbf", b"\xf0\x9f\x92\xa5", b"\xe2\x80", b'"}', b'","event":"x"', b'" 200 0 "-" "-"', b"%0a", b"%0d%0a",
       b"%00", b"%", b"%zz", b"%u202e", b"\\u0000", b"${jndi:x}", b"<script>", b"]]>", b" ", b"#", b";", b"&", b"=", b"//", b"a" * 60]
# Bytes that a strict request may have in the value of a field, and in a target.
IN_FIELD = [each for each in ODD if not any(byte < 0x20 and byte != 9 or byte == 0x7F for byte in each)]
IN_TARGET = [b"%0a", b"%0d%0a", b"%00", b"%u202e", b"'", b"%22", b"%5c", b"%e2%80%ae", b"%ff", b"%zz", b"%", b";", b"a" * 60, b"\\x22", b"$"]


def mixed(r, parts, most=6):
    return b"".join(r.choice(parts) if r.random() < 0.6 else b"word%d" % r.randrange(99) for _ in range(r.randrange(1, most)))


class Maker:
    """Makes requests with secrets."""

    def __init__(self, r, broken):
        self.r, self.broken = r, broken
        self.sign = "zq" + "".join(r.choices("bcdfghjkmnpqrstvwx", k=10))

    def secret(self):
        """A secret; `check` finds it in a line."""
        return self.sign + "".join(self.r.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=16))

    def encoded(self, text, layers):
        r = self.r
        for layer in range(layers):
            share = r.choice((0, 0, 0.3, 1))
            text = "".join(
                f"%{byte:02{r.choice('xX')}}" if not chr(byte).isalnum() and (layer or chr(byte) not in "-._~") or r.random() < share
                else chr(byte) for byte in text.encode())
        return text

    def name(self):
        r = self.r
        name = r.choice(NAMES)
        if r.random() < 0.3:
            name = "".join(r.choice((each.upper(), each.lower())) for each in name)
        if r.random() < 0.3:
            for _ in range(r.randrange(1, 3)):
                name = "".join(f"%{ord(each):02x}" if each == "%" and r.random() < 0.9 or r.random() < 0.2 else each for each in name)
        return name if len(name) <= 64 else "code"

    def parameter(self, endpoint=False):
        """A parameter with a secret."""
        r, secret = self.r, self.secret()
        value = self.encoded(secret, r.choice((0, 0, 0, 1, 2)))
        if self.broken and r.random() < 0.02:
            return f"page={secret}"
        how = r.randrange(9 if endpoint else 8)
        if how < 3:
            return f"{self.name()}={value}"
        if how == 3:
            inner = f"/cb?x=1&{r.choice(NAMES)}={secret}&y=2"
            return f"{r.choice(('next', 'return_to', 'redirect_uri', 'url'))}={self.encoded(inner, r.choice((1, 1, 2, 3)))}"
        if how == 4:
            inner = r.choice(('{"%s":"%s"}', '{"a":1,"%s" : "%s"}', "{'a':{'%s':'%s'}}")) % (r.choice(NAMES), secret)
            return f"x={self.encoded(inner, r.choice((1, 2)))}"
        if how == 5:
            return f"{r.choice(ANY_NAMES)}={r.choice(('eyJ', '%65yJ', 'eyJhbGciOiJub25lIn0.eyJ'))}{value}"
        if how == 6:
            return f"x={self.encoded(f'https://user:{secret}@host.example/', r.choice((1, 2)))}"
        if how == 7:
            return f"x={r.choice(('https:', ''))}//u:{value}@h/"
        return f"{r.choice(ANY_NAMES)}={value}"

    def query(self, endpoint=False):
        r = self.r
        plain = ["page=2", "q=a+b", "x", "client_id=com.example.app", "response_type=code", "lang=de", "scope=openid", "=", "a=", ""]
        parts = [self.parameter(endpoint) for _ in range(r.randrange(1, 4))] + r.sample(plain, r.randrange(5))
        r.shuffle(parts)
        # `?` and `;` inside of other names and values are read in several ways, which is a part of the search.
        text = r.choice("&&&;").join(parts)
        if r.random() < 0.2:
            odd = mixed(r, IN_TARGET).decode("latin-1")
            text = r.choice((f"{text}&o={odd}", f"o={odd}&{text}"))
        if r.random() < 0.03:
            text = f"long={'l' * r.choice((4000, 4080, 4096, 5000, 7000))}&{text}"
        return text

    def target(self):
        r = self.r
        if r.random() < 0.35:
            path = r.choice(("/authorize", "/token", "/revoke", "/authorize", "/.proofgate/callback", "/.proofgate/consent"))
            endpoint = path in ("/authorize", "/token", "/revoke")
        else:
            endpoint = False
            path = r.choice(("/", "/page", "/a/b", "/login", "/%61", "/w" + "i" * r.choice((5, 5, 4000, 4100))))
            if r.random() < 0.3:
                path += f";{self.name()}={self.secret()}" + r.choice(("", "/x", ";v=1"))
            if r.random() < 0.2:
                path += "/" + mixed(r, [each for each in IN_TARGET if each not in (b"%", b"%zz")], 3).decode("latin-1")
        return path + ("?" + self.query(endpoint) if r.random() < 0.75 else "")

    def referer(self):
        r, secret = self.r, self.secret()
        base = r.choice(("https://app.example/page", "https://id.example/cb", "/cb", "view-source:https://a.example/"))
        how = r.randrange(5)
        if how == 0:
            return f"{base}?{r.choice(NAMES + ANY_NAMES)}={self.encoded(secret, r.randrange(3))}&b=1"
        if how == 1:
            return f"https://user:{secret}@app.example/a@b"
        if how == 2:
            return f"{base}#{r.choice(NAMES)}={secret}"
        if how == 3:
            return f"{base}?{self.query(True)}"
        return f"{base};jsessionid={secret}?x={secret}#y={secret}"

    def fields(self):
        """Fields of a strict request."""
        r = self.r
        # Without it, the gateway refuses OAuth requests of a trusted proxy.
        lines = [b"X-Forwarded-Proto: https"] if r.random() < 0.9 else []
        if r.random() < 0.5:
            lines.append(b"Referer: " + self.referer().encode())
        if r.random() < 0.6:
            agent = mixed(r, IN_FIELD, 9).strip() or b"-"
            lines.append(b"User-Agent: " + (agent if r.random() < 0.96 else agent * (r.choice((4000, 5000)) // len(agent))))
        if r.random() < 0.3:
            address = r.choice(("192.0.2.9", "2001:db8::1", "192.0.2.1, 198.51.100.7", "unknown", "_hidden", '"[2001:db8::1]:80"',
                                "1.2.3", "[::1", "a" * 300, "192.0.2.1:443", "127.0.0.1", ",,,", "::ffff:192.0.2.1"))
            lines.append(b"X-Forwarded-For: " + r.choice((address.encode(), mixed(r, IN_FIELD).strip() or b"-")))
        if r.random() < 0.2:
            lines.append(b"X-Request-ID: " + r.choice((b"abc-123", b"a" * 129, mixed(r, IN_FIELD).strip() or b"-")))
        if r.random() < 0.2:
            trace = r.choice((b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", b"00-" + mixed(r, IN_FIELD, 20), b"\xff" * 55,
                              b"00-" + b'"' * 32 + b"-b7ad6b7169203331-01"))
            lines.append(b"traceparent: " + (trace.strip() or b"-"))
        secret = self.secret()
        if r.random() < 0.3:
            pair = base64.b64encode(f"{r.choice(('com.example.app', 'u'))}:{secret}".encode()).decode()
            lines.append(f"Authorization: {r.choice((f'Basic {pair}', f'Bearer {secret}', secret))}".encode())
        if r.random() < 0.2:
            name = r.choice(("Cookie", "X-Api-Key", "X-Custom", "Proxy-Authorization", "Origin", "If-None-Match"))
            lines.append(f"{name}: {secret}".encode())
        if r.random() < 0.2:
            lines.append(b"Accept: " + r.choice((b"text/html", b"application/json", b"*/*")))
        r.shuffle(lines)
        return lines

    def strict(self, host):
        """A request that the gateway reads, and after which the connection goes on."""
        r = self.r
        method = r.choice((b"GET", b"GET", b"GET", b"POST", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"HEAD", b"PATCH", b"X-ODD!"))
        lines, body = [method + b" " + self.target().encode("latin-1") + b" HTTP/1.1", b"Host: " + host] + self.fields(), b""
        if method in (b"POST", b"PUT", b"PATCH"):
            body = self.query(True).encode("latin-1") if r.random() < 0.8 else mixed(r, ODD) + self.secret().encode()
            kind = r.choice((b"application/x-www-form-urlencoded",) * 2 + (b"application/json", b"text/plain"))
            lines += [b"Content-Type: " + kind, b"Content-Length: %d" % len(body)]
        data = b"\r\n".join(lines) + b"\r\n\r\n" + body
        # The response to a head that is too long has a body, also with this method.
        return data.replace(b"HEAD", b"GET", 1) if method == b"HEAD" and len(data) > 8000 else data

    def hostile(self, host):
        """A request after which the gateway may close the connection."""
        r = self.r
        method, target, version, lines = b"GET", self.target().encode("latin-1"), b"HTTP/1.1", [b"Host: " + host] + self.fields()
        for _ in range(r.randrange(1, 3)):
            how = r.randrange(12)
            if how == 0:
                method = r.choice((mixed(r, ODD), b"", b"M" * 5000, b"CONNECT", b"TRACE", b"GET\x00", b"G\xc3\xa9T"))
            elif how == 1:
                target = target.split(b"?")[0] + mixed(r, ODD)
            elif how == 2:
                target = r.choice((b"http://user:%s@h/" % self.secret().encode(), b"*", b"h:1", b"", b"/" * 9000,
                                   b"//" + host + b"/", b"/" + b"p" * 9000, b"http://" + host + target))
            elif how == 3:
                version = r.choice((b"HTTP/1.0", b"HTTP/2.0", b"HTTP/1.2", b"", mixed(r, ODD), b"HTTP/1.1 x"))
            elif how == 4:
                lines[0] = b"Host: " + r.choice((mixed(r, ODD), b"", b"a b", host + b"x", b"h" * 5000, b"[::1", b"evil.example"))
            elif how == 5:
                name = r.choice((b"Referer: ", b"User-Agent: ", b"X-Forwarded-For: ", b"X-Request-ID: ", b"A"))
                lines.insert(r.randrange(len(lines) + 1), name + mixed(r, ODD))
            elif how == 6:
                lines.append(r.choice((b"Bad Name: %s", b"A\x00: %s", b": %s", b" folded %s", b"%s", b"A: \x01%s", b"Content-Length: %s",
                                       b"Expect: %s", b"Transfer-Encoding: %s")) % self.secret().encode())
            elif how == 7:
                lines.append(b"A: " + b"v" * r.choice((4000, 16000, 20000)))
            elif how == 8:
                lines += [b"A: b"] * 101
            elif how == 9:
                lines.append(r.choice((b"Content-Length: 5", b"Content-Length: 99999999", b"Transfer-Encoding: chunked",
                                       b"Connection: close", b"Upgrade: h2c")))
            elif how == 10:
                lines.append(lines[r.randrange(len(lines))])
            else:
                lines.append(b"Authorization: Basic " + mixed(r, ODD) + self.secret().encode())
        data = method + b" " + target + b" " + version + b"\r\n" + b"\r\n".join(lines) + b"\r\n\r\n"
        return data[:r.randrange(1, len(data))] if r.random() < 0.05 else data

    def check(self, lines):
        """Fails if a line has a secret, as it is or in an encoding."""
        encoded = [base64.b64encode(("x" * shift + self.sign).encode())[4 if shift else 0:-4].rstrip(b"=") for shift in range(3)]
        for line in lines:
            text = line
            for _ in range(5):
                if self.sign.encode() in text.lower() or any(form in text for form in encoded):
                    raise Failure("a secret is in the log", f"the line: {shown(line)}")
                if b"%" not in text and b"\\" not in text:
                    break
                text = urllib.parse.unquote_to_bytes(text.replace(b"\\\\", b"\\"))


def unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member occurs twice")
    return members


def json_status(line):
    """Returns the status in a line of JSON, which must be well-formed."""
    try:
        text = line.decode("utf-8")
        found = json.loads(text, object_pairs_hook=unique)
    except ValueError as problem:
        raise Failure(f"a line that is no JSON: {problem}", f"the line: {shown(line)}") from None
    odd = [each for each in text if each < " " or "\x7f" <= each <= "\x9f" or each in "\u2028\u2029"]
    if odd or not isinstance(found, dict) or found.get("event") != "access" or found.get("v") != 1 or not set(found) <= MEMBERS:
        raise Failure("a line with control characters or other members", f"the line: {shown(line)}")
    if not all(isinstance(value, (str, int)) for value in found.values()):
        raise Failure("a line with a value that is neither text nor number", f"the line: {shown(line)}")
    return found["status"]


def combined_status(line):
    found = COMBINED.fullmatch(line)
    if not found:
        raise Failure("a line that is not in the combined format", f"the line: {shown(line)}")
    return int(found[1])


class Logged:
    """A gateway and its access log."""

    def __init__(self, program, folder, format, server, maker):
        self.maker, self.format, self.status = maker, format, json_status if format == "json" else combined_status
        folder.mkdir()
        self.file = folder / "access.log"
        port, self.admin = free_ports(2)
        policy = POLICY.format(port=port, admin=self.admin, server=server, log=self.file, format=format)
        self.gateway = Gateway(program, folder, policy, port)
        self.host, self.position = b"127.0.0.1:%d" % port, 0
        # The connections that ended before the last response, whose requests may still get a line with 499, and those that
        # were reset, of which the client may have missed a response.
        self.ended, self.resets = 1, 0

    def lines(self):
        """Returns the new lines that are complete."""
        with open(self.file, "rb") as log:
            log.seek(self.position)
            data = log.read()
        end = data.rfind(b"\n") + 1
        self.position += end
        return data[:end].split(b"\n")[:-1]

    def dropped(self):
        if self.gateway.process.poll() is not None:
            return "an unknown number"
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=PATIENCE) as answer:
            for line in answer.read().splitlines():
                if line.startswith(b"proofgate_access_log_lines_dropped_total "):
                    return int(float(line.split()[-1]))
        raise Failure("there is no count of dropped lines")

    def send(self, sequences):
        """Sends each sequence of requests on a connection of its own, and those that follow the end of a connection on
        another one. Returns the statuses of all responses."""
        statuses = []
        while sequences:
            held, left = [], []
            for sequence in sequences:
                client = Client(self.gateway.port)
                held.append(client)
                try:
                    client.socket.sendall(b"".join(sequence))
                    client.socket.shutdown(socket.SHUT_WR)
                except OSError:
                    pass  # The gateway has refused an earlier request.
            for client, sequence in zip(held, sequences):
                answered = 0
                try:
                    while found := client.read(answered >= len(sequence) or not sequence[answered].startswith(b"HEAD ")):
                        answered += 1
                        statuses.append(found[0])
                except ConnectionResetError:
                    self.resets += 1
                except TimeoutError:
                    raise Failure("a connection got no response and no end", *map(shown, sequence)) from None
                finally:
                    client.close()
                self.ended += answered < len(sequence)
                if answered + (answered == 0) < len(sequence):
                    left.append(sequence[max(1, answered):])
            sequences = left
        return statuses

    def attempt(self, sequences):
        """Sends the requests and checks their lines. Returns the number of responses."""
        statuses = self.send(sequences)
        if sequences:
            self.gateway.check()
        lines, wanted, deadline = [], collections.Counter(statuses), time.monotonic() + 10
        while True:
            lines += self.lines()
            found = collections.Counter(map(self.status, lines))
            missing, surplus = wanted - found, found - wanted
            if not missing or time.monotonic() > deadline:
                break
            time.sleep(0.005)
        self.maker.check(lines)
        lost = sum(surplus.values()) - surplus[499]
        if missing or surplus[499] > self.ended or lost > self.resets:
            raise Failure(f"{len(statuses)} responses have {len(lines)} lines ({self.dropped()} were dropped); "
                          f"missing by status: {dict(missing)}, surplus: {dict(surplus)}")
        self.ended, self.resets = self.ended - surplus[499], self.resets - lost
        return len(statuses)


def blame(logged, start, sequences, problem):
    """Returns the failure of the first request that fails alone, or of the whole batch. `start` starts another gateway."""
    time.sleep(0.5)
    host = logged.host
    if logged.gateway.process.poll() is not None:
        problem = Failure(f"the process ended with {logged.gateway.process.returncode}:\n{logged.gateway.last_messages()}")
        logged = start()
    logged.lines()
    for sequence in sequences:
        for request in sequence:
            try:
                logged.attempt([[request.replace(host, logged.host)]])
            except (Failure, OSError) as alone:
                return Failure(f"{problem}\n{alone}", f"the request: {shown(request)}", *getattr(alone, "evidence", ()))
    return Failure(f"{problem}; no request of the batch fails alone", *getattr(problem, "evidence", ()),
                   *(f"a connection: {shown(b''.join(sequence))}" for sequence in sequences))


def run(program, folder, seed, count, broken):
    r = random.Random(seed)
    server, logs = Server(lambda method, *_: (response(200, b"" if method == b"HEAD" else b"ok"), None)), []
    maker = Maker(r, broken)
    try:
        def start(name, format):
            logs.append(Logged(program, folder / name, format, server.port, maker))
            return logs[-1]

        for format in ("json", "combined"):
            start(format, format)
        sent, answered, batches, limit = 0, 0, 0, Time(count)
        while sent < count:
            limit.check()
            logged, sequences = logs[batches % 2], []
            batches += 1
            size = min(BATCH, count - sent)
            while size > 0:
                length = min(size, r.choice((1, 1, 2, 8, 20)))
                sequence = [maker.strict(logged.host) for _ in range(length)]
                if r.random() < 0.7:
                    sequence[-1] = maker.hostile(logged.host)
                sequences.append(sequence)
                size -= length
                sent += length
            for first in range(0, len(sequences), CONNECTIONS):
                part = sequences[first:first + CONNECTIONS]
                try:
                    answered += logged.attempt(part)
                except (Failure, OSError) as problem:
                    raise blame(logged, lambda: start("again", logged.format), part, problem) from None
        if answered < sent // 2:
            raise Failure(f"only {answered} of {sent} requests got a response, so the search shows little")
        server.state()
        for logged in logs:
            logged.gateway.stop()
            logged.attempt([])
            if logged.position != logged.file.stat().st_size:
                raise Failure("the log ends in the middle of a line")
        return f"{sent} requests, {answered} responses with a line each, {batches} batches"
    finally:
        for logged in logs:
            logged.gateway.kill()
        server.end()
