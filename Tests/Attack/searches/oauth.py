"""Random OAuth requests of an attacker, between the sign-ins of honest users of several apps.

The attacker has an account, an app, and codes, tokens and device codes of its own. Of other users it knows their
authorization requests, the sealed codes and states, their user codes, the refresh tokens of an app with a secret, and all
other refresh tokens and device codes as long as it does not send them whole for their own app, because they are bearer
tokens there. It knows no verifier, no secret of an app and no cookie of another user. The tokens of the server name their user,
so that a response shows to whom its tokens belong.
"""

import base64
import collections
import hashlib
import json
import random
import re
import sys
import time
import types
from urllib.parse import parse_qs, quote, unquote, urlencode, urljoin, urlsplit

from .common import ROOT, Client, Failure, Gateway, Server, Time, free_ports, response, shown

sys.path.insert(0, str(ROOT / "Tests" / "Bench"))
from browser import Failure as NoForm, filled  # noqa: E402

COUNT, UNIT = 209_000, "requests of the attacker"
CONNECTIONS, DEPTH = 8, 32  # connections, and requests at a time on each
KEPT = 48  # values of each kind that the attacker remembers, and codes that users redeem at the end
AGE = 240  # seconds after which the search does not expect that an unused code can still be redeemed
SECRET, APP_SECRET = "Zq7-secret-of-the-server-4f0b7d1c", "Zq7-secret-of-gamma-93ab5f0e7712"
POLICY = """version: 1
gateway:
  origin: http://127.0.0.1:{port}
  listeners: [{{ address: "127.0.0.1:{port}" }}]
  admin: 127.0.0.1:{admin}
  workers: 1
  # Each user has an address of its own, so that the limits for the attacker's guesses do not concern the others.
  trusted_proxies: [127.0.0.1]
  store: {{ memory: 1GiB }}
  limits: {{ token_requests_per_client: off, token_requests_per_address: off, requests_per_connection: 1000000000 }}
upstream:
  url: http://127.0.0.1:{server}
  endpoints: {{ authorization: /authorize, token: /token, revocation: /revoke, pushed_authorization: /par }}
  pass: [/login]
  completion_paths: [/login]
enforcement: {{ mode: enforce, code_lifetime: 10m, pushed_authorization: optional, raw_refresh_until: never }}
clients:
  - {{ id: com.example.alpha, type: public, application: native, redirect_uris: ["com.example.alpha:/cb"], consent: upstream,
      upstream: *u }}
  - {{ id: com.example.beta, type: public, application: native, redirect_uris: ["http://127.0.0.1/cb"], upstream: *u }}
  - id: gamma
    type: confidential
    application: web
    redirect_uris: ["https://gamma.example/cb"]
    secret: {{ file: app-secret }}
    consent: upstream
    upstream: *u
  - {{ id: com.mallory.app, type: public, application: native, redirect_uris: ["com.mallory.app:/cb"], consent: upstream,
      upstream: *u }}
  - {{ id: com.example.tv, type: public, application: device, upstream: *u }}
"""
UPSTREAM = "{ client_id: legacy-web, client_secret: { file: secret } }"
# With --broken. This app sends no challenge, so a code alone is enough to get its user's tokens.
WEAK = """  - id: weak
    type: public
    application: browser
    pkce: optional
    redirect_uris: ["https://weak.example/cb"]
    consent: upstream
    upstream: {{ client_id: legacy-weak, redirect_uri: callback }}
"""
REDIRECTS = {
    "com.example.alpha": "com.example.alpha:/cb", "com.example.beta": "http://127.0.0.1:5151/cb", "gamma": "https://gamma.example/cb",
    "com.mallory.app": "com.mallory.app:/cb", "weak": "https://weak.example/cb"}
OWN, TV = "com.mallory.app", "com.example.tv"
NAMES = ["code", "state", "client_id", "redirect_uri", "code_verifier", "client_secret", "scope", "request_uri", "refresh_token",
         "device_code", "user_code", "response_type", "grant_type", "code_challenge", "code_challenge_method", "prompt"]
