"""The clients of the interoperability runs."""

from harness import HERE


class Client:
    """A client program with its client id and the redirect URI in the table, which is `DEVICE` for a device. A short run
    has those with `short` only, for servers without a preset."""

    def __init__(self, name, client_id, redirect, program, extra=(), environment="clients", short=False):
        self.name, self.id, self.redirect = name, client_id, redirect
        self.program, self.extra = HERE / "clients" / program, list(extra)
        self.environment, self.short = environment, short

    @property
    def label(self):
        """The name, with a word for its other form if it has two."""
        return self.name + (" device" if self.redirect == DEVICE else " https" if self.redirect == CLAIMED else "")


class Endpoints:
    """The addresses of a server, or of the gateway in front of it."""

    def __init__(self, server, base, issuer=None, resource=None):
        self.base, self.issuer = base, issuer or base
        self.authorize, self.token = base + server.authorize, base + server.token
        self.device_authorization, self.resource = base + "/device_authorization", resource or base + server.resource


DEVICE = "none, a device"
PRIVATE_USE = "com.example.app:/cb"
CLAIMED = "https://app.example.com/cb"
CLIENTS = [
    Client(
        "requests-oauthlib",
        "com.example.app",
        PRIVATE_USE,
        "requests_oauthlib_app.py",
        ["--redirect-uri", PRIVATE_USE],
        short=True,
    ),
    Client("google-auth-oauthlib", "desktop.example.com", "http://127.0.0.1:*/", "google_auth_app.py"),
    Client("git-credential-oauth", "git-credential-oauth", "http://127.0.0.1:*", "git_app.py"),
]
TELEVISION = ["--flow", "device", "--client-name", "Example TV"]
# These clients need the gateway: its metadata, its device grant or its errors.
GATEWAY_CLIENTS = [
    Client("requests-oauthlib", "phone.example.com", CLAIMED, "requests_oauthlib_app.py", ["--redirect-uri", CLAIMED]),
    Client(
        "errors",
        "cli.example.com",
        "http://127.0.0.1:*/cb",
        "errors_app.py",
        ["--redirect-uri", "http://127.0.0.1:{port}/cb"],
        short=True,
    ),
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
    Client("requests-oauthlib-dags", "tv.example.com", DEVICE, "oauthlib_dags_app.py", TELEVISION, "devices", short=True),
    Client("msal", "tv.example.com", DEVICE, "msal_app.py", TELEVISION, "devices"),
    Client("oidc-agent", "tv.example.com", DEVICE, "oidc_agent_app.py", TELEVISION),
]
WEB = "https://web.example.com/cb"
# A web app with its own secret and without PKCE, which the policy observes while it enforces all other clients.
OBSERVED = Client(
    "observed web app", "legacy-web", WEB, "requests_oauthlib_app.py", ["--redirect-uri", WEB], short=True
)
# Runs with the servers without a preset that are OpenID providers.
OPENID_APP = Client(
    "openid",
    "openid.example.com",
    "http://127.0.0.1:*/cb",
    "openid_app.py",
    ["--redirect-uri", "http://127.0.0.1:{port}/cb"],
    "devices",
)
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
