"""The set-up of a load test: a gateway on one core, its upstream and all clients on the other."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Bench"))

import peers  # noqa: E402

CERTIFICATES = ROOT / "Tests" / "Certificates"
NAME = "localhost"  # a host name of the test certificates
LARGE = 8 * 1024 * 1024  # bytes: more than all buffers between an upstream and a client that does not read
SMALL = 200

# The use by other processes and the hypervisor above which a run does not count as undisturbed.
OTHERS, STEAL = 0.10, 0.02  # of one core


class Legacy:
    """The legacy server of `proofgate demo`; the gateway of the demo also runs, but is not used."""

    def __init__(self, program):
        self.port_of_gateway = peers.free_port()
        self.child = subprocess.Popen(
            ["taskset", "-c", peers.LOAD_CORE, program, "demo", "--port", str(self.port_of_gateway)],
            stdout=subprocess.PIPE, text=True)
        for line in self.child.stdout:
            if found := re.search(r"at (http://127\.0\.0\.1:(\d+)), runs a legacy server", re.sub(r"\s+", " ", line)):
                self.port = int(found.group(2))
            elif found := re.match(r"(http://127\.0\.0\.1:(\d+)), runs a legacy server", line):
                self.port = int(found.group(2))
            if "Control-C" in line:
                return
        sys.exit("load: the demo's legacy server does not start")

    def stop(self):
        self.child.terminate()
        self.child.wait(timeout=60)


class Upstream(peers.Upstream):
    """Answers `/small`, `/large`, `/slow` (over two seconds) and `/sink` (reads a body), and
    forwards all other requests to the legacy server."""

    def __init__(self, folder, legacy=None):
        super().__init__(folder)
        self.legacy = legacy

    def configuration(self):
        for name, size in (("large", LARGE), ("slow", 64 * 1024)):
            (self.folder / name).write_bytes(b"x" * size)
        legacy = "return 200 ok;"
        if self.legacy:
            legacy = f"proxy_pass http://127.0.0.1:{self.legacy}; proxy_set_header Host $http_host; proxy_redirect off;"
        return f"""{self.head()}
  default_type text/plain;
  proxy_http_version 1.1;
  server {{
    listen 127.0.0.1:{self.port} backlog=4096;
    location = /small {{ return 200 "{'x' * SMALL}"; }}
    location = /large {{ alias {self.folder}/large; }}
    location = /slow {{ alias {self.folder}/slow; limit_rate 32k; limit_rate_after 1; }}
    # nginx forwards the request to itself, so that it reads the whole body before it answers.
    location = /sink {{ client_body_buffer_size 256k; proxy_pass http://127.0.0.1:{self.port}/small; }}
    location / {{ {legacy} }}
  }}
}}
"""


class Gateway(peers.Program):
    """`proofgate serve` with a plaintext and a TLS listener."""

    def __init__(self, folder, program, upstream, name="proofgate", origin=None, workers=1, gateway="", limits="",
                 legacy_uri=None, core=None, clients=0, servers=None):
        self.name = name
        super().__init__(folder)
        if core:
            self.core = core
        self.program, self.upstream = str(program), upstream
        self.tls_port, self.admin = peers.free_port(), peers.free_port()
        self.origin = origin or f"http://127.0.0.1:{self.port}"
        self.workers, self.extra, self.limits = workers, gateway, limits
        self.servers = servers or f"  url: http://127.0.0.1:{upstream}"
        self.title, self.clients = "Load", clients
        self.install("gateway")

    # A request that the gateway refuses without asking the upstream.
    own = "/authorize?client_id=nobody"

    @property
    def host(self):
        """The authority in the Host field of requests."""
        return self.origin.split("//")[1]

    def install(self, name):
        """Replaces the certificate and key files of the listener with those of a test certificate."""
        for suffix, mode in ((".pem", 0o644), (".key", 0o600)):
            fresh = self.folder / f"next{suffix}"
            fresh.touch(mode=mode)
            fresh.write_bytes((CERTIFICATES / f"{name}{suffix}").read_bytes())
            fresh.replace(self.folder / f"served{suffix}")

    def write_policy(self):
        secret = self.folder / "secret"
        if not secret.exists():
            secret.touch(mode=0o600)
            secret.write_text("the-gateway-keeps-this")
        if not (self.folder / "keys").exists():
            subprocess.run([self.program, "keys", "generate", "--file", self.folder / "keys"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        fresh = self.folder / "policy.next"
        fresh.write_text(f"""version: 1
