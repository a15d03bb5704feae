"""A legacy authorization server with python-oauth2 1.1.1 and its WSGI adapter: the authorization code and refresh token
grants, one confidential client with web redirect URIs.

Its behaviour: the consent page is the authorization endpoint itself, and its form repeats the request there with GET and
`confirm` or `deny` added, as in the examples of the library. A redirect with an error has no `state`. A request with an
unknown client or redirect URI gets JSON with status 400. The client authenticates with fields of the body, a wrong code
is an `invalid_request`, and a refresh returns no new refresh token.

Usage: python_oauth2_server.py REDIRECT_URIS, separated by spaces
The first line of the output is the port.
"""

import html
import json
import secrets
import socketserver
import sys
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, parse_qsl, urlencode
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from oauth2 import Provider
from oauth2.error import AccessTokenNotFound, UserNotAuthenticated
from oauth2.grant import AuthorizationCodeGrant, RefreshToken
from oauth2.store.memory import ClientStore, TokenStore
from oauth2.tokengenerator import Uuid4
from oauth2.web import AuthorizationCodeGrantSiteAdapter
from oauth2.web.wsgi import Application

USERS = {"ada": "correct horse"}
SCOPES = ["profile", "notes"]
sessions = {}
tokens = TokenStore()

LOGIN = """<!doctype html><title>Log in</title><h1>Log in</h1>
<form action="/login?%s" method="post"><p><input name="username"><input type="password" name="password">
<input type="submit" value="Log in"></p></form>"""

CONSENT = """<!doctype html><title>Authorize</title><h1>%s asks for access to %s</h1>
<form action="/authorize" method="get">%s
<button type="submit" name="deny" value="deny">Deny</button>
<button type="submit" name="confirm" value="confirm">Confirm</button></form>"""


def user_of(environ):
    cookie = SimpleCookie(environ.get("HTTP_COOKIE", "")).get("session")
    return sessions.get(cookie.value) if cookie else None


class SiteAdapter(AuthorizationCodeGrantSiteAdapter):
    def authenticate(self, request, environ, scopes, client):
        user = user_of(request.env_raw)
        if user is None or request.get_param("confirm") != "confirm":
            raise UserNotAuthenticated
        return {"user": user}, user

    def render_auth_page(self, request, response, environ, scopes, client):
        if user_of(request.env_raw) is None:
            response.status_code = 302
            response.add_header("Location", "/login?" + urlencode({"next": f"/authorize?{request.query_string}"}))
            return response
        fields = "".join(
            f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
            for name, value in parse_qsl(request.query_string)
        )
        response.body = CONSENT % (html.escape(client.identifier), html.escape(" ".join(scopes)), fields)
        return response

    def user_has_denied_access(self, request):
        return request.get_param("deny") == "deny"


def answer(start_response, status, body, *headers, kind="text/html; charset=utf-8"):
    start_response(status, [("Content-Type", kind), ("Cache-Control", "no-store"), *headers])
    return [body.encode()]


def login(environ, start_response):
    target = dict(parse_qsl(environ["QUERY_STRING"])).get("next", "/")
    if not target.startswith("/") or target.startswith("//"):
        return answer(start_response, "400 Bad Request", "Bad return address")
    if environ["REQUEST_METHOD"] == "POST":
        form = parse_qs(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"] or 0)).decode())
        name = form.get("username", [""])[0]
        if name in USERS and [USERS[name]] == form.get("password"):
            session = secrets.token_urlsafe(16)
            sessions[session] = name
            cookie = ("Set-Cookie", f"session={session}; Path=/; HttpOnly; SameSite=Lax")
            return answer(start_response, "302 Found", "", ("Location", target), cookie)
    return answer(start_response, "200 OK", LOGIN % html.escape(urlencode({"next": target})))


def me(environ, start_response):
    scheme, _, value = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    try:
        token = tokens.fetch_by_token(value)
    except AccessTokenNotFound:
        token = None
    if scheme.lower() != "bearer" or token is None or token.is_expired():
        return answer(start_response, "401 Unauthorized", "{}", kind="application/json")
    values = {"user": token.data["user"], "scope": " ".join(token.scopes), "client_id": token.client_id}
    return answer(start_response, "200 OK", json.dumps(values), kind="application/json")


def provider():
    clients = ClientStore()
    clients.add_client("legacy-web", "legacy secret/+&%", sys.argv[1].split(), ["authorization_code", "refresh_token"], ["code"])
    made = Provider(access_token_store=tokens, auth_code_store=tokens, client_store=clients, token_generator=Uuid4())
    made.add_grant(AuthorizationCodeGrant(scopes=SCOPES, expires_in=3600, site_adapter=SiteAdapter()))
    made.add_grant(RefreshToken(scopes=SCOPES, default_scope="profile", expires_in=86400))
    return Application(provider=made)


class Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Handler(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    oauth = provider()
    pages = {"/login": login, "/api/me": me}

    def application(environ, start_response):
        return pages.get(environ["PATH_INFO"], oauth)(environ, start_response)

    listener = make_server("127.0.0.1", 0, application, server_class=Server, handler_class=Handler)
    print(listener.server_port, flush=True)
    listener.serve_forever()
