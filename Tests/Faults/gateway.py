"""A gateway under strace, and its state in /proc."""

import http.client
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import upstream
import workload

sys.path.insert(0, str(workload.ROOT / "Tests" / "Support"))

from ports import free_ports  # noqa: E402

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
  limits: {{ header_timeout: {header_timeout}, body_timeout: 3s, idle_timeout: 3s }}
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
    raw_refresh_until: never
    upstream: {{ redirect_uri: requested }}
    consent: upstream
"""
START = 60  # seconds until the gateway listens or has ended
END = 60  # seconds from SIGTERM; the drain takes at most 4
TICKS = os.sysconf("SC_CLK_TCK")
# Of 0.25 s without a request.
BUSY = 0.12  # seconds of processor time


class Gateway:
    """A gateway as a child process; the tracer is a grandchild that detaches when it ends (`strace -D`)."""

    def __init__(self, program, folder, header_timeout="3s"):
        self.program, self.folder = program, pathlib.Path(folder)
        self.upstream = upstream.Upstream()
        self.port, self.tls_port, self.admin = free_ports(3)
        self.trace, self.errors = self.folder / "trace", self.folder / "errors"
        self.policy = self.folder / "policy.yaml"
        self.policy.write_text(POLICY.format(
            port=self.port, tls_port=self.tls_port, admin=self.admin, upstream=self.upstream.port,
            header_timeout=header_timeout,
            certificates=workload.ROOT / "Tests" / "Certificates"))
        self.child = None

    def start(self, tracing):
        """Starts the gateway with these options of strace, or without strace if they are `None`. Returns true if it serves,
        false if it has ended."""
        tracer = [] if tracing is None else ["strace", "-D", "-f", "-qq", "-y", "-o", str(self.trace), *tracing]
        command = [*tracer, self.program, "serve", "--policy", str(self.policy), "--log", str(self.folder / "decisions")]
        with open(self.errors, "wb") as errors:
            self.child = subprocess.Popen(command, stdout=errors, stderr=errors, start_new_session=True)
        end = time.monotonic() + START
        while time.monotonic() < end:
            if self.child.poll() is not None:
                return False
            # The ports are bound before the workers start, which may still fail: a response shows that they run.
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START)
            try:
                connection.request("GET", "/")
                connection.getresponse().read()
                return True
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)
            finally:
                connection.close()
        raise workload.Wrong(f"the gateway neither serves nor ends within {START} s")

    def text(self):
        return self.errors.read_text(errors="replace")

    def reload(self):
        before = self.reloads()
        self.child.send_signal(signal.SIGHUP)
        end = time.monotonic() + workload.PATIENCE
        while time.monotonic() < end:
            # The log line is not used: its write may be the call that fails.
            if self.child.poll() is not None or self.reloads() > before:
                return
            time.sleep(0.05)
        raise workload.Wrong(f"SIGHUP had no effect within {workload.PATIENCE} s")

    def reloads(self):
        """Returns the number of adopted and refused reloads, if the admin listener answers."""
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

    def leaked(self, limit, seconds=30):
        """Returns the number of descriptors above `limit` once idle connections have ended; 0 as soon as there is
        none."""
        end = time.monotonic() + seconds
        while (count := self.descriptors()) > limit and time.monotonic() < end:
            time.sleep(0.05)
        return max(0, count - limit)

    def processor_time(self):
        fields = pathlib.Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def is_busy(self):
        """Returns true if the gateway uses processor time without a request. Measures three times, to ignore short
        work."""
        for _ in range(3):
            before = self.processor_time()
            time.sleep(0.25)
            if self.processor_time() - before < BUSY:
                return False
        return True

    def terminate(self):
        """Sends SIGTERM. Returns the exit code."""
        self.child.send_signal(signal.SIGTERM)
        try:
            return self.child.wait(END)
        except subprocess.TimeoutExpired as error:
            raise workload.Wrong(f"the gateway does not end within {END} s of SIGTERM") from error

    def close(self):
        if self.child and self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait(60)
        self.upstream.close()

    def injected(self):
        """Returns the failed calls as strace printed them."""
        if not self.trace.exists():
            return []
        begun, lines = {}, []
        for line in self.trace.read_text(errors="replace").splitlines():
            thread, _, text = line.partition(" ")
            # If a line of another thread interrupts a call, the call has two lines, and only the first has the
            # arguments.
            if text.endswith("<unfinished ...>"):
                begun[thread] = text.lstrip().removesuffix("<unfinished ...>")
            if "(INJECTED)" not in line:
                continue
            if found := re.match(r"\s*<\.\.\. \w+ resumed>(.*)", text):
                line = f"{thread} {begun.pop(thread, '')}{found[1]}"
            lines.append(line)
        return lines
