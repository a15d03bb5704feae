"""A flood of client registrations with different metadata, and the gateway's memory and store after it."""

import pathlib
import re
import subprocess
import time

import measure
import peers
import stage

REGISTRATIONS = 1_000_000
WARM_UP = 50_000  # buffers and allocator reach a stable size
ROUND = 10  # seconds of one run of wrk
ROUNDS = 120  # more than the slowest machine needs
CONNECTIONS = 32
# The usual variation of a process. Four bytes per registration would be twice as much.
MEMORY = 2.0  # MiB
SCRIPT = pathlib.Path(__file__).parent / "registrations.lua"


class Gateway(stage.Gateway):
    """A gateway at which any program can register, without limits of the rate."""

    def write_policy(self):
        keys = self.folder / "keys"
        if not keys.exists():
            subprocess.run([self.program, "keys", "generate", "--registration", "--file", keys], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = pathlib.Path(super().write_policy())
        with path.open("a") as policy:
            policy.write("""registration:
  scopes: [mail]
  secrets: true
  redirects: { loopback: true }
  upstream: { client_id: legacy-web, client_secret: { file: secret } }
""")
        return str(path)

    def command(self):
        # A line of the log for each registration would need hundreds of MiB.
        return [self.program, "serve", "--policy", self.write_policy(), "--log", "/dev/null"]


def register(gateway, wanted, name):
    """Sends at least `wanted` registrations. Returns the numbers of answers and refusals, and the worst p99 in ms."""
    answers = refusals = worst = 0
    for number in range(ROUNDS):
        if answers >= wanted:
            break
        seconds = ROUND if wanted > WARM_UP else 2
        text = subprocess.run(
            ["taskset", "-c", peers.LOAD_CORE, "wrk", "-t", "2", "-c", str(CONNECTIONS), "-d", f"{seconds}s",
             "-s", SCRIPT, f"http://127.0.0.1:{gateway.port}", "--", f"{name}{number}"],
            capture_output=True, text=True, timeout=seconds + 120, check=True).stdout
        found = re.search(r"^registrations: (\d+), (\d+), (\d+)$", text, re.M)
        if not found:
            raise RuntimeError(f"wrk has no result: {text}")
        answers += int(found.group(1))
        refusals += int(found.group(2))
        worst = max(worst, int(found.group(3)) / 1000)
    return answers, refusals, worst


def held(gateway):
    """Returns the resident memory in MiB, and the entries and bytes of the store."""
    time.sleep(3)
    return (measure.resident_bytes(gateway.pids()) / 2**20, gateway.metric("proofgate_store_entries"),
            gateway.metric("proofgate_store_bytes"))


def run(options, folder, judge):
    wanted = options.requests or (5_000 if options.short else REGISTRATIONS)
    allowed = 12 if options.short else MEMORY
    gateway = Gateway(
        folder, options.proofgate, peers.free_port(), workers=2,
        limits="registrations: off, registrations_per_network: off, requests_per_connection: 1000000000").start()
    try:
        register(gateway, 2_000 if options.short else WARM_UP, "w")
        before, began = held(gateway), time.monotonic()
        answers, refusals, worst = register(gateway, wanted, "r")
        duration = time.monotonic() - began
        after = held(gateway)
        problems = []
        if answers < wanted:
            problems.append(f"only {answers} of {wanted} registrations in time")
        if refusals:
            problems.append(f"{refusals} registrations were refused")
        if after[0] > before[0] + allowed:
            problems.append(f"memory grew by {after[0] - before[0]:.1f} MiB, more than {allowed}")
        if after[1:] != before[1:]:
            problems.append(f"the store has {after[1]:.0f} entries of {after[2]:.0f} bytes, {before[1]:.0f} of "
                            f"{before[2]:.0f} before")
        judge("registrations",
              f"{answers} different registrations in {duration:.0f} s, p99 {worst:.1f} ms; memory {before[0]:.1f} MiB "
              f"before and {after[0]:.1f} MiB after, store {before[1]:.0f} and {after[1]:.0f} entries", problems)
    finally:
        gateway.stop()
