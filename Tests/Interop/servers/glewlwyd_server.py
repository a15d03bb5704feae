"""Glewlwyd 2.7 of Debian with its plugin `oidc`, with PKCE off: an OpenID provider with its own database in SQLite, and a
confidential client for `legacy-web` and for each client id, with the web redirect URIs. It is configured through its own API,
as an administrator does.

Its behaviour: the login page is a program in JavaScript, which sends JSON to the API and then opens the authorization URL
again; if the user refuses, the page asks again. It refuses any `code_challenge`, and `openid` without `nonce`. A wrong code
is an `invalid_code` with status 403, and an unknown client an empty page with 403. ID tokens have the `c_hash` of its own
code. The client authenticates with HTTP Basic. A refresh returns no new refresh token.

Without an issuer, its public address is its own.

Usage: glewlwyd_server.py REDIRECT_URIS [ISSUER SIGNING_KEY CLIENT_ID...], the URIs separated by spaces
The first line of the output is the port.
"""

import gzip
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from urllib.parse import urlsplit

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "Support"))

import ports  # noqa: E402

PORT = ports.free_port()
REDIRECT_URIS = sys.argv[1].split()
ISSUER, SIGNING_KEY, *CLIENT_IDS = sys.argv[2:] or (f"http://127.0.0.1:{PORT}/api/oidc", None)
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent / ".build" / "interop" / "glewlwyd"
ORIGIN = urlsplit(ISSUER)
SECRET = "legacy-secret-of-the-server"
SCOPES = ["openid", "profile", "notes"]
TYPES = {"html": "text/html", "js": "application/javascript", "css": "text/css", "json": "application/json"}
START = 60  # seconds

# The settings of the plugin in the administration page; those that are left out are off.
PLUGIN = {
    "iss": ISSUER,
    "jwt-type": "rsa",
    "jwt-key-size": "256",
    "access-token-duration": 3600,
    "refresh-token-duration": 1209600,
    "code-duration": 600,
    "refresh-token-rolling": False,
    "refresh-token-one-use": "never",
    "allow-non-oidc": True,
    "auth-type-code-enabled": True,
    "auth-type-refresh-enabled": True,
    "jwks-show": True,
    "subject-type": "public",
    "pkce-allowed": False,
    "introspection-revocation-allowed": True,
    "introspection-revocation-allow-target-client": True,
    "request-parameter-allow": False,
    "name-claim": "mandatory",
    "scope-claim": "mandatory",
}


def start(folder):
    database = folder / "glewlwyd.db"
    script = gzip.decompress((ROOT / "usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz").read_bytes()).decode()
    with sqlite3.connect(database) as connection:
        connection.executescript(script)
    # The link of the package to a file in /etc leads nowhere.
    web = folder / "webapp"
    shutil.copytree(ROOT / "usr/share/glewlwyd/webapp", web, symlinks=True)
    (web / "config.json").unlink()
    shutil.copy(ROOT / "usr/share/glewlwyd/templates/config.json", web)
    modules = ROOT / "usr/lib/glewlwyd"
    settings = {
        "PORT": PORT,
        "BIND_ADDRESS": "127.0.0.1",
        "EXTERNAL_URL": f"{ORIGIN.scheme}://{ORIGIN.netloc}",
        "LOGIN_URL": "login.html",
        "API_PREFIX": "api",
        "STATIC_FILES_PATH": web,
        "STATIC_FILES_MIME_TYPES": json.dumps(
            [
                {"extension": "." + extension, "mime_type": kind, "compress": 0}
                for extension, kind in TYPES.items()
            ]
        ),
        "ALLOW_ORIGIN": "*",
        "LOG_MODE": "file",
        "LOG_LEVEL": "WARNING",
        "LOG_FILE": folder / "glewlwyd.log",
        "COOKIE_DOMAIN": ORIGIN.hostname,
        "COOKIE_SECURE": int(ORIGIN.scheme == "https"),
        "SESSION_KEY": "GLEWLWYD2_SESSION_ID",
        "SESSION_EXPIRATION": 2419200,
        "ADMIN_SCOPE": "g_admin",
        "PROFILE_SCOPE": "g_profile",
        "USER_MODULE_PATH": modules / "user",
        "USER_MIDDLEWARE_MODULE_PATH": folder,
        "CLIENT_MODULE_PATH": modules / "client",
        "AUTH_SCHEME_MODULE_PATH": modules / "scheme",
        "PLUGIN_MODULE_PATH": modules / "plugin",
        "HASH_ALGORITHM": "SHA512",
        "DATABASE_TYPE": "sqlite3",
        "DATABASE_SQLITE3_PATH": database,
    }
    environment = {**os.environ, **{f"GLWD_{name}": str(value) for name, value in settings.items()}}
    return subprocess.Popen([ROOT / "usr/bin/glewlwyd", "--env-variables"], env=environment, stdout=subprocess.DEVNULL)


class Administrator:
    """Calls the API with the session of the user that the script of the database creates."""

    def __init__(self):
        self.base, self.cookie = f"http://127.0.0.1:{PORT}/api", ""
        answer = self.post("/auth/", {"username": "admin", "password": "password"})
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]

    def post(self, path, values):
        fields = {"Content-Type": "application/json", "Cookie": self.cookie}
        request = urllib.request.Request(self.base + path, json.dumps(values).encode(), fields)
        return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60)


def keys(folder):
    """Returns the private and the public key for ID tokens, in PEM."""
    private = pathlib.Path(SIGNING_KEY or folder / "signing.key")
    new = ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", private]
    if not SIGNING_KEY:
        subprocess.run(new, check=True, stderr=subprocess.DEVNULL, timeout=60)
    public = subprocess.run(["openssl", "pkey", "-in", private, "-pubout"], check=True, capture_output=True, timeout=60)
    return private.read_text(), public.stdout.decode()


def configure(folder):
    administrator = Administrator()
    for name in SCOPES[1:]:
        administrator.post("/scope/", {"name": name, "display_name": name, "password_required": True})
    user = {"username": "ada", "password": "correct horse", "name": "Ada", "scope": ["g_profile"] + SCOPES}
    administrator.post("/user/", user)
    for client_id in ["legacy-web", *CLIENT_IDS]:
        client = {
            "client_id": client_id,
            "name": client_id,
            "confidential": True,
            "password": SECRET,
            "redirect_uri": REDIRECT_URIS,
            "authorization_type": ["code", "refresh_token"],
            "token_endpoint_auth_method": ["client_secret_basic"],
        }
        administrator.post("/client/", client)
    private, public = keys(folder)
    parameters = {**PLUGIN, "key": private, "cert": public, "allowed-scope": SCOPES}
    plugin = {"module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": parameters}
    administrator.post("/mod/plugin/", plugin)


def listens(process):
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", PORT), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False


if __name__ == "__main__":
    if not ROOT.exists():
        sys.exit("glewlwyd is missing; run `make deps-interop`")
    # Removes the folder of the database.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="glewlwyd-") as name:
        folder = pathlib.Path(name)
        server = start(folder)
        try:
            if not listens(server):
                log = folder / "glewlwyd.log"
                sys.exit(f"glewlwyd does not listen\n{log.read_text() if log.exists() else ''}")
            configure(folder)
            print(PORT, flush=True)
            server.wait()
        finally:
            server.terminate()
            server.wait(timeout=60)