USERS = [f"victim{number}" for number in range(6)]
MALLORY = "mallory"
# A token or code of the server, in any response: `acc_victim1_...`, `ref_...`, `raw_...`.
ISSUED = re.compile(rb"(acc|ref|raw)_([a-z]+\d*)_")
ALLOWED = re.compile(
    r"(?:com\.example\.alpha:/cb|http://127\.0\.0\.1:\d{1,5}/cb|https://(?:gamma|weak)\.example/cb|com\.mallory\.app:/cb)(?:[?#]|$)")


def challenge(verifier):
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


# --- The legacy server

class Legacy:
    """A correct authorization server without PKCE. Its client is the gateway, and `legacy-weak` has no secret."""

    def __init__(self, seed, port):
        self.r, self.callback = random.Random(seed), f"http://127.0.0.1:{port}/.proofgate/callback"
        self.codes, self.tokens = {}, {}
        self.basic = "Basic " + base64.b64encode(f"legacy-web:{quote(SECRET)}".encode()).decode()

    def new(self, kind, user):
        return f"{kind}_{user}_{self.r.randbytes(12).hex()}"

    def answer(self, method, target, fields, body):
        parts = urlsplit(target.decode("latin-1"))
        form = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if method == b"POST":
            form.update({name: values[0] for name, values in parse_qs(body.decode("latin-1")).items()})
        text = fields.get(b"cookie", b"").decode("latin-1")
        user = next((pair[5:] for pair in re.split("; *", text) if pair.startswith("user=")), None)
        return getattr(self, parts.path.strip("/") or "other", self.other)(method, form, fields, user), None

    def other(self, *_):
        return response(404)

    def authorize(self, method, form, fields, user):
        known = form.get("client_id") in ("legacy-web", "legacy-weak") and form.get("redirect_uri") == self.callback
        if not known or form.get("response_type") != "code":
            return response(400, b"unknown client")
        if not user:
            return response(302, b"", f"Location: /login?{urlencode({'state': form.get('state', '')})}\r\n".encode())
        return self.approve(form.get("state", ""), user)

    def login(self, method, form, fields, user):
        if method != b"POST" or not form.get("user"):
            state = quote(form.get("state", ""))
            page = f'<form method="post" action="/login"><input type="hidden" name="state" value="{state}">'
            page += '<input name="user"><button>Sign in</button></form>'
            return response(200, page.encode(), b"", b"text/html")
        return self.approve(form.get("state", ""), form["user"])

    def approve(self, state, user):
        if user not in USERS + [MALLORY]:
            return response(403)
        code = self.new("raw", user)
        self.codes[code] = user
        return response(302, b"", f"Location: {self.callback}?{urlencode({'code': code, 'state': state})}\r\n".encode())

    def token(self, method, form, fields, user):
        def refuse(status, error):
            return response(status, json.dumps({"error": error}).encode(), b"", b"application/json")

        if fields.get(b"authorization", b"").decode("latin-1") != self.basic and form.get("client_id") != "legacy-weak":
            return refuse(401, "invalid_client")
        if form.get("grant_type") == "authorization_code":
            user = self.codes.pop(form.get("code"), None)
            if form.get("redirect_uri") != self.callback:
                user = None
        elif form.get("grant_type") == "refresh_token":
            user = self.tokens.pop(form.get("refresh_token"), None)
        else:
            return refuse(400, "unsupported_grant_type")
        if user is None:
            return refuse(400, "invalid_grant")
        refresh = self.new("ref", user)
        self.tokens[refresh] = user
        members = {"access_token": self.new("acc", user), "token_type": "Bearer", "expires_in": 600, "refresh_token": refresh}
        return response(200, json.dumps(members).encode(), b"Cache-Control: no-store\r\n", b"application/json")

    def revoke(self, method, form, fields, user):
        self.tokens.pop(form.get("token"), None)
        return response(200)


# --- Requests

def request(method, target, port, address, cookies=None, form=None, more=()):
    lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"X-Forwarded-For: {address}", "X-Forwarded-Proto: https", *more]
    if cookies:
        lines.append("Cookie: " + "; ".join(f"{name}={value}" for name, value in cookies.items()))
    body = b""
    if form is not None:
        body = (form if isinstance(form, str) else urlencode(form)).encode("utf-8", "replace")
        lines += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + body


