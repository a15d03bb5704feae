"""A legacy authorization server with Authlib 0.15 and Flask 1.1: the authorization code and refresh token grants, one
confidential client with web redirect URIs. Authlib's PKCE extension (`CodeChallenge`) is not registered, so PKCE
parameters are ignored.

Its behaviour: the login page gets the whole authorization URL as `next`, the consent form posts to the URL of its page,
errors of the authorization request are shown as a page, and the client authenticates with HTTP Basic.

With an issuer, it is also an OpenID provider, with a discovery document below the path of the issuer, a JWKS and the
userinfo endpoint. The document has the addresses that the server knows: those of its own host.

Usage: authlib_server.py REDIRECT_URIS [ISSUER], separated by spaces, each of which may end with `*`
The first line of the output is the port.
"""

import os
import sys
import time
from urllib.parse import urlsplit

# Authlib otherwise refuses plain http; this server listens on loopback only.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector, current_token
from authlib.jose import JsonWebKey
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.models import AuthorizationCodeMixin, ClientMixin, TokenMixin
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import Flask, jsonify, redirect, render_template_string, request, session
from werkzeug.serving import make_server
from werkzeug.urls import url_encode

USERS = {"ada": "correct horse"}
ISSUER = sys.argv[2] if len(sys.argv) > 2 else None
SCOPES = {"profile", "notes"} | ({"openid"} if ISSUER else set())


def matches(patterns, redirect_uri):
    """Compares as legacy servers do: a `*` at the end of a pattern matches any text."""
    return any(
        redirect_uri.startswith(pattern[:-1]) if pattern.endswith("*") else redirect_uri == pattern
        for pattern in patterns.split()
    )


class Client(ClientMixin):
    client_id = "legacy-web"
    # Only unreserved characters: this Authlib does not form-decode the credentials of HTTP Basic (RFC 6749, section
    # 2.3.1).
    client_secret = "legacy-secret_of.the~server"

    def __init__(self, redirect_uri):
        self.redirect_uri = redirect_uri

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return self.redirect_uri.split()[0]

    def get_allowed_scope(self, scope):
        return " ".join(name for name in (scope or "").split() if name in SCOPES)

    def check_redirect_uri(self, redirect_uri):
        return matches(self.redirect_uri, redirect_uri)

    def has_client_secret(self):
        return True

    def check_client_secret(self, client_secret):
        return client_secret == self.client_secret

    def check_token_endpoint_auth_method(self, method):
        return method == "client_secret_basic"

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in ("authorization_code", "refresh_token")


class User:
    def __init__(self, name):
        self.name = name

    def get_user_id(self):
        return self.name


class Code(AuthorizationCodeMixin):
    def __init__(self, client_id, redirect_uri, scope, user, nonce):
        self.client_id, self.redirect_uri, self.scope, self.user = client_id, redirect_uri, scope, user
        self.nonce, self.auth_time = nonce, int(time.time())
        self.expires_at = time.time() + 300

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return self.auth_time

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class Token(TokenMixin):
    def __init__(self, client_id, user, values):
        self.client_id, self.user = client_id, user
        self.access_token = values["access_token"]
        self.refresh_token = values.get("refresh_token")
        self.scope = values.get("scope", "")
        self.expires_in = values["expires_in"]
        self.created_at = int(time.time())
        self.revoked = False

    def get_client_id(self):
        return self.client_id

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return self.expires_in

    def get_expires_at(self):
        return self.created_at + self.expires_in


client = Client(sys.argv[1])
codes = {}
tokens = []


class AuthorizationCodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic"]

    def save_authorization_code(self, code, request):
        nonce = request.data.get("nonce")
        codes[code] = Code(request.client.client_id, request.redirect_uri, request.scope, request.user, nonce)

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        if found and found.client_id == client.client_id and found.expires_at > time.time():
            return found

    def delete_authorization_code(self, authorization_code):
        for code in [code for code, value in codes.items() if value is authorization_code]:
            del codes[code]

    def authenticate_user(self, authorization_code):
        return authorization_code.user


