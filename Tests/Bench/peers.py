"""The compared programs, each as a plain reverse proxy in front of the same upstream, and that upstream.

Each runs as a child process in the foreground, with its files in a temporary folder and its listeners on loopback.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import measure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))

from ports import free_port  # noqa: E402

PROXY_CORE, LOAD_CORE = "0", "1"
EVERY_CORE = "0,1"  # the cores of a proxy with several workers
CONNECTIONS = 16_384  # the maximum for each program, more than any scenario opens
START = 60  # seconds until a program must listen; valgrind makes it slow
SMALL = "x" * 200
LARGE = 1024 * 1024
HUGE = 1024 * LARGE


class Program:
    """A child process, pinned to a core, that listens on `port`."""

    name = ""
    core = PROXY_CORE
    environment = {}  # added to that of this process

    def __init__(self, folder):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{self.name}-", dir=folder))
        self.port = free_port()
        self.child = None

    def command(self):
        raise NotImplementedError

    def write(self, name, text):
        path = self.folder / name
        path.touch(mode=0o600)  # some of these files are secrets
        path.write_text(text)
        return str(path)

    def start(self):
        log = open(self.folder / "log", "wb")
        self.child = subprocess.Popen(
            ["taskset", "-c", self.core] + self.command(),
            env=dict(os.environ, **self.environment),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        end = time.monotonic() + START
        while time.monotonic() < end and self.child.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                time.sleep(0.02)
        self.stop()
        raise RuntimeError(f"{self.name} does not start:\n{(self.folder / 'log').read_text(errors='replace')[-2000:]}")

    def stop(self):
        if self.child is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.child.pid, number)
            except ProcessLookupError:
                pass
            try:
                self.child.wait(timeout=5)
                return
            except subprocess.TimeoutExpired:
                continue

    def pids(self):
        """Returns the ids of the processes that handle requests."""
        return [self.child.pid]

    def version(self):
        return ""


class Proxy(Program):
    """A reverse proxy: plain HTTP/1.1 on `port`, HTTP/2 without TLS on `h2c_port`, and both over TLS on `tls_port`.
    Its upstream is a port of this machine, or the path of a Unix socket."""

    def __init__(self, folder, upstream, workers=1):
        super().__init__(folder)
        self.upstream, self.workers = upstream, workers
        self.core = PROXY_CORE if workers == 1 else EVERY_CORE
        self.tls_port, self.h2c_port = free_port(), self.port
        self.certificate, self.key = certificate(folder)

    @property
    def host(self):
        """The authority in the Host field of requests, on any port."""
        return f"127.0.0.1:{self.port}"

    def server(self, unix):
        """The address of the upstream in the proxy's own notation, with the prefix of the path of a Unix socket."""
        return f"127.0.0.1:{self.upstream}" if isinstance(self.upstream, int) else f"{unix}{self.upstream}"