gateway:
  origin: {self.origin}
  listeners:
    - address: 127.0.0.1:{self.port}
    - address: 127.0.0.1:{self.tls_port}
      tls: {{ certificate: served.pem, private_key: served.key }}
  admin: 127.0.0.1:{self.admin}
  workers: {self.workers}
  sealing_keys: {{ file: keys }}
{self.extra}
  limits: {{ {self.limits} }}
upstream:
{self.servers}
  endpoints: {{ authorization: /authorize, token: /token, revocation: /revoke }}
enforcement: {{ raw_refresh_until: never }}
clients:
  - id: demo-app
    name: {self.title}
    type: public
    application: native
    redirect_uris: ["http://127.0.0.1/callback"]
    upstream: {{ client_id: legacy-web, client_secret: {{ file: secret }} }}
  - id: back-office
    type: confidential
    application: web
    redirect_uris: ["https://office.example/callback"]
    secret: {{ file: secret }}
    upstream: {{ client_id: legacy-web, client_secret: {{ file: secret }} }}
""" + "".join(
            f"  - id: other-{n}\n    type: public\n    application: native\n"
            f"    redirect_uris: [com.example.other{n}:/cb]\n"
            for n in range(self.clients)))
        fresh.replace(self.folder / "policy.yaml")
        return str(self.folder / "policy.yaml")

    def command(self):
        return [self.program, "serve", "--policy", self.write_policy(), "--log", str(self.folder / "decisions")]

    def connections_to(self, port):
        """Returns the number of connections of the gateway to a local port."""
        own = set()
        for pid in self.pids():
            for entry in os.scandir(f"/proc/{pid}/fd"):
                try:
                    own.add(os.readlink(entry.path))
                except OSError:
                    pass  # the descriptor has been closed
        found = set()
        # A reading of a table that changes can have a row twice, or lack one.
        for _ in range(3):
            with open("/proc/net/tcp") as table:
                rows = [line.split() for line in table.readlines()[1:]]
            found |= {f"socket:[{row[9]}]" for row in rows if row[2] == f"0100007F:{port:04X}"}
        return len(own & found)

    def said(self):
        return (self.folder / "log").read_text(errors="replace")

    def reload(self, seconds=60):
        """Sends SIGHUP and waits until the gateway logs the result. Returns the new log lines."""
        before = len(self.said())
        self.child.send_signal(signal.SIGHUP)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            lines = self.said()[before:]
            if " in force\n" in lines or "reload refused" in lines:
                return lines
            time.sleep(0.01)
        raise RuntimeError("the gateway logs no result of its reload")

    def metric(self, name):
        """Returns the sum of the samples of a metric."""
        with socket.create_connection(("127.0.0.1", self.admin), timeout=60) as connection:
            connection.sendall(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
            text = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        values = re.findall(rf"^{re.escape(name)}(?:{{[^}}]*}})? ([\d.e+]+)$", text, re.M)
        return sum(float(value) for value in values)


class Judge:
    """Prints results and collects failures."""

    def __init__(self):
        self.failures = []

    def __call__(self, name, text, problems=()):
        problems = [each for each in problems if each]
        print(f"{'FAILED' if problems else 'ok    '} {name}: {text}", flush=True)
        for problem in problems[:10]:
            print(f"         {problem}", flush=True)
        if problems:
            self.failures.append(name)