def new_key():
    """Returns a new RSA key as a private JWK and as a public one."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return [
        dict(JsonWebKey.import_key(pem, {"kty": "RSA"}).as_dict(), kid="interop", use="sig", alg="RS256")
        for pem in (private, public)
    ]


class OpenID(OpenIDCode):
    private_key, public_key = new_key() if ISSUER else (None, None)

    def exists_nonce(self, nonce, request):
        return any(code.nonce == nonce for code in codes.values())

    def get_jwt_config(self, grant):
        return {"key": self.private_key, "alg": "RS256", "iss": ISSUER, "exp": 300}

    def generate_user_info(self, user, scope):
        return UserInfo(sub=user.name)


class RefreshTokenGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        for token in tokens:
            if token.refresh_token == refresh_token and not token.revoked:
                return token

    def authenticate_user(self, credential):
        return credential.user

    def revoke_old_credential(self, credential):
        credential.revoked = True


class TokenValidator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        for token in tokens:
            if token.access_token == token_string:
                return token

    def request_invalid(self, request):
        return False

    def token_revoked(self, token):
        return token.revoked


app = Flask(__name__)
app.secret_key = os.urandom(16)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True

server = AuthorizationServer(
    app,
    query_client=lambda client_id: client if client_id == client.client_id else None,
    save_token=lambda token, request: tokens.append(Token(request.client.client_id, request.user, token)),
)
server.register_grant(AuthorizationCodeGrant, [OpenID()] if ISSUER else None)
server.register_grant(RefreshTokenGrant)
require_oauth = ResourceProtector()
require_oauth.register_token_validator(TokenValidator())

LOGIN = """<!doctype html><title>Sign in</title><h1>Sign in</h1>{% if failed %}<p>Wrong name or password.</p>{% endif %}
<form method="post"><input type="hidden" name="next" value="{{ next }}">
<label>Name <input name="username"></label> <label>Password <input type="password" name="password"></label>
<button type="submit">Sign in</button></form>"""

CONSENT = """<!doctype html><title>Consent</title>
<h1>{{ client }} asks for access to {{ scope }}</h1>
<form method="post"><label><input type="checkbox" name="confirm"> I agree</label>
<button type="submit">Submit</button></form>"""


@app.route("/login", methods=["GET", "POST"])
def login():
    target = request.values.get("next", "/")
    if urlsplit(target).netloc not in ("", request.host):
        return "Bad return address", 400
    if request.method == "POST":
        if USERS.get(request.form.get("username", "")) == request.form.get("password", ""):
            session["user"] = request.form["username"]
            return redirect(target)
    return render_template_string(LOGIN, next=target, failed=request.method == "POST")


@app.route("/oauth/authorize", methods=["GET", "POST"])
def authorize():
    if "user" not in session:
        return redirect("/login?" + url_encode({"next": request.url}))
    user = User(session["user"])
    if request.method == "GET":
        try:
            grant = server.validate_consent_request(end_user=user)
        except OAuth2Error as error:
            return render_template_string("<!doctype html><h1>Error</h1><p>{{ e }}</p>", e=error.error), 400
        return render_template_string(CONSENT, client=grant.client.client_id, scope=grant.request.scope)
    return server.create_authorization_response(grant_user=user if request.form.get("confirm") else None)


@app.route("/oauth/token", methods=["POST"])
def token():
    return server.create_token_response()


@app.route("/api/me")
@require_oauth("profile")
def me():
    return jsonify(user=current_token.user.name, scope=current_token.scope, client_id=current_token.client_id)


def discovery():
    base = request.host_url.rstrip("/")
    return jsonify(
        issuer=ISSUER,
        authorization_endpoint=base + "/oauth/authorize",
        token_endpoint=base + "/oauth/token",
        userinfo_endpoint=base + "/oauth/userinfo",
        jwks_uri=base + "/oauth/jwks",
        response_types_supported=["code"],
        subject_types_supported=["public"],
        id_token_signing_alg_values_supported=["RS256"],
        scopes_supported=sorted(SCOPES),
    )


@require_oauth("openid")
def userinfo():
    return jsonify(sub=current_token.user.name)


if ISSUER:
    app.add_url_rule(urlsplit(ISSUER).path + "/.well-known/openid-configuration", "discovery", discovery)
    app.add_url_rule("/oauth/jwks", "jwks", lambda: jsonify(keys=[OpenID.public_key]))
    app.add_url_rule("/oauth/userinfo", "userinfo", userinfo, methods=["GET", "POST"])


if __name__ == "__main__":
    listener = make_server("127.0.0.1", 0, app, threaded=True)
    print(listener.server_port, flush=True)
    listener.serve_forever()
