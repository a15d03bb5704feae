"""The requests of a client, and the results that it may see while one system call of the gateway fails."""

import base64
import hashlib
import http.client
import json
import pathlib
import re
import socket
import ssl
import sys
import urllib.parse

import upstream

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Bench"))

import http2  # noqa: E402

CLIENT = "com.example.app"
REDIRECT = "com.example.app:/cb"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636, appendix B
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
# Longer than all deadlines of the gateway, which the policy sets to 3 s, also on a busy machine. Only a hang takes so long.
PATIENCE = 60  # seconds


class Wrong(Exception):
    """A wrong or missing answer, which no fault excuses."""


class Broken(Exception):
    """A request that was refused or cut off, which a fault may cause."""


class Client:
    """Sequential requests. `broken` lists those that failed in a way that a fault excuses."""

    def __init__(self, gateway):
        self.gateway, self.broken = gateway, []

    def attempt(self, name, step, *arguments):
        """Returns the result of a step, or `None` if it broke."""
        try:
            return step(*arguments)
        except Broken as error:
            self.broken.append(f"{name}: {error}")
        return None

    def connect(self, isSecure=False):
        try:
            if not isSecure:
                return http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=PATIENCE)
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return http.client.HTTPSConnection("127.0.0.1", self.gateway.tls_port, timeout=PATIENCE, context=context)
        except OSError as error:
            raise Broken(str(error)) from error

    def exchange(self, connection, method, target, body=None, fields=None):
        fields = {"Host": f"127.0.0.1:{self.gateway.port}"} | (fields or {})
        try:
            connection.request(method, target, body, fields, encode_chunked=body is not None and not isinstance(body, bytes))
            response = connection.getresponse()
            content = response.read()
        except (TimeoutError, socket.timeout) as error:
            raise Wrong(f"{method} {target} has no answer after {PATIENCE} s") from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Broken(type(error).__name__) from error
        seen = content + str(response.headers).encode()
        if upstream.CODE.encode() in seen or upstream.REFRESH.encode() in seen:
            raise Wrong(f"{method} {target} shows a raw code or token")
        if response.status >= 500 or response.status in (408, 421, 429):
            connection.close()
            raise Broken(f"status {response.status}")
        return response, content

    def get(self, connection, target, method="GET"):
        response, content = self.exchange(connection, method, target)
        expected = b"" if method == "HEAD" else upstream.body_of(target)
        if response.status != 200 or content != expected:
            raise Wrong(f"{method} {target}: {response.status} with {len(content)} bytes instead of {len(expected)}")

    def post(self, connection, body, sent):
        response, content = self.exchange(connection, "POST", "/upload", sent, {"Content-Type": "text/plain"})
        if response.status != 200 or content != hashlib.sha256(body).hexdigest().encode():
            raise Wrong(f"POST /upload: {response.status}, and the server read another body")

    def passing(self, name, isSecure=False):
        """Sends requests that are forwarded, on one connection; after a broken one on a new connection."""
        connection = self.attempt(name, self.connect, isSecure)
        if connection is None:
            return
        small, large = b"abc" * 20, b"0123456789" * 6_000
        self.attempt(f"{name} GET", self.get, connection, "/a")
        self.attempt(f"{name} POST", self.post, connection, small, small)
        self.attempt(f"{name} HEAD", self.get, connection, "/b", "HEAD")
        self.attempt(f"{name} large POST", self.post, connection, large, large)
        self.attempt(f"{name} chunked POST", self.post, connection, large, iter([large[:20_000], large[20_000:]]))
        self.attempt(f"{name} large GET", self.get, connection, "/large")
        self.attempt(f"{name} GET until close", self.get, connection, "/close")
        connection.close()

    def over_http2(self):
        connection = None
        try:
            connection = http2.Connection(self.gateway.port, f"127.0.0.1:{self.gateway.port}", "/h2")
            connection.socket.settimeout(PATIENCE)
            for _ in range(2):
                connection.ask(2)
        except (TimeoutError, socket.timeout) as error:
            raise Wrong(f"HTTP/2 has no answer after {PATIENCE} s") from error
        except (OSError, RuntimeError) as error:
            raise Broken(str(error)) from error
        finally:
            if connection:
                connection.close()

    def authorize(self, connection):
        query = urllib.parse.urlencode({
            "response_type": "code", "client_id": CLIENT, "redirect_uri": REDIRECT, "state": "s-1",
            "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        })
        response, _ = self.exchange(connection, "GET", f"/oauth/authorize?{query}")
        location = response.getheader("Location", "")
        parameters = dict(urllib.parse.parse_qsl(location.partition("?")[2]))
        if response.status // 100 != 3 or not location.startswith(REDIRECT) or parameters.get("state") != "s-1":
            raise Wrong(f"an authorization request: {response.status}, Location {location!r}")
        if "error" in parameters:
            if parameters["error"] not in ("server_error", "temporarily_unavailable"):
                raise Wrong(f"an authorization request ends in {parameters['error']}")
            raise Broken(parameters["error"])
        return parameters["code"]

    def redeem(self, connection, code, verifier, kind="authorization_code"):
        form = {"grant_type": kind, "client_id": CLIENT}
        if kind == "authorization_code":
            form |= {"code": code, "code_verifier": verifier, "redirect_uri": REDIRECT}
        else:
            form["refresh_token"] = code
        response, content = self.exchange(
            connection, "POST", "/oauth/token", urllib.parse.urlencode(form).encode(),
            {"Content-Type": "application/x-www-form-urlencoded"})
        try:
            return response.status, json.loads(content)
        except ValueError as error:
            raise Wrong(f"the token endpoint answers {response.status} with {content[:80]!r}") from error

    def flow(self):
        """Runs a whole sign-in: a wrong verifier is refused, the right one redeems once, the refresh token works."""
        connection = self.attempt("login", self.connect)
        if connection is None or not (code := self.attempt("login", self.authorize, connection)):
            return
        before = self.gateway.upstream.token_requests
        wrong = self.attempt("wrong verifier", self.redeem, connection, code, VERIFIER[::-1])
        if wrong and wrong[0] != 400 or self.gateway.upstream.token_requests != before:
            raise Wrong(f"a wrong verifier: {wrong}, {self.gateway.upstream.token_requests - before} requests upstream")
        code = self.attempt("login", self.authorize, connection)
        first = code and self.attempt("redemption", self.redeem, connection, code, VERIFIER)
        if first and first[0] != 200:
            raise Wrong(f"the right verifier: {first}")
        second = first and self.attempt("second redemption", self.redeem, connection, code, VERIFIER)
        if second and second[0] != 400:
            raise Wrong(f"a second redemption: {second}")
        # A second use of a code revokes the tokens of the first use.
        code = first and self.attempt("login", self.authorize, connection)
        tokens = code and self.attempt("redemption", self.redeem, connection, code, VERIFIER)
        again = tokens and tokens[0] == 200 and self.attempt(
            "refresh", self.redeem, connection, tokens[1]["refresh_token"], None, "refresh_token")
        if again and again[0] != 200:
            raise Wrong(f"a refresh: {again}")
        connection.close()

    def admin(self):
        for target, statuses in (("/metrics", (200,)), ("/readyz", (200, 503)), ("/healthz", (200,))):
            connection = http.client.HTTPConnection("127.0.0.1", self.gateway.admin, timeout=PATIENCE)
            try:
                connection.request("GET", target)
                status = connection.getresponse().status
            except (TimeoutError, socket.timeout) as error:
                raise Wrong(f"admin {target} has no answer after {PATIENCE} s") from error
            except (OSError, http.client.HTTPException) as error:
                raise Broken(f"admin {target}: {type(error).__name__}") from error
            finally:
                connection.close()
            if status not in statuses:
                raise Broken(f"admin {target}: status {status}")

    def round(self):
        self.passing("plain")
        self.passing("TLS", isSecure=True)
        self.attempt("HTTP/2", self.over_http2)
        self.flow()
        self.attempt("admin", self.admin)


def said(text):
    """Returns true if standard error has an error message and no crash report of the Swift runtime."""
    return re.search(r"^(proofgate: |\S+:\d+:\d+: |\S+: )?error: |^proofgate: error: .+", text, re.M) is not None
