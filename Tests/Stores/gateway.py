"""The gateways of a run: replicas with one policy, each on a port of its own."""

import calendar
import http.client
import json
import re
import signal
import subprocess
import time

import processes
import servers

# Short, because they are part of the lease of a refresh that did not end.
CONNECT, RESPONSE, BODY = 1, 4, 5  # seconds
# The lease also contains the wait for a connection, the time for the store, and the tolerance for clocks.
LEASE = 5 + CONNECT + RESPONSE + BODY + 1 + 10 + 60  # seconds
# The time in which a gateway that has just started finds a killed one gone: the first seconds of an epoch, and the time
# for which its key must be missing. The life of the key passes meanwhile.
GONE = 10 + 3  # seconds
CODE = 60  # seconds for which a code can be redeemed, unless a scenario changes it


class Replicas:
    """The common part of all gateways of a run: origin, keys, clients, upstream and store."""

    def __init__(self, stage, legacy, store, port, clients, epoch="once", window=0, least=None, code=CODE, idle="1h",
                 workers=1, count=2):
        self.folder, self.program = stage.folder, stage.options.proofgate
        self.upstream, self.store, self.port, self.clients = legacy.port, store, port, clients
        self.epoch, self.window, self.code, self.idle = epoch, window, code, idle
        self.least, self.workers, self.count = least, workers, count
        self.keys = self.folder / "keys"
        self.keys_command("generate")
        password = self.folder / "store-password"
        password.touch(mode=0o600)
        password.write_text(servers.PASSWORD)

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def keys_command(self, *words):
        """Runs `proofgate keys`. Returns the exit code and the output."""
        done = subprocess.run(
            [self.program, "keys", *words, "--file", self.keys], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=60)
        if words[0] == "generate" and done.returncode:
            raise RuntimeError(f"proofgate keys generate: {done.stdout.strip()}")
        return done.returncode, done.stdout

    def policy(self, port, admin):
        shared = ""
        if "://" in self.store:
            shared = f"""  store_password: {{ file: {self.folder}/store-password }}
  store_epoch: {self.epoch}
"""
            if self.least is not None:
                shared += f"  store_min_replicas: {self.least}\n"
        store = self.store if self.store.startswith("{") else f'"{self.store}"'
        return f"""version: 1
gateway:
  origin: http://{self.host}
  listeners:
    - address: 127.0.0.1:{port}
  admin: 127.0.0.1:{admin}
  workers: {self.workers}
  replicas: {self.count}
  sealing_keys: {{ file: {self.keys} }}
  store: {store}
{shared}  drain_timeout: 3s
  limits: {{ token_requests_per_client: off, body_timeout: {BODY}s }}
enforcement:
  code_lifetime: {self.code}s
  refresh_reuse_window: {self.window}s
  refresh_idle: {self.idle}
upstream:
  url: http://127.0.0.1:{self.upstream}
  endpoints: {{ authorization: /oauth/authorize, token: /oauth/token, revocation: /oauth/revoke }}
  completion_paths: [/login]
  pass: [/]
  connect_timeout: {CONNECT}s
  response_timeout: {RESPONSE}s
clients:
""" + "".join(f"""  - id: {each}
    type: public
    application: native
    redirect_uris: ["{redirect(each)}"]
    raw_refresh_until: never
    upstream: {{ redirect_uri: requested }}
    consent: upstream
""" for each in self.clients)


def redirect(client):
    """Returns the redirect URI of a client."""
    return f"com.example.{client}:/cb"


class Gateway(processes.Child):
    def __init__(self, replicas, name, port=None):
        free, self.admin = processes.free_ports(2)
        super().__init__(replicas.folder, name, port or free)
        self.replicas = replicas
        self.decisions = self.folder / "decisions"

    def command(self):
        policy = self.write("policy.yaml", self.replicas.policy(self.port, self.admin))
        return [self.replicas.program, "serve", "--policy", policy, "--log", self.decisions]

    def reload(self, seconds=60):
        """Sends SIGHUP and waits until the policy and the keys are in force."""
        before = len(self.said())
        self.send(signal.SIGHUP)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            lines = self.said()[before:]
            if " in force\n" in lines or "reload refused" in lines:
                if "reload refused" in lines:
                    raise RuntimeError(f"{self.name} refuses the keys: {lines.strip()[-500:]}")
                return
            time.sleep(0.01)
        raise RuntimeError(f"{self.name} logs no result of its reload")

    def findings(self):
        """Yields the findings of its decision log, with monotonic times."""
        if not self.decisions.exists():
            return
        offset = clock_offset()
        for line in self.decisions.read_text(errors="replace").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # the process was killed while it wrote the line
            for finding in entry.get("findings", ()):
                yield {"kind": "finding", "finding": finding, "gateway": self.name, "client": entry.get("client"),
                       "endpoint": entry.get("endpoint"), "status": entry.get("status"),
                       "sent": seconds(entry["time"]) - offset}

    def finish_log(self, seconds=60):
        """Waits until the decision log has the lines of all answered requests: until it has that of one more."""
        number = f"end-of-log-{time.monotonic_ns()}"
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
            try:
                connection.request("GET", f"/oauth/authorize?client_id={number}", headers={"Host": self.replicas.host})
                connection.getresponse().read()
                break
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)
            finally:
                connection.close()
        while time.monotonic() < end:
            if self.decisions.exists() and number.encode() in self.decisions.read_bytes():
                return ""
            time.sleep(0.05)
        return f"the decision log of {self.name} has no line of the last request after {seconds} s"

    def dropped(self):
        """Returns true if the decision log has gaps."""
        return self.decisions.exists() and '"event":"dropped"' in self.decisions.read_text(errors="replace")


def clock_offset():
    """Returns the clock of the machine minus the monotonic clock. A process that is interrupted between two readings gets
    another difference, so the closest pair counts. The clock of a test machine does not jump."""
    pairs = []
    for _ in range(100):
        before, wall = time.monotonic(), time.time()
        pairs.append((time.monotonic() - before, wall - before))
    return min(pairs)[1]


def seconds(text):
    """Returns the seconds since 1970 of a time in the log, such as 2026-01-31T12:00:00.123Z."""
    whole, fraction = re.fullmatch(r"([\dT:-]+)(\.\d+)?Z", text).groups()
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float(fraction or 0)