def field(head, name):
    found = re.search(rb"(?i)\r\n" + name + rb": *([^\r]*)", head)
    return found[1].decode("latin-1") if found else None


def check_response(data, head, body, base, user=None):
    """Fails if a response has a code or token of the server that its receiver must not get, or leads to an address that is
    not registered. Without `user`, the receiver is the attacker."""
    for kind, name in ISSUED.findall(unquote_all(head)) + ISSUED.findall(body):
        owner = name.decode()
        if kind in (b"raw", b"ref") or owner != (user or MALLORY):
            raise Failure(f"{user or 'the attacker'} gets `{kind.decode()}_{owner}_...` of the server",
                          f"the request: {shown(data)}", f"the response: {shown(head)} {shown(body)}")
    location = field(head, b"location")
    if location is not None and not (
            ALLOWED.match(location) or location.startswith(base + "/") or location.startswith("/") and location[1:2] not in ("/", "\\")):
        raise Failure("a redirect to an address that is not registered", f"the request: {shown(data)}", f"the response: {shown(head)}")
    return location


def unquote_all(head):
    return unquote(unquote(head.decode("latin-1"))).encode() if b"%" in head else head


class Flow:
    """One sign-in: the values of its app, and those that the gateway gave it."""

    def __init__(self, r, user, app):
        self.user, self.app, self.redirect = user, app, REDIRECTS.get(app)
        self.verifier = "".join(r.choices("ABCDEFGHabcdefgh0123456789-._~", k=r.randrange(43, 80)))
        if app == "weak" and user != MALLORY:
            self.verifier = None
        self.challenge = challenge(self.verifier) if self.verifier else None
        self.state = "state-" + r.randbytes(8).hex()
        self.code = self.refresh = self.sealed_state = self.request_uri = self.device_code = self.user_code = None
        self.began = time.monotonic()

    def authorization(self):
        query = {"response_type": "code", "client_id": self.app, "redirect_uri": self.redirect, "state": self.state}
        if self.challenge:
            query |= {"code_challenge": self.challenge, "code_challenge_method": "S256"}
        return query


