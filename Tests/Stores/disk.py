"""A disk that is full, or that fails, under a gateway with its store in a file.

strace makes the system calls of the gateway that write to the file fail for some seconds. While they fail, no code and
no token is accepted; `/readyz` names the reason; sign-ins work again within two seconds after the disk does.
"""

import asyncio
import json
import pathlib
import shutil
import signal
import subprocess
import time
import urllib.request

import app
import gateway
import history
import judge
import legacy
import load
import processes

RECOVERY = 2.0  # seconds
ATTACH = 60  # seconds until strace has attached to all threads
# The system calls that fail, the error, and a part of the reason that the gateway gives.
FAULTS = {
    "full": ("pwrite64,ftruncate,fallocate", "ENOSPC", "full"),
    "failing sync": ("fdatasync,fsync", "EIO", "I/O"),
    "failing write": ("pwrite64", "EIO", "I/O"),
}


class Injection:
    """A strace that makes system calls of a process fail until it is ended."""

    def __init__(self, pid, calls, error):
        self.process = subprocess.Popen(
            ["strace", "--follow-forks", "--attach", str(pid), "--output", "/dev/null", "--trace", calls,
             "--inject", f"{calls}:error={error}"], stderr=subprocess.PIPE, text=True)
        self.threads = pathlib.Path(f"/proc/{pid}/task")

    def wait(self):
        """Waits until strace traces each thread of the process."""
        end = time.monotonic() + ATTACH
        while time.monotonic() < end and self.process.poll() is None:
            if all("TracerPid:\t0\n" not in each.read_text() for each in self.threads.glob("*/status")):
                return
            time.sleep(0.01)
        raise RuntimeError(f"strace does not attach: {self.end()}")

    def end(self):
        """Detaches. Returns what strace has said."""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=ATTACH)[1].strip()


def readiness(at):
    """Returns the part of `/readyz` on the store."""
    with urllib.request.urlopen(f"http://127.0.0.1:{at.admin}/readyz", timeout=60) as answer:
        return json.load(answer)["store"]


async def play(stage, verdict):
    options = stage.options
    if not shutil.which("strace"):
        raise RuntimeError("needs strace (make stores installs it)")
    seconds, limit = 1 if options.short else 5, options.limit_of(RECOVERY)
    server = stage.start(legacy.Legacy(stage.folder))
    users = 8 if options.short else 16
    replicas = gateway.Replicas(
        stage, server, f"{{ file: {stage.folder}/state.db }}", processes.free_ports(1)[0], load.clients(users),
        workers=2, count=1)
    at = stage.start(gateway.Gateway(replicas, "gateway-0"))
    past = history.History(stage.history("disk"))
    probe = app.App("probe", replicas.host, past)
    if await load.recovered(probe, [at], 60) is None:
        raise RuntimeError(f"no sign-in works before the first fault{past.latest()}")
    running = load.Load(users, [at], replicas.host, past, pages=True).start()
    await asyncio.sleep(1)
    problems, recoveries = [], []
    for kind, (calls, error, reason) in FAULTS.items():
        injection = Injection(at.pid, calls, error)
        try:
            await asyncio.to_thread(injection.wait)
            began = time.monotonic()
            await asyncio.sleep(seconds)
            state = await asyncio.to_thread(readiness, at)
            # On a busy machine, nothing may have been written yet.
            while state["ok"] and time.monotonic() < began + ATTACH:
                await asyncio.sleep(0.2)
                state = await asyncio.to_thread(readiness, at)
            until = time.monotonic()
        finally:
            said = await asyncio.to_thread(injection.end)
        past.fault(kind, began, until, dark=[at.name])
        if state["ok"] or reason not in state.get("detail", ""):
            problems.append(f"{kind}: /readyz says {json.dumps(state)}; strace said {said!r}")
        took = await load.recovered(probe, [at], limit * 5)
        if took is None or took > limit:
            problems.append(f"{kind}: the first sign-in that works is {took or limit * 5:.1f} s after it, more than "
                            f"{limit} s{past.latest()}")
        recoveries.append(took or limit * 5)
        await asyncio.sleep(1)
    await running.stop()
    probe.close()
    problems += past.collect(server, [at]) + judge.problems(past)
    taken = ", ".join(f"{kind} {took:.2f} s" for kind, took in zip(FAULTS, recoveries))
    verdict("disk", f"{len(FAULTS)} faults of {seconds} s; sign-ins work again after: {taken}; {load.figures(past)}",
            problems + stage.problems())


def run(stage, verdict):
    asyncio.run(play(stage, verdict))
