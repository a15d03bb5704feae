"""The programs of a run. Each is a child process on free ports of loopback, and is ended by its process id."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Support"))

from ports import free_ports  # noqa: E402,F401

START = 60  # seconds until a program must listen


class Child:
    """A program that is ready when it accepts connections on `port`."""

    def __init__(self, folder, name, port):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder))
        self.name, self.port, self.process = name, port, None

    def command(self):
        raise NotImplementedError

    def write(self, name, text):
        path = self.folder / name
        path.touch(mode=0o600)  # some of these files are secrets
        path.write_text(text)
        return path

    def launch(self):
        """Starts the program without waiting for it."""
        with open(self.folder / "log", "ab") as log:
            # The kernel ends the child if this process dies without a chance to do so.
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *map(str, self.command())], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True)

    def start(self):
        self.launch()
        return self.wait()

    def wait(self):
        """Waits until the program is ready."""
        end = time.monotonic() + START
        while time.monotonic() < end and self.process.poll() is None:
            if self.is_ready():
                return self
            time.sleep(0.01)
        raise RuntimeError(f"{self.name} does not start: {self.said()[-1500:].strip()}")

    def is_ready(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def said(self):
        path = self.folder / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def pid(self):
        return self.process.pid

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def send(self, number):
        if self.is_running:
            self.process.send_signal(number)

    def freeze(self):
        self.send(signal.SIGSTOP)

    def thaw(self):
        self.send(signal.SIGCONT)

    def kill(self):
        """Ends the program without warning."""
        self.send(signal.SIGKILL)
        if self.process is not None:
            self.process.wait(60)

    def stop(self):
        """Asks the program to end, and ends it after 5 s."""
        self.thaw()
        self.send(signal.SIGTERM)
        try:
            if self.process is not None:
                self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()

    def problem(self):
        """Returns why the program does not run any more, or an empty text."""
        if self.is_running or self.process is None:
            return ""
        code = self.process.poll()
        cause = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return f"{self.name} ended with {cause}: {self.said()[-500:].strip()}"

    def unread(self):
        """Returns the number of bytes that clients have sent to `port` and that the program has not read."""
        local = f":{self.port:04X}"
        with open("/proc/net/tcp") as table:
            rows = [line.split() for line in table.readlines()[1:]]
        return sum(int(row[4].partition(":")[2], 16) for row in rows if row[1].endswith(local) and row[3] != "0A")

    def resident(self):
        """Returns the resident memory in bytes."""
        fields = pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


class HAProxy(Child):
    """A load balancer that sends each request to a random replica, on a connection of its own."""

    def __init__(self, folder, gateways, port):
        super().__init__(folder, "haproxy", port)
        self.gateways = gateways

    def command(self):
        servers = "\n".join(
            f"  server {each.name} 127.0.0.1:{each.port} check inter 200ms fall 1 rise 1" for each in self.gateways)
        return ["haproxy", "-db", "-f", self.write("haproxy.cfg", f"""global
  maxconn 4096
defaults
  mode http
  timeout connect 2s
  # Otherwise a check that lasts longer than its interval counts as failed, which a busy machine can cause.
  timeout check 10s
  timeout client 60s
  timeout server 20s
  # A request that reached no replica goes to another one. A request that reached one is never sent again.
  retries 3
  option redispatch 1
  option http-server-close
  http-reuse never
frontend in
  bind 127.0.0.1:{self.port}
  default_backend gateways
backend gateways
  balance random
  http-after-response set-header X-Replica %s
{servers}
""")]


class Stage:
    """All programs of a scenario."""

    def __init__(self, options, folder):
        self.options, self.folder, self.children = options, pathlib.Path(folder), []

    def add(self, child):
        self.children.append(child)
        return child

    def start(self, child):
        return self.add(child).start()

    def history(self, name):
        """Returns the file for the history of a run."""
        folder = pathlib.Path(self.options.history)
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.jsonl"

    def problems(self):
        """Returns why programs have ended that should run."""
        return [text for child in self.children if (text := child.problem())]

    def close(self):
        for child in reversed(self.children):
            child.stop()