class Person:
    """An honest user with a browser and apps. The attacker is one, too, as far as it signs in to its own account."""

    def __init__(self, scene, user, address):
        self.scene, self.user, self.address = scene, user, address
        self.cookies = {}

    def ask(self, method, target, form=None, cookies=True, more=()):
        scene = self.scene
        data = request(method, target, scene.port, self.address, self.cookies if cookies else None, form, more)
        for attempt in (1, 2):
            try:
                scene.own.socket.sendall(data)
                found = scene.own.read()
                if found:
                    break
            except OSError:
                pass
            scene.own.close()
            scene.own = Client(scene.port)
        else:
            raise Failure("no response", shown(data))
        status, head, body = found
        if b"onnection: close" in head:
            scene.own.close()
            scene.own = Client(scene.port)
        for pair in re.findall(rb"(?i)\r\nset-cookie: ([^=;\r]+)=([^;\r]*)", head):
            self.cookies[pair[0].decode()] = pair[1].decode()
        self.last = data
        return status, head, body, check_response(data, head, body, scene.base, self.user)

    def fail(self, why, found):
        raise Failure(f"{self.user}: {why}", f"the request: {shown(self.last)}", f"the response: {found[0]} {shown(found[2], 1500)}")

    def browse(self, url, flow):
        """Goes through all pages until a redirect to the app, or a page without a form. Returns the query for the app."""
        method, form = "GET", None
        for _ in range(12):
            parts = urlsplit(url)
            found = self.ask(method, parts.path + ("?" + parts.query if parts.query else ""), form,
                             more=[f"Origin: {self.scene.base}"] if method == "POST" else [])
            status, head, body, location = found
            if status in (302, 303) and location:
                if flow.redirect and location.startswith(flow.redirect):
                    return parse_qs(urlsplit(location).query)
                url, method, form = urljoin(url, location), "GET", None
                if "/login?" in url:
                    flow.sealed_state = parse_qs(urlsplit(url).query)["state"][0]
                continue
            if status != 200:
                self.fail("a sign-in fails", found)
            try:
                how, action, form = filled(body.decode(), types.SimpleNamespace(username=self.user, password="x"))
            except NoForm:
                return {}
            form = [(name, flow.user_code if name == "user_code" else value) for name, value in form]
            url, method = urljoin(url, action) if action else url, "POST"
        self.fail("a sign-in does not end", found)

    def sign_in(self, app):
        """Signs in to an app, up to the code."""
        r = self.scene.r
        flow = Flow(r, self.user, app)
        if r.random() < 0.6:
            self.cookies["user"] = self.user
        else:
            self.cookies.pop("user", None)
        query = flow.authorization()
        if app != "weak" and r.random() < 0.2:
            more = self.authentication(app)
            found = self.ask("POST", "/par", query, cookies=False, more=more)
            if found[0] != 201:
                self.fail("a pushed request is refused", found)
            flow.request_uri = json.loads(found[2])["request_uri"]
            query = {"client_id": app, "request_uri": flow.request_uri}
        result = self.browse(f"{self.scene.base}/authorize?{urlencode(query)}", flow)
        if result.get("state") != [flow.state] or "code" not in result:
            raise Failure(f"{self.user}: the app got {result} in place of a code", f"the request: {shown(self.last)}")
        flow.code = result["code"][0]
        return flow

    def authentication(self, app):
        if app != "gamma":
            return []
        return ["Authorization: Basic " + base64.b64encode(f"gamma:{APP_SECRET}".encode()).decode()]

    def tokens(self, flow, form):
        found = self.ask("POST", "/token", form, cookies=False, more=self.authentication(flow.app))
        if found[0] != 200:
            self.fail(f"no tokens for {form['grant_type']}", found)
        members = json.loads(found[2])
        if not members["access_token"].startswith(f"acc_{self.user}_"):
            self.fail("the token of another user", found)
        flow.refresh = members.get("refresh_token")

    def redeem(self, flow):
        form = {"grant_type": "authorization_code", "code": flow.code, "redirect_uri": flow.redirect, "client_id": flow.app}
        if flow.verifier:
            form["code_verifier"] = flow.verifier
        self.tokens(flow, form)

    def renew(self, flow):
        self.tokens(flow, {"grant_type": "refresh_token", "refresh_token": flow.refresh, "client_id": flow.app})

    def start_device(self):
        flow = Flow(self.scene.r, self.user, TV)
        found = self.ask("POST", "/device_authorization", {"client_id": TV}, cookies=False)
        if found[0] != 200:
            self.fail("no device code", found)
        members = json.loads(found[2])
        flow.device_code, flow.user_code = members["device_code"], members["user_code"]
        return flow

    def use_device(self):
        """Signs in at a device, with all pages, up to the tokens."""
        flow = self.start_device()
        self.cookies["user"] = self.user
        self.browse(f"{self.scene.base}/device", flow)
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": flow.device_code, "client_id": TV}
        self.tokens(flow, form)
        return flow


# --- The attacker

