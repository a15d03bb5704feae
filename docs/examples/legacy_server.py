#!/usr/bin/env python3
"""A small legacy authorization server, for the examples of the documents. It supports neither PKCE nor native apps.

  legacy_server.py PORT REDIRECT_URI...     listens on 127.0.0.1:PORT

It has two clients, `legacy-web` with the secret `legacy-secret` and `legacy-mail` without a secret, which may use exactly
these redirect URIs, one user, `alice` with the password `wonderland`, and the paths /authorize, /login, /token, /revoke
and /api/me. All data is in memory. Refresh tokens do not change.
"""

import base64
import html
import http.cookies
import http.server
import json
import secrets
import sys
import time
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

CLIENTS = {"legacy-web": "legacy-secret", "legacy-mail": None}
USER, PASSWORD = "alice", "wonderland"
REDIRECT_URIS = sys.argv[2:]
sessions, codes, access_tokens, refresh_tokens = set(), {}, {}, {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body="", kind="text/html; charset=utf-8", **fields):
        body = body.encode()
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reply_json(self, status, **members):
        self.reply(status, json.dumps(members), "application/json", Cache_Control="no-store")

    def page(self, title, form="", status=200):
        head = f'<!doctype html><html lang="en"><title>{title}</title><h1>{title}</h1>'
        self.reply(status, f'{head}<form method="post">{form}</form>' if form else head)

    def form(self):
        length = int(self.headers.get("Content-Length") or 0)
        return dict(parse_qsl(self.rfile.read(length).decode()))

    def signed_in(self):
        cookies = http.cookies.SimpleCookie(self.headers.get("Cookie", ""))
        return "session" in cookies and cookies["session"].value in sessions

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/authorize":
            self.authorize(dict(parse_qsl(url.query)))
        elif url.path == "/login":
            fields = '<p>User <input name="user"><p>Password <input name="password" type="password">'
            self.page("Sign in", fields + "<p><button>Sign in</button>")
        elif url.path == "/api/me":
            token = access_tokens.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
            if token and token > time.time():
                self.reply_json(200, user=USER)
            else:
                self.reply_json(401, error="invalid_token")
        else:
            self.page("Not found", status=404)

    def authorize(self, query):
        if query.get("client_id") not in CLIENTS or query.get("redirect_uri") not in REDIRECT_URIS:
            self.page("Unknown client or redirect URI", status=400)
        elif not self.signed_in():
            self.reply(302, Location="/login?return=" + quote(self.path, safe=""))
        else:
            code = secrets.token_urlsafe()
            codes[code] = (query["client_id"], query["redirect_uri"], time.time() + 600)
            answer = {"code": code, **({"state": query["state"]} if "state" in query else {})}
            separator = "&" if urlsplit(query["redirect_uri"]).query else "?"
            self.reply(302, Location=query["redirect_uri"] + separator + urlencode(answer))

    def do_POST(self):
        form, url = self.form(), urlsplit(self.path)
        if url.path == "/login":
            if (form.get("user"), form.get("password")) != (USER, PASSWORD):
                return self.page(html.escape(f"Wrong password for {form.get('user')}"), status=403)
            session = secrets.token_urlsafe()
            sessions.add(session)
            target = dict(parse_qsl(url.query)).get("return", "/")
            target = target if target.startswith("/authorize?") else "/"
            self.reply(302, Location=target, Set_Cookie=f"session={session}; HttpOnly; Path=/")
        elif url.path in ("/token", "/revoke"):
            client, secret = self.credentials(form)
            if client not in CLIENTS or CLIENTS[client] != secret:
                return self.reply_json(401, error="invalid_client")
            self.revoke(form, client) if url.path == "/revoke" else self.token(form, client)
        else:
            self.page("Not found", status=404)

    def credentials(self, form):
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "basic":
            name, _, secret = base64.b64decode(value).decode().partition(":")
            return unquote(name), unquote(secret)
        return form.get("client_id"), form.get("client_secret")

    def token(self, form, client):
        if form.get("grant_type") == "authorization_code":
            owner, redirect_uri, end = codes.pop(form.get("code"), (None, None, 0))
            refresh = secrets.token_urlsafe()
            valid = (owner, redirect_uri) == (client, form.get("redirect_uri")) and end > time.time()
        else:
            refresh = form.get("refresh_token")
            valid = form.get("grant_type") == "refresh_token" and (client, refresh) in refresh_tokens
        if not valid:
            return self.reply_json(400, error="invalid_grant")
        access = secrets.token_urlsafe()
        access_tokens[access] = time.time() + 3600
        refresh_tokens.setdefault((client, refresh), []).append(access)
        self.reply_json(200, access_token=access, token_type="Bearer", expires_in=3600, refresh_token=refresh)

    def revoke(self, form, client):
        token = form.get("token")
        for access in refresh_tokens.pop((client, token), [token]):
            access_tokens.pop(access, None)
        self.reply_json(200)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
