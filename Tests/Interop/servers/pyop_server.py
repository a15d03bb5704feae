"""A legacy OpenID provider with pyop 3.0.1 and Flask 1.1, with the paths of the library's example: the code flow with
refresh tokens, a discovery document, a JWKS and the userinfo endpoint, and a confidential client for `legacy-web` and for
each client id, with the web redirect URIs. pyop does not know PKCE.

Its behaviour: a request without `openid` is refused, errors of the authorization request are redirects even to a redirect
URI that is not registered, a wrong refresh token has status 400, and the client authenticates with HTTP Basic. A refresh
returns no new refresh token.

Usage: pyop_server.py REDIRECT_URIS [ISSUER SIGNING_KEY CLIENT_ID...], the URIs separated by spaces
The first line of the output is the port.
"""

import os
import sys
from urllib.parse import urlencode, urlsplit

from Cryptodome.PublicKey import RSA
from flask import Flask, jsonify, make_response, redirect, render_template_string, request, session
from jwkest.jwk import rsa_load, RSAKey
from oic.oic.message import AuthorizationErrorResponse
from pyop.authz_state import AuthorizationState
from pyop.exceptions import BearerTokenError, InvalidAccessToken, InvalidAuthenticationRequest
from pyop.exceptions import InvalidClientAuthentication, OAuthError
from pyop.provider import Provider
from pyop.subject_identifier import HashBasedSubjectIdentifierFactory
from pyop.userinfo import Userinfo
from werkzeug.serving import make_server

USERS = {"ada": "correct horse"}
REDIRECT_URIS = sys.argv[1].split()
ISSUER, SIGNING_KEY, *CLIENT_IDS = sys.argv[2:] or ("https://127.0.0.1/oauth", None)
SECRET = "legacy-secret-of-the-server"

LOGIN = """<!doctype html><title>Log in</title><h1>Log in</h1>
<form action="/login?{{ query }}" method="post"><p><input name="username"><input type="password" name="password">
<input type="submit" value="Log in"></p></form>"""

CONSENT = """<!doctype html><title>Consent</title><h1>{{ client }} asks for access to {{ scope }}</h1>
<form method="post"><button type="submit" name="answer" value="no">No</button>
<button type="submit" name="answer" value="yes">Yes, continue</button></form>"""

app = Flask(__name__)
app.secret_key = os.urandom(16)


def new_provider():
    base = "{0.scheme}://{0.netloc}".format(urlsplit(ISSUER))
    client = {
        "redirect_uris": REDIRECT_URIS,
        "response_types": ["code"],
        "client_secret": SECRET,
        "token_endpoint_auth_method": "client_secret_basic",
        "subject_type": "public",
    }
    return Provider(
        RSAKey(key=rsa_load(SIGNING_KEY) if SIGNING_KEY else RSA.generate(2048), alg="RS256", kid="interop", use="sig"),
        {
            "issuer": ISSUER,
            "authorization_endpoint": base + "/authentication",
            "token_endpoint": base + "/token",
            "userinfo_endpoint": base + "/userinfo",
            "jwks_uri": base + "/jwks",
            "scopes_supported": ["openid", "profile", "notes"],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "subject_types_supported": ["public"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "id_token_signing_alg_values_supported": ["RS256"],
        },
        AuthorizationState(HashBasedSubjectIdentifierFactory("interop"), refresh_token_lifetime=86400),
        {client_id: client for client_id in ["legacy-web", *CLIENT_IDS]},
        Userinfo({name: {"sub": name, "name": name.title()} for name in USERS}),
    )


provider = new_provider()


@app.route("/login", methods=["GET", "POST"])
def login():
    target = request.args.get("next", "/")
    if not target.startswith("/") or target.startswith("//"):
        return "Bad return address", 400
    if request.method == "POST":
        if USERS.get(request.form.get("username", "")) == request.form.get("password", ""):
            session["user"] = request.form["username"]
            return redirect(target)
    return render_template_string(LOGIN, query=urlencode({"next": target}))


@app.route("/authentication", methods=["GET", "POST"])
def authentication():
    try:
        asked = provider.parse_authentication_request(request.query_string.decode(), request.headers)
    except InvalidAuthenticationRequest as error:
        target = error.to_error_url()
        return redirect(target, 303) if target else make_response(f"Something went wrong: {error}", 400)
    if "user" not in session:
        return redirect("/login?" + urlencode({"next": request.full_path}))
    if request.method == "GET":
        return render_template_string(CONSENT, client=asked["client_id"], scope=" ".join(asked["scope"]))
    if request.form.get("answer") == "yes":
        answer = provider.authorize(asked, session["user"])
    else:
        answer = AuthorizationErrorResponse(error="access_denied", state=asked.get("state"))
    return redirect(answer.request(asked["redirect_uri"]), 303)


@app.route("/token", methods=["POST"])
def token():
    try:
        return jsonify(provider.handle_token_request(request.get_data().decode(), request.headers).to_dict())
    except InvalidClientAuthentication as error:
        answer = jsonify(error=error.oauth_error, error_description=str(error))
        answer.status_code = 401
        answer.headers["WWW-Authenticate"] = "Basic"
        return answer
    except OAuthError as error:
        return jsonify(error=error.oauth_error, error_description=str(error)), 400


@app.route("/userinfo", methods=["GET", "POST"])
def userinfo():
    try:
        return jsonify(provider.handle_userinfo_request(request.get_data().decode(), request.headers).to_dict())
    except (BearerTokenError, InvalidAccessToken) as error:
        return str(error), 401, {"WWW-Authenticate": "Bearer"}


@app.route("/jwks")
def jwks():
    return jsonify(provider.jwks)


@app.route(urlsplit(ISSUER).path + "/.well-known/openid-configuration")
def discovery():
    return jsonify(provider.provider_configuration.to_dict())


@app.route("/api/me")
def me():
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    try:
        found = provider.authz_state.introspect_access_token(value if scheme.lower() == "bearer" else "")
    except InvalidAccessToken:
        return jsonify(), 401
    return jsonify(user=found["sub"], scope=found["scope"], client_id=found["client_id"])


if __name__ == "__main__":
    listener = make_server("127.0.0.1", 0, app, threaded=True)
    print(listener.server_port, flush=True)
    listener.serve_forever()
