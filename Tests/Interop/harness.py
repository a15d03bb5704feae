"""Shared by the interoperability runs: virtual environments, child processes, the legacy servers and the gateway."""

import fcntl
import hashlib
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / ".build" / "interop"
sys.path.insert(0, str(ROOT / "Tests" / "Support"))

from ports import free_ports  # noqa: E402,F401

START = 60  # seconds for a server or the gateway to listen


class Server:
    """A legacy server. Its kind is the name of its program and of its environment, and that of its preset or of its example
    in `policies/servers`; `session` is the name of its session cookie. `issuer`, `resource` and `revocation` are paths. With
    `own_clients`, each app has its own client at the server, with the same id. If the user refuses, the app gets the error
    `denial`; it is `page` if the server shows a page in place of a redirect. `unknown_scope` is the same for a server that
    refuses an unknown scope."""

    scope = "profile"
    is_openid = own_clients = False
    issuer = "/oauth"
    resource = "/api/me"
    denial = "access_denied"
    is_probed = True
    revocation = unknown_scope = None
    # The names of the clients that run with it; all if empty.
    clients = ()

    def __init__(
        self, name, authentication, secret, authorize="/oauth/authorize", token="/oauth/token", kind=None, session="session"
    ):
        self.name, self.authentication, self.secret, self.session = name, authentication, secret, session
        self.authorize, self.token = authorize, token
        self.kind = kind or name
        self.program = HERE / "servers" / (self.kind.replace("-", "_") + "_server.py")

    def command(self):
        """Returns the command that starts the server, without its arguments."""
        return [environment(self.kind), str(self.program)]

    @property
    def upstream(self):
        """The settings of `upstream:` without the address."""
        # MSAL and oidc-agent always request these two. No server issues a refresh token for the second only, and a server
        # without OpenID Connect does not know the first.
        return {"kind": self.kind, "scopes": {"drop": [*([] if self.is_openid else ["openid"]), "offline_access"]}}


class Example(Server):
    """A server without a preset. The settings of its example are used as an operator copies them; `endpoints` are added,
    and the resource of the server passes too. An OpenID provider gets `openid` in each scope."""

    def __init__(self, name, authentication, secret, is_openid=False, issuer="/oauth", endpoints=None, **values):
        super().__init__(name, authentication, secret, **values)
        self.is_openid, self.own_clients, self.issuer, self.endpoints = is_openid, is_openid, issuer, endpoints or {}
        self.scope = "openid profile" if is_openid else "profile"

    @property
    def upstream(self):
        import yaml  # Other programs use this module without it.

        settings = yaml.safe_load((ROOT / "policies" / "servers" / f"{self.kind}.yaml").read_text())["upstream"]
        del settings["url"]
        settings["endpoints"].update(self.endpoints)
        if self.resource not in settings["pass"]:
            settings["pass"].append(self.resource)
        settings.setdefault("scopes", super().upstream["scopes"])
        return settings


SERVERS = [
    Server("authlib", "basic", "legacy-secret_of.the~server"),
    Server("flask-oauthlib", "post", "legacy secret/+&%"),
    Server(
        "django-oauth-toolkit", "basic", "legacy-secret-of-the-server", "/o/authorize/", "/o/token/", session="sessionid"
    ),
]
SERVERS[1].unknown_scope = SERVERS[2].unknown_scope = "invalid_scope"
SERVERS[2].revocation = "/o/revoke_token/"
# These have no preset. Their paths belong to the application or to its configuration.
EXAMPLES = [
    Example("python-oauth2", "post", "legacy secret/+&%", authorize="/authorize", token="/token"),
    Example(
        "pyop",
        "basic",
        "legacy-secret-of-the-server",
        is_openid=True,
        # The document is not at the path of an endpoint, because MSAL accepts only an issuer with a path.
        endpoints={"metadata": "/oauth/.well-known/openid-configuration"},
        authorize="/authentication",
        token="/token",
    ),
]
# A request without `openid`.
EXAMPLES[1].unknown_scope = "invalid_request"
GLEWLWYD = Example(
    "glewlwyd",
    "basic",
    "legacy-secret-of-the-server",
    is_openid=True,
    issuer="/api/oidc",
    authorize="/api/oidc/auth",
    token="/api/oidc/token",
    session="GLEWLWYD2_SESSION_ID",
)
# `proofgate probe` finds no endpoint, because its answers to unknown clients and codes have no body.
GLEWLWYD.is_probed = False
# A request with `openid` needs a `nonce`, so apps that do not know OpenID Connect ask without it.
GLEWLWYD.scope, GLEWLWYD.resource, GLEWLWYD.denial = "profile", "/api/oidc/userinfo", "page"
GLEWLWYD.unknown_scope = "page"
GLEWLWYD.revocation = "/api/oidc/revoke"
EXAMPLES.append(GLEWLWYD)
# The first server again, as an OpenID provider with a discovery document.
OPENID_SERVER = Server("authlib-openid", "basic", SERVERS[0].secret, kind="authlib")
OPENID_SERVER.is_openid = True