class Attacker:
    def __init__(self, scene):
        self.scene, self.r = scene, scene.r
        kept = lambda: collections.deque(maxlen=KEPT)  # noqa: E731
        self.flows, self.own = kept(), kept()  # of others, and of its own account
        # Values that get tokens of others where their app is named: the value and that app.
        self.bearers = kept()
        self.found = {name: kept() for name in ("code", "state", "request_uri", "device_code", "user_code", "refresh_token", "form")}
        self.verifiers = {}  # of its own challenges
        self.tally = collections.Counter()

    def learn(self, flow):
        """Remembers what leaks of a sign-in of another user."""
        self.flows.append(flow)
        for value in (flow.refresh, flow.device_code):
            if value:
                self.bearers.append((value, flow.app))

    def some(self, name):
        """Returns a value for this parameter: of another user, of its own, or random."""
        r = self.r
        flow = r.choice(self.flows) if self.flows and r.random() < 0.65 else r.choice(self.own) if self.own else None
        if name in self.found and self.found[name] and r.random() < 0.25:
            return r.choice(self.found[name])
        value = None
        if flow:
            value = {
                "code": flow.code, "state": r.choice((flow.state, flow.sealed_state)), "client_id": flow.app,
                "redirect_uri": flow.redirect, "code_challenge": flow.challenge, "user_code": flow.user_code,
                "request_uri": flow.request_uri if flow.user == MALLORY or flow.code else None,
                "code_verifier": flow.verifier if flow.user == MALLORY else flow.challenge,
                "refresh_token": flow.refresh if flow.user == MALLORY or flow.app == "gamma" else None,
                "device_code": flow.device_code if flow.user == MALLORY else None}.get(name)
        if value is None and name in ("refresh_token", "device_code", "token") and self.bearers:
            value = r.choice(self.bearers)[0]
        return value or self.random(name)

    def random(self, name):
        r = self.r
        return {
            "response_type": lambda: r.choice(("code", "code", "code", "token", "code id_token", "", "CODE")),
            "grant_type": lambda: r.choice(("authorization_code", "refresh_token", "password", "client_credentials", "",
                                            "urn:ietf:params:oauth:grant-type:device_code")),
            "client_id": lambda: r.choice((OWN, TV, *REDIRECTS, "legacy-web", "")),
            "client_secret": lambda: r.choice(("guess", "", SECRET[:9])), "scope": lambda: r.choice(("openid", "read write", "", "*")),
            "redirect_uri": lambda: r.choice((
                *REDIRECTS.values(), "https://evil.example/cb", "com.example.alpha:/cb/../x", "http://127.0.0.1:81/cb",
                "http://127.0.0.1.evil.example/cb", "https://gamma.example/cb?x=1", "https://gamma.example@evil.example/cb",
                "http://localhost/cb", "com.example.alpha:/CB", "//evil.example", f"{self.scene.base}/.proofgate/callback",
                "https://gamma.example/cb#f", "javascript:alert(1)", "http://127.0.0.1:99999/cb")),
            "code_challenge_method": lambda: r.choice(("S256", "S256", "plain", "", "s256")),
            "response_mode": lambda: r.choice(("query", "fragment", "form_post", "")),
            "prompt": lambda: r.choice(("none", "login", "consent", "")),
            "code_verifier": lambda: "".join(r.choices("abcXYZ019-._~", k=r.choice((42, 43, 43, 64, 128, 129)))),
            "code_challenge": lambda: r.choice((challenge(r.randbytes(4).hex()), "x" * 43, "")),
            "user_code": lambda: "-".join("".join(r.choices("BCDFGHJKLMNPQRSTVWXZ", k=4)) for _ in range(2)),
            "state": lambda: r.choice(("", "x", r.randbytes(9).hex(), "s" * 900)),
        }.get(name, lambda: r.choice(("", "x", r.randbytes(12).hex(), base64.urlsafe_b64encode(r.randbytes(90)).decode())))()

    def changed(self, value):
        """Returns the value cut, extended, joined with another one, or with another byte."""
        r, how = self.r, self.r.randrange(8)
        if not value:
            return "x"
        at = r.randrange(len(value))
        if how == 0:
            return value[:at]
        if how == 1:
            return value + r.choice(("=", " ", "A", "\0", "%00", "&code=x", "\n"))
        if how == 2:
            other = self.some(r.choice(("code", "state", "refresh_token", "device_code")))
            return value[:at] + other[at:]
        if how == 3:
            return value[:at] + r.choice("AZaz09-_.+/=") + value[at + 1:]
        if how == 4:
            return value.swapcase()
        if how == 5:
            return value[at:] + value[:at]
        if how == 6:
            return value + value
        return value[:at] + value[at + 1:]

    def whole_flow(self):
        """One flow whose values fit together: mostly of another user."""
        r = self.r
        others = self.flows and r.random() < 0.7
        return r.choice(self.flows) if others else r.choice(self.own) if self.own else None

    def pairs(self, kind):
        """The parameters of one kind of request in its full form."""
        r, flow = self.r, self.whole_flow()
        app = flow.app if flow and r.random() < 0.7 else r.choice((OWN, *REDIRECTS, TV))
        redirect = REDIRECTS.get(app, REDIRECTS[OWN]) if r.random() < 0.8 else self.random("redirect_uri")
        own = r.choice(self.own) if self.own else None
        if kind in ("authorization", "par"):
            verifier = r.choice((own.verifier if own else None, None)) or self.random("code_verifier")
            if len(self.verifiers) > 4000:
                self.verifiers.clear()
            self.verifiers[challenge(verifier)] = verifier
            values = {"response_type": "code", "client_id": app, "redirect_uri": redirect, "state": self.some("state"),
                      "code_challenge": challenge(verifier), "code_challenge_method": "S256"}
            if r.random() < 0.1:
                values["code_challenge"] = self.some("code_challenge")
            if kind == "authorization" and r.random() < 0.1:
                values = {"client_id": app, "request_uri": self.some("request_uri")}
            for name in ("scope", "response_mode", "prompt"):
                if r.random() < 0.1:
                    values[name] = self.random(name)
            return values
        if kind == "code":
            values = {"grant_type": "authorization_code", "code": self.some("code"), "redirect_uri": redirect, "client_id": app,
                      "code_verifier": self.some("code_verifier")}
            if flow and flow.code and r.random() < 0.7:
                values |= {"code": flow.code, "redirect_uri": flow.redirect, "client_id": flow.app}
                if flow.user == MALLORY:
                    values["code_verifier"] = flow.verifier
            if r.random() < 0.15:
                del values["code_verifier"]
            return values
        if kind == "refresh":
            return {"grant_type": "refresh_token", "refresh_token": self.some("refresh_token"), "client_id": app}
        if kind == "poll":
            return {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": self.some("device_code"),
                    "client_id": r.choice((TV, TV, app))}
        if kind == "revoke":
            return {"token": self.some(r.choice(("refresh_token", "refresh_token", "code", "device_code"))), "client_id": app}
        if kind == "device":
            return {"client_id": r.choice((TV, TV, app))}
        if kind == "callback":
            return {"code": self.some("code"), "state": self.some("state")}
        if kind == "login":
            return {"user": MALLORY, "state": self.some("state")}
        form = dict(r.choice(self.found["form"])) if self.found["form"] else {}
        if kind == "verify":
            return form | {"user_code": self.some("user_code")}
        return form | ({"decision": r.choice(("allow", "deny", "approve", "proceed"))} if r.random() < 0.5 else {})

    KINDS = {
        "authorization": ("/authorize", 26), "par": ("/par", 8), "code": ("/token", 32), "refresh": ("/token", 10), "poll": ("/token", 6),
        "revoke": ("/revoke", 4), "device": ("/device_authorization", 2), "callback": ("/.proofgate/callback", 4), "login": ("/login", 3),
        "verify": ("/device", 3), "consent": ("/.proofgate/consent", 3)}

    def one(self):
        """Returns a request and the values that belong to it."""
        r = self.r
        kind = r.choices(list(self.KINDS), [weight for _, weight in self.KINDS.values()])[0]
        path, pairs = self.KINDS[kind][0], list(self.pairs(kind).items())
        self.tally[kind] += 1
        for _ in range(r.choice((0, 0, 1, 1, 2, 4))):
            at, how = r.randrange(len(pairs) + 1), r.randrange(7)
            if how == 0:
                name = r.choice(NAMES)
                pairs.insert(at, (name, self.some(name)))
            elif at < len(pairs):
                name, value = pairs[at]
                if how == 1:
                    pairs[at] = name, self.changed(value)
                elif how == 2:
                    pairs[at] = name, self.some(name)
                elif how == 3:
                    other = r.choice(("code", "state", "refresh_token", "device_code", "request_uri", "code_challenge"))
                    pairs[at] = name, self.some(other)
                elif how == 4:
                    del pairs[at]
                elif how == 5:
                    pairs[at] = r.choice((name.upper(), name + "[]", " " + name, name.replace("_", "-"))), value
                else:
                    pairs[at] = name, self.random(name)
        if r.random() < 0.04:
            path = r.choice(("/authorize", "/token", "/par", "/revoke", "/device", "/.proofgate/callback", "/.proofgate/start",
                             "/login", "/Token", "/token/", "//token", "/%74oken", "/authorize;x", "/.proofgate/consent",
                             "/device_authorization"))
        more, named = [], {value for name, value in pairs if "client" in name.lower()}
        if r.random() < 0.06:
            app = r.choice(("gamma", OWN, "com.example.alpha", "legacy-web"))
            named.add(app)
            more.append("Authorization: Basic " + base64.b64encode(f"{app}:{r.choice(('', 'x', 'guess'))}".encode()).decode())
        # Such a value may get tokens where its own app is named, because it is a bearer token.
        usable = [value for value, app in self.bearers if app != "gamma" and app in named]
        for value in usable:
            pairs = [(name, self.changed(value) if text == value else text) for name, text in pairs]
        # The change may have made another one.
        for value in usable:
            pairs = [(name, "x" if value in text else text) for name, text in pairs]
        is_post = kind not in ("authorization", "callback")
        if r.random() < 0.05:
            is_post = not is_post
        encoded = urlencode(pairs)
        query, form = ("", encoded) if is_post else (encoded, None)
        if is_post and r.random() < 0.03:
            cut = r.randrange(len(pairs) + 1)
            query, form = urlencode(pairs[:cut]), urlencode(pairs[cut:])
        if kind in ("consent", "verify", "login"):
            more.append(f"Origin: {self.scene.base}")
        cookies = dict(self.scene.mallory.cookies)
        if r.random() < 0.2:
            cookies.pop("user", None)
        else:
            cookies["user"] = MALLORY
        if r.random() < 0.1:
            cookies = {}
        address = f"203.{r.randrange(256)}.{r.randrange(256)}.{r.randrange(1, 255)}"
        target = path + ("?" + query if query else "")
        return request("POST" if is_post else "GET", target, self.scene.port, address, cookies, form, more), dict(pairs)

    def read(self, data, values, status, head, body):
        """Checks one response, and remembers what it gives."""
        location = check_response(data, head, body, self.scene.base)
        self.tally[f"{status // 100}xx"] += 1
        if location and "code=" in location:
            code = parse_qs(urlsplit(location).query).get("code")
            if code:
                self.tally["codes"] += 1
                self.found["code"].append(code[0])
                if values.get("code_challenge") in self.verifiers and values.get("client_id") in REDIRECTS:
                    flow = Flow(self.r, MALLORY, values["client_id"])
                    flow.challenge, flow.code = values["code_challenge"], code[0]
                    flow.verifier, flow.redirect = self.verifiers[flow.challenge], values.get("redirect_uri", flow.redirect)
                    self.own.append(flow)
        elif location and "/login?" in location:
            self.found["state"].append(parse_qs(urlsplit(location).query).get("state", ["x"])[0])
        elif body.startswith(b"{") and status in (200, 201):
            members = json.loads(body)
            self.tally["tokens"] += "access_token" in members
            for name in self.found:
                if name in members:
                    self.found[name].append(members[name])
        elif status == 200 and b"<form" in body:
            form = re.findall(rb'<input type="hidden" name="([^"]*)" value="([^"]*)"', body)
            if form:
                self.found["form"].append(tuple((name.decode(), value.decode()) for name, value in form))