def certificate(folder):
    """Creates one certificate for all proxies of a run, because the cost of a handshake depends on the type of key."""
    chain, key = pathlib.Path(folder) / "tls.crt", pathlib.Path(folder) / "tls.key"
    if not key.exists():
        key.touch(mode=0o600)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
            + ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
            + ["-keyout", str(key), "-out", str(chain)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    return chain, key


def first_line(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else ""


class Nginx(Program):
    """The common part of nginx as a proxy and nginx as the upstream."""

    def head(self, workers=1):
        temporary = "".join(
            f"  {kind}_temp_path {self.folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        # Workers of a master that runs as root change to another user, which cannot read this folder.
        user = "user root;\n" if os.getuid() == 0 else ""
        return f"""{user}daemon off;
worker_processes {workers};
pid {self.folder}/pid;
error_log {self.folder}/error.log crit;
events {{ worker_connections {CONNECTIONS}; }}
http {{
{temporary}  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  client_max_body_size 0;
"""

    def command(self):
        return ["nginx", "-e", f"{self.folder}/error.log", "-c", self.write("nginx.conf", self.configuration())]

    def pids(self):
        return [self.child.pid] + measure.children(self.child.pid)

    def version(self):
        return first_line("nginx", "-v").replace("nginx version: ", "")


class Upstream(Nginx):
    """The upstream: answers `/` with 200 bytes, `/large` with 1 MiB and `/huge` with 1 GiB, reads a body at `/sink`, and
    answers the two OAuth endpoints like a server whose user is already signed in. It listens on `port` and on `socket`.
    """

    name = "upstream"
    core = LOAD_CORE

    @property
    def socket(self):
        return f"{self.folder}/socket"

    def configuration(self):
        (self.folder / "large").write_bytes(b"x" * LARGE)
        with open(self.folder / "huge", "wb") as file:
            file.truncate(HUGE)  # takes no space on the disk
        token = '{"access_token":"' + "a" * 43 + '","token_type":"Bearer","expires_in":3600,"scope":"profile"}'
        return (
            self.head()
            + f"""
  default_type text/plain;
  server {{
    listen 127.0.0.1:{self.port} backlog=4096;
    listen unix:{self.socket} backlog=4096;
    location / {{ return 200 "{SMALL}"; }}
    location = /large {{ alias {self.folder}/large; }}
    location = /huge {{ alias {self.folder}/huge; }}
    # nginx forwards the request to itself, so that it reads the whole body before it answers.
    location = /sink {{ client_body_buffer_size 2m; proxy_pass http://127.0.0.1:{self.port}/; }}
    location = /oauth/authorize {{
      return 302 "http://$http_x_forwarded_host/.proofgate/callback?code={'c' * 11}$request_id&state=$arg_state";
    }}
    location = /oauth/token {{ default_type application/json; return 200 '{token}'; }}
  }}
}}
"""
        )


class NginxProxy(Nginx, Proxy):
    name = "nginx"

    def __init__(self, folder, upstream, workers=1):
        super().__init__(folder, upstream, workers)
        # With `http2`, this version accepts only HTTP/2 on a port without TLS.
        self.h2c_port = free_port()

    def configuration(self):
        return (
            self.head(self.workers)
            + f"""
  upstream legacy {{ server {self.server("unix:")}; keepalive 256; keepalive_requests 1000000000; }}
  ssl_certificate {self.certificate};
  ssl_certificate_key {self.key};
  ssl_protocols TLSv1.2 TLSv1.3;
  server {{
    listen 127.0.0.1:{self.port} backlog=4096;
    listen 127.0.0.1:{self.h2c_port} backlog=4096 http2;
    listen 127.0.0.1:{self.tls_port} backlog=4096 ssl http2;
    location / {{
      proxy_pass http://legacy;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
    }}
  }}
}}
"""
        )


class HAProxy(Proxy):
    name = "haproxy"

    def command(self):
        pair = self.write("pair.pem", self.certificate.read_text() + self.key.read_text())
        configuration = f"""global
  nbthread {self.workers}
  maxconn {CONNECTIONS // 2}
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 60s
  option http-keep-alive
  option forwardfor
  http-reuse always
frontend in
  bind 127.0.0.1:{self.port} backlog 4096
  bind 127.0.0.1:{self.tls_port} backlog 4096 ssl crt {pair} alpn h2,http/1.1
  http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  default_backend legacy
backend legacy
  server legacy {self.server("unix@")}
"""
        return ["haproxy", "-db", "-f", self.write("haproxy.cfg", configuration)]

    def version(self):
        return " ".join(first_line("haproxy", "-v").split()[:3])


class Caddy(Proxy):
    """Caddy, only with HTTP/1.1 and without TLS."""

    name = "caddy"

    def __init__(self, folder, upstream, workers=1):
        super().__init__(folder, upstream, workers)
        # Go runs this many threads of Go code at a time. Caddy writes nothing outside of its folder.
        self.environment = {"GOMAXPROCS": str(workers)} | {
            name: str(self.folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
        }

    def command(self):
        proxy = {
            "handler": "reverse_proxy",
            "transport": {
                "protocol": "http",
                "compression": False,
                "keep_alive": {"enabled": True, "max_idle_conns_per_host": 256, "idle_timeout": "600s"},
            },
            "upstreams": [{"dial": self.server("unix/")}],
        }
        server = {
            "listen": [self.host],
            "protocols": ["h1"],
            "automatic_https": {"disable": True},
            "idle_timeout": "600s",
            "routes": [{"handle": [proxy]}],
        }
        configuration = {
            "admin": {"disabled": True, "config": {"persist": False}},
            "logging": {"logs": {"default": {"level": "ERROR"}}},
            "apps": {"http": {"servers": {"in": server}}},
        }
        return ["caddy", "run", "--config", self.write("caddy.json", json.dumps(configuration))]

    def version(self):
        return f"Caddy {first_line('caddy', 'version')}"


class Proofgate(Proxy):
    name = "proofgate"

    def __init__(self, folder, upstream, program, clients=1, workers=1, gateway="", server=""):
        super().__init__(folder, upstream, workers)
        self.program, self.clients, self.admin = str(program), clients, free_port()
        self.gateway, self.server_settings = gateway, server

    def command(self):
        secret = self.write("secret", "secret-of-the-legacy-client")
        base = f"http://{self.host}"
        url = self.server("unix:") if isinstance(self.upstream, str) else f"http://{self.server('')}"
        policy = f"""version: 1
gateway:
  origin: {base}
  listeners:
    - address: 127.0.0.1:{self.port}
    - address: 127.0.0.1:{self.tls_port}
      tls: {{ certificate: {self.certificate}, private_key: {self.key} }}
  admin: 127.0.0.1:{self.admin}
  workers: {self.workers}
{self.gateway}  # For each sign-in, the store keeps the digest of its code for ten minutes, the maximum lifetime of an upstream code.
  store: {{ memory: 4GiB }}
  # The same limits as in the configurations of the other proxies.
  limits: {{ token_requests_per_client: off, requests_per_connection: 1000000000, idle_timeout: 600s }}
upstream:
  url: {url}
  endpoints: {{ authorization: /oauth/authorize, token: /oauth/token }}
{self.server_settings}clients:
  - id: bench
    type: public
    application: native
    redirect_uris: ["http://127.0.0.1/callback"]
    # Without the gateway's consent page, which is not measured.
    consent: upstream
    raw_refresh_until: never
    upstream:
      client_id: legacy-web
      client_secret: {{ file: {secret} }}
"""
        policy += "".join(
            f"  - id: other-{n}\n    type: public\n    application: native\n"
            f"    redirect_uris: [com.example.other{n}:/cb]\n    raw_refresh_until: never\n"
            for n in range(1, self.clients)
        )
        return [self.program, "serve", "--policy", self.write("policy.yaml", policy)]

    def version(self):
        return first_line(self.program, "--version")


def missing():
    needed = ("nginx", "haproxy", "caddy", "wrk", "h2load", "openssl", "taskset")
    return [name for name in needed if not shutil.which(name)]
