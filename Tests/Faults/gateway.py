"""A gateway under strace, and what /proc says of it."""

import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import upstream
import workload

POLICY = """version: 1
gateway:
  origin: http://127.0.0.1:{port}
  listeners:
    - address: 127.0.0.1:{port}
    - address: 127.0.0.1:{tls_port}
      tls: {{ certificate: "{certificates}/gateway.pem", private_key: "{certificates}/gateway.key" }}
  admin: 127.0.0.1:{admin}
  workers: 1
  drain_timeout: 4s
  limits: {{ header_timeout: 3s, body_timeout: 3s, idle_timeout: 3s }}
upstream:
  url: http://127.0.0.1:{upstream}
  endpoints: {{ authorization: /oauth/authorize, token: /oauth/token }}
  connect_timeout: 2s
  response_timeout: 3s
clients:
  - id: com.example.app
    type: public
    application: native
    redirect_uris: ["com.example.app:/cb"]
    upstream: {{ redirect_uri: requested }}
    consent: upstream
"""
START = 20  # seconds until it listens or has ended
END = 9  # seconds from SIGTERM; the drain takes 4 at most
TICKS = os.sysconf("SC_CLK_TCK")
# Of 0.25 s without a request.
BUSY = 0.12  # seconds of processor time


def free_ports(count):
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in listeners]
    for each in listeners:
        each.close()
    return ports


class Gateway:
    """A child of ours; the tracer is a grandchild that detaches when it ends (`strace -D`)."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.upstream = upstream.Upstream()
        self.port, self.tls_port, self.admin = free_ports(3)
        self.trace, self.errors = self.folder / "trace", self.folder / "errors"
        self.policy = self.folder / "policy.yaml"
        self.policy.write_text(POLICY.format(
            port=self.port, tls_port=self.tls_port, admin=self.admin, upstream=self.upstream.port,
            certificates=workload.ROOT / "Tests" / "Certificates"))
        self.child = None

    def start(self, tracing):
        """Starts it with these options of strace. True if it serves, false if it has ended."""
        command = ["strace", "-D", "-f", "-qq", "-y", "-o", str(self.trace), *tracing, self.program, "serve",
                   "--policy", str(self.policy), "--log", str(self.folder / "decisions")]
        with open(self.errors, "wb") as errors:
            self.child = subprocess.Popen(command, stdout=errors, stderr=errors, start_new_session=True)
        end = time.monotonic() + START
        while time.monotonic() < end:
            if self.child.poll() is not None:
                return False
            try:
                # Bound before the workers start, so that what is sent now is answered a moment later.
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return True
            except OSError:
                time.sleep(0.02)
        raise workload.Wrong(f"it neither serves nor ends within {START} s")

    def text(self):
        return self.errors.read_text(errors="replace")

    def reload(self):
        before = self.reloads()
        self.child.send_signal(signal.SIGHUP)
        end = time.monotonic() + workload.PATIENCE
        while time.monotonic() < end:
            # Not by what it says: the write of that line may be the call that fails.
            if self.child.poll() is not None or self.reloads() > before:
                return
            time.sleep(0.05)
        raise workload.Wrong(f"SIGHUP had no effect within {workload.PATIENCE} s")

    def reloads(self):
        """How many reloads were adopted or refused, as far as the admin listener answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.admin, timeout=workload.PATIENCE)
        try:
            connection.request("GET", "/metrics")
            text = connection.getresponse().read().decode()
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()
        return sum(int(count) for count in re.findall(r"^proofgate_policy_reloads_total\{[^}]*\} (\d+)$", text, re.M))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))

    def leaked(self, limit, seconds=5):
        """How many descriptors it has above `limit` once its idle connections have ended; 0 as soon as there are none."""
        end = time.monotonic() + seconds
        while (count := self.descriptors()) > limit and time.monotonic() < end:
            time.sleep(0.05)
        return max(0, count - limit)

    def processor_time(self):
        fields = pathlib.Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def is_busy(self):
        """True if it uses processor time without a request: three looks, so that work that ends is no loop."""
        for _ in range(3):
            before = self.processor_time()
            time.sleep(0.25)
            if self.processor_time() - before < BUSY:
                return False
        return True

    def terminate(self):
        """SIGTERM; the exit code."""
        self.child.send_signal(signal.SIGTERM)
        try:
            return self.child.wait(END)
        except subprocess.TimeoutExpired as error:
            raise workload.Wrong(f"SIGTERM is not obeyed within {END} s") from error

    def close(self):
        if self.child and self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait(10)
        self.upstream.close()

    def injected(self):
        """The calls that failed, as strace wrote them."""
        if not self.trace.exists():
            return []
        begun, lines = {}, []
        for line in self.trace.read_text(errors="replace").splitlines():
            thread, _, text = line.partition(" ")
            # A call that another thread's line interrupts is in two lines, of which only the first has the arguments.
            if text.endswith("<unfinished ...>"):
                begun[thread] = text.lstrip().removesuffix("<unfinished ...>")
            if "(INJECTED)" not in line:
                continue
            if found := re.match(r"\s*<\.\.\. \w+ resumed>(.*)", text):
                line = f"{thread} {begun.pop(thread, '')}{found[1]}"
            lines.append(line)
        return lines