def interpreter():
    """Returns the Python for the virtual environments: the old packages need 3.8 to 3.11."""
    names = [sys.executable, "python3.11", "python3.10", "python3.9", "python3.8", "/usr/bin/python3"]
    for name in names:
        path = shutil.which(name)
        probe = "import sys, venv, ensurepip; sys.exit(not (3, 8) <= sys.version_info[:2] <= (3, 11))"
        if path and subprocess.run([path, "-c", probe], stderr=subprocess.DEVNULL).returncode == 0:
            return path
    sys.exit("interop: needs python3 3.8 to 3.11 with venv (apt-get install python3 python3-venv)")


def environment(name):
    """Returns the Python of the environment with requirements/NAME.txt; creates it again if the pinned versions
    changed. Without such a file, it is the Python without packages."""
    requirements = HERE / "requirements" / f"{name}.txt"
    if not requirements.exists():
        return interpreter()
    stamp = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    place = BUILD / f"venv-{name}"
    python, done = place / "bin" / "python", place / "requirements"
    BUILD.mkdir(parents=True, exist_ok=True)
    # Another run may install the same environment at the same time.
    with open(BUILD / f"venv-{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (done.exists() and done.read_text() == stamp and python.exists()):
            install(requirements, place)
            done.write_text(stamp)
    return str(python)


def install(requirements, place):
    """Creates the environment at this place."""
    python = place / "bin" / "python"
    print(f"interop: installing {requirements.name}", flush=True)
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run([interpreter(), "-m", "venv", str(place)], check=True, timeout=300)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(requirements)]
    for attempt in range(3):
        if subprocess.run(command, timeout=600).returncode == 0:
            break
        time.sleep(5 * attempt)
    else:
        sys.exit(f"interop: pip could not install {requirements.name}")


class Process:
    """A child process in its own process group, which is ended as a group."""

    def __init__(self, command, log, **options):
        self.log = log
        self.output = open(log, "wb")
        self.child = subprocess.Popen(command, stderr=self.output, start_new_session=True, **options)

    def line(self, seconds):
        ready, _, _ = select.select([self.child.stdout], [], [], seconds)
        return self.child.stdout.readline().decode() if ready else ""

    def end(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.child.pid, number)
            except ProcessLookupError:
                pass
            try:
                self.child.wait(timeout=5)
            except subprocess.TimeoutExpired:
                continue
        self.output.close()

    def tail(self, lines=5):
        text = pathlib.Path(self.log).read_text(errors="replace").strip().splitlines()
        return "\n".join(text[-lines:])


def quiet_environment(**more):
    """Returns the environment without proxy settings, because all servers are on loopback."""
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    kept.update(more, NO_PROXY="*", PYTHONWARNINGS="ignore", PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8")
    return kept


def listening(port, process):
    end = time.monotonic() + START
    while time.monotonic() < end and process.child.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False


def start_server(server, redirect, folder, *arguments, log=None):
    process = Process(
        [*server.command(), redirect, *arguments],
        folder / f"{log or server.name}.log",
        stdout=subprocess.PIPE,
        env=quiet_environment(),
    )
    line = process.line(START).strip()
    if not line.isdigit() or not listening(int(line), process):
        process.end()
        raise RuntimeError(f"{server.name} does not start:\n{process.tail()}")
    return process, f"http://127.0.0.1:{line}"


def start_gateway(program, template, values, port, folder, name):
    """Starts the gateway on a port with the policy that TEMPLATE and VALUES give; NAME is that of its log."""
    policy = folder / f"{name}.yaml"
    policy.write_text((HERE / template).read_text().format(**values))
    process = Process(
        [str(program), "serve", "--policy", str(policy)],
        folder / f"{name}-gateway.log",
        stdout=open(folder / f"{name}-gateway.out", "wb"),
        env=quiet_environment(),
    )
    if not listening(port, process):
        process.end()
        raise RuntimeError(f"the gateway does not start:\n{process.tail()}")
    return process


def secret_file(server, folder):
    """Writes the secret of the upstream client to a file that only this user can read, and returns its path."""
    secret = folder / f"{server.name}.secret"
    secret.touch(mode=0o600)
    secret.write_text(server.secret)
    return secret


def table(head, rows):
    widths = [max(len(str(row[i])) for row in [head] + rows) for i in range(len(head))]
    print()
    for row in [head, tuple("-" * width for width in widths)] + rows:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())
    print()


def proofgate_program():
    for configuration in ("release", "debug"):
        program = ROOT / ".build" / configuration / "proofgate"
        if program.exists():
            return program
    return None
