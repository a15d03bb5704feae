"""A legacy authorization server with Flask-OAuthlib 0.9.6, oauthlib 2.1 and Flask 1.1: the authorization code and
refresh token grants, one confidential client with web redirect URIs. oauthlib 2 does not support PKCE.

Its behaviour: the login page gets path and query of the authorization URL as `next`, the consent form posts its
parameters as hidden fields to the authorization endpoint without a query, errors of the authorization request are
redirects to its error page, and the client authenticates with fields of the body.

Usage: flask_oauthlib_server.py REDIRECT_URIS, separated by spaces, each of which may end with `*`
The first line of the output is the port.
"""

import datetime
import os
import sys

# oauthlib otherwise refuses plain http; this server listens on loopback only.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

from flask import Flask, jsonify, redirect, render_template_string, request, session
from flask_oauthlib.provider import OAuth2Provider
from werkzeug.serving import make_server
from werkzeug.urls import url_encode

USERS = {"ada": "correct horse"}


class Client:
    client_id = "legacy-web"
    client_secret = "legacy secret/+&%"
    is_confidential = True
    default_scopes = ["profile"]
    allowed_grant_types = ["authorization_code", "refresh_token"]
    allowed_response_types = ["code"]

    def __init__(self, redirect_uri):
        self.redirect_uris = redirect_uri.split()
        self.default_redirect_uri = self.redirect_uris[0]

    def validate_redirect_uri(self, redirect_uri):
        """Compares as legacy servers do: a `*` at the end of a pattern matches any text."""
        return any(
            redirect_uri.startswith(pattern[:-1]) if pattern.endswith("*") else redirect_uri == pattern
            for pattern in self.redirect_uris
        )

    def validate_scopes(self, scopes):
        return set(scopes) <= {"profile", "notes"}


class Grant:
    def __init__(self, client_id, code, redirect_uri, scopes, user):
        self.client_id, self.code, self.redirect_uri, self.scopes, self.user = client_id, code, redirect_uri, scopes, user
        self.expires = datetime.datetime.utcnow() + datetime.timedelta(seconds=300)

    def delete(self):
        grants.pop((self.client_id, self.code), None)


class Token:
    def __init__(self, client_id, user, values):
        self.client_id, self.user = client_id, user
        self.access_token = values["access_token"]
        self.refresh_token = values.get("refresh_token")
        self.scopes = values["scope"].split()
        self.expires = datetime.datetime.utcnow() + datetime.timedelta(seconds=values["expires_in"])

    def delete(self):
        tokens.remove(self)


client = Client(sys.argv[1])
grants = {}
tokens = []

app = Flask(__name__)
app.secret_key = os.urandom(16)
oauth = OAuth2Provider(app)


@oauth.clientgetter
def load_client(client_id):
    return client if client_id == client.client_id else None


@oauth.grantgetter
def load_grant(client_id, code):
    return grants.get((client_id, code))


@oauth.grantsetter
def save_grant(client_id, code, request, *args, **kwargs):
    grants[client_id, code["code"]] = Grant(
        client_id, code["code"], request.redirect_uri, request.scopes, session["user"]
    )


@oauth.tokengetter
def load_token(access_token=None, refresh_token=None):
    for token in tokens:
        if access_token and token.access_token == access_token:
            return token
        if refresh_token and token.refresh_token == refresh_token:
            return token


@oauth.tokensetter
def save_token(token, request, *args, **kwargs):
    # As in the examples of the library: one token per client and user, and a new one replaces the older.
    for old in [t for t in tokens if t.client_id == request.client.client_id and t.user == request.user]:
        tokens.remove(old)
    tokens.append(Token(request.client.client_id, request.user, token))


LOGIN = """<!doctype html><title>Log in</title><h1>Log in</h1>{% if failed %}<p>Wrong name or password.</p>{% endif %}
<form action="/login?{{ query }}" method="post">
<p><input name="username" placeholder="Name"><input type="password" name="password" placeholder="Password">
<input type="submit" value="Log in"></p></form>"""

CONSENT = """<!doctype html><title>Authorize</title><h1>{{ client_id }} would like to access {{ scopes|join(", ") }}</h1>
<form action="/oauth/authorize" method="post">
<input type="hidden" name="client_id" value="{{ client_id }}">
<input type="hidden" name="scope" value="{{ scopes|join(" ") }}">
<input type="hidden" name="response_type" value="{{ response_type }}">
<input type="hidden" name="redirect_uri" value="{{ redirect_uri }}">
{% if state %}<input type="hidden" name="state" value="{{ state }}">{% endif %}
<button type="submit" name="confirm" value="no">Deny</button>
<button type="submit" name="confirm" value="yes">Allow</button></form>"""


@app.route("/login", methods=["GET", "POST"])
def login():
    target = request.args.get("next", "/")
    if not target.startswith("/") or target.startswith("//"):
        return "Bad return address", 400
    if request.method == "POST":
        if USERS.get(request.form.get("username", "")) == request.form.get("password", ""):
            session["user"] = request.form["username"]
            return redirect(target)
    return render_template_string(LOGIN, query=url_encode({"next": target}), failed=request.method == "POST")


@app.route("/oauth/authorize", methods=["GET", "POST"])
@oauth.authorize_handler
def authorize(*args, **kwargs):
    if "user" not in session:
        return redirect("/login?" + url_encode({"next": request.full_path}))
    if request.method == "GET":
        return render_template_string(
            CONSENT,
            client_id=kwargs["client_id"],
            scopes=kwargs["scopes"],
            response_type=kwargs["response_type"],
            redirect_uri=kwargs["redirect_uri"],
            state=kwargs["state"],
        )
    return request.form.get("confirm", "no") == "yes"


@app.route("/oauth/errors")
def errors():
    return render_template_string(
        "<!doctype html><h1>Error</h1><p>{{ e }}</p>", e=request.args.get("error", "unknown")
    ), 400


@app.route("/oauth/token", methods=["POST"])
@oauth.token_handler
def token():
    return None


@app.route("/api/me")
@oauth.require_oauth("profile")
def me():
    granted = request.oauth.access_token
    return jsonify(user=request.oauth.user, scope=" ".join(granted.scopes), client_id=granted.client_id)


if __name__ == "__main__":
    listener = make_server("127.0.0.1", 0, app, threaded=True)
    print(listener.server_port, flush=True)
    listener.serve_forever()