# --- The search

class Scene:
    def __init__(self, program, folder, seed, broken):
        self.r = random.Random(seed)
        self.port, admin = free_ports(2)
        self.base = f"http://127.0.0.1:{self.port}"
        self.server = Server(Legacy(seed, self.port).answer)
        try:
            for name, text in (("secret", SECRET), ("app-secret", APP_SECRET)):
                file = folder / name
                file.touch(mode=0o600)
                file.write_text(text)
            policy = (POLICY + (WEAK if broken else "")).format(port=self.port, admin=admin, server=self.server.port)
            # The format of policies has no aliases.
            self.gateway = Gateway(program, folder, policy.replace("*u", UPSTREAM), self.port)
        except BaseException:
            self.server.end()
            raise
        self.own = Client(self.port)
        self.people = [Person(self, user, f"198.51.100.{number + 1}") for number, user in enumerate(USERS)]
        self.mallory = Person(self, MALLORY, "203.0.113.1")
        self.apps = ["com.example.alpha", "com.example.beta", "gamma"] + (["weak"] if broken else [])
        self.attacker, self.held = Attacker(self), [Client(self.port) for _ in range(CONNECTIONS)]
        # Sign-ins whose codes are not yet redeemed, and those with a refresh token.
        self.waiting, self.signed_in = collections.deque(), collections.deque(maxlen=KEPT)
        self.honest, self.strikes, self.last = 0, 0, []

    def end(self):
        for client in self.held + [self.own]:
            client.close()
        self.gateway.kill()
        self.server.end()

    def honest_flows(self, number):
        """A few sign-ins of other users, and one of the attacker's own, before a batch of requests."""
        r, attacker = self.r, self.attacker
        for redeems in (True, False, False):
            person = r.choice(self.people)
            flow = person.sign_in(r.choice(self.apps))
            if redeems:
                person.redeem(flow)
                self.signed_in.append((person, flow))
            else:
                self.waiting.append((person, flow))
            attacker.learn(flow)
            self.honest += 1
        flow = self.mallory.sign_in(r.choice((OWN, *self.apps[:2])))
        if r.random() < 0.3:
            self.mallory.redeem(flow)
        attacker.own.append(flow)
        if number % 20 == 0:
            person = r.choice(self.people)
            attacker.learn(person.use_device())
            # In a new browser and network, because the guesses from the old ones are limited.
            self.mallory.cookies, self.mallory.address = {}, f"203.{r.randrange(256)}.{r.randrange(256)}.1"
            attacker.own.append(self.mallory.start_device())
            attacker.own.append(self.mallory.use_device())
            self.honest += 1

    def later(self, all_of_them=False):
        """Some users redeem their codes after the attack, and refresh their tokens."""
        r = self.r
        while len(self.waiting) > (0 if all_of_them else KEPT):
            person, flow = self.waiting.popleft()
            if time.monotonic() - flow.began < AGE:
                person.redeem(flow)
                self.signed_in.append((person, flow))
        if self.signed_in:
            for person, flow in list(self.signed_in) if all_of_them else [r.choice(self.signed_in)]:
                person.renew(flow)

    def attack(self, count):
        """Sends `count` requests, several at a time on each connection, and reads the responses."""
        made = [self.attacker.one() for _ in range(count)]
        self.last = [data for data, _ in made]
        for index in range(CONNECTIONS):
            left = made[index::CONNECTIONS]
            if left:
                self.transmit(index, left)
        for index in range(CONNECTIONS):
            left = made[index::CONNECTIONS]
            while left:
                data, values = left[0]
                try:
                    found = self.held[index].read()
                except OSError:
                    found = None
                if found:
                    left = left[1:]
                    self.attacker.read(data, values, *found)
                    self.strikes = 0
                    if b"onnection: close" not in found[1]:
                        continue
                if not found:
                    time.sleep(0.1)  # A process that has just ended is not yet reported.
                self.gateway.check(f"one of these requests: {[shown(data) for data, _ in left[:DEPTH]]}")
                self.strikes += 1  # connections in a row that ended without a response
                if self.strikes > 3:
                    raise Failure("no response", f"the request: {shown(data)}")
                self.held[index].close()
                self.held[index] = Client(self.port)
                self.transmit(index, left)

    def transmit(self, index, left):
        try:
            self.held[index].socket.sendall(b"".join(data for data, _ in left))
        except OSError:
            pass  # The gateway has closed the connection, which the reader notices.


def run(program, folder, seed, count, broken):
    scene = Scene(program, folder, seed, broken)
    try:
        sent, batches, limit = 0, 0, Time(count)
        while sent < count:
            limit.check()
            scene.honest_flows(batches)
            size = min(count - sent, CONNECTIONS * DEPTH)
            scene.attack(size)
            sent += size
            scene.later()
            batches += 1
        scene.later(all_of_them=True)
        tally = scene.attacker.tally
        if count >= 2000 and not (tally["codes"] > count // 100 and tally["tokens"] > count // 1000):
            raise Failure(f"the search does not reach what it should: {dict(tally)}")
        scene.server.state()
        scene.gateway.stop()
        statuses = ", ".join(f"{tally[kind]} {kind}" for kind in ("2xx", "3xx", "4xx", "5xx"))
        return (f"{sent} requests in {batches} batches (responses: {statuses}; "
                f"{tally['codes']} codes and {tally['tokens']} tokens of the attacker's own), {scene.honest} honest sign-ins")
    except OSError:
        time.sleep(0.1)
        scene.gateway.check(*(f"a request of the last batch: {shown(data)}" for data in scene.last[-DEPTH:]))
        raise
    finally:
        scene.end()
