"""The clients of the interoperability runs."""

from harness import HERE


class Client:
    """A client program with its client id and the redirect URI in the table, which is `DEVICE` for a device."""

    def __init__(self, name, client_id, redirect, program, extra=(), environment="clients"):
        self.name, self.id, self.redirect = name, client_id, redirect
        self.program, self.extra = HERE / "clients" / program, list(extra)
        self.environment = environment


class Endpoints:
    """The addresses of a server, or of the gateway in front of it."""

    def __init__(self, server, base, issuer=None, resource=None):
        self.base, self.issuer = base, issuer or base
        self.authorize, self.token = base + server.authorize, base + server.token
        self.device_authorization, self.resource = base + "/device_authorization", resource or base + "/api/me"


PRIVATE_USE = "com.example.app:/cb"
CLIENTS = [
    Client(
        "requests-oauthlib",
        "com.example.app",
        PRIVATE_USE,
        "requests_oauthlib_app.py",
        ["--redirect-uri", PRIVATE_USE],
    ),
    Client("google-auth-oauthlib", "desktop.example.com", "http://127.0.0.1:*/", "google_auth_app.py"),
    Client("git-credential-oauth", "git-credential-oauth", "http://127.0.0.1:*", "git_app.py"),
]
DEVICE = "none, a device"
TELEVISION = ["--flow", "device", "--client-name", "Example TV"]
# These clients need the metadata or the device grant of the gateway.
GATEWAY_CLIENTS = [
    Client(
        "requests-oauth2client",
        "cli.example.com",
        "http://127.0.0.1:*/cb",
        "oauth2client_app.py",
        ["--redirect-uri", "http://127.0.0.1:{port}/cb"],
        "devices",
    ),
    Client(
        "oidc-agent",
        "oidc-agent",
        "http://localhost:*",
        "oidc_agent_app.py",
        ["--redirect-uri", "http://localhost:{port}"],
    ),
    Client("requests-oauth2client", "tv.example.com", DEVICE, "oauth2client_app.py", TELEVISION, "devices"),
    Client("requests-oauthlib-dags", "tv.example.com", DEVICE, "oauthlib_dags_app.py", TELEVISION, "devices"),
    Client("msal", "tv.example.com", DEVICE, "msal_app.py", TELEVISION, "devices"),
    Client("oidc-agent", "tv.example.com", DEVICE, "oidc_agent_app.py", TELEVISION),
]
# These clients request `openid`. Their id is that of the server's client, which is the audience of the ID tokens.
OPENID_CLIENTS = [
    Client(
        "requests-oauth2client",
        "legacy-web",
        "http://127.0.0.1:*/cb",
        "openid_app.py",
        ["--redirect-uri", "http://127.0.0.1:{port}/cb"],
        "devices",
    ),
    Client(
        "oidc-agent",
        "legacy-web",
        "http://localhost:*",
        "oidc_agent_app.py",
        ["--redirect-uri", "http://localhost:{port}"],
    ),
]
