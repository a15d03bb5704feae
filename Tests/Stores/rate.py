"""Redemptions a second at one gateway with each engine of the store, and the processor time of one redemption.

Each code is redeemed once, by 64 clients of wrk, which share the second processor with the upstream (nginx) and the
Redis server. The figures are printed; `--judge` compares them with the budgets.
"""

import json
import pathlib
import shutil
import sys
import time
import urllib.request

import processes
import servers

sys.path.insert(0, str(processes.ROOT / "Tests" / "Bench"))

import measure  # noqa: E402
import peers  # noqa: E402
import scenarios  # noqa: E402

RATE = 10_000  # redemptions a second, with `file` and with `redis`
RATIO = 1.25  # processor time with `redis`, compared with `memory`
MEMORY = "store: { memory: 4GiB }"  # the line in the policy of the benchmark


START = 60  # seconds until the store can be used


class Measured(peers.Proofgate):
    """The gateway of the benchmark with another store."""

    def __init__(self, folder, upstream, program, store, workers):
        super().__init__(folder, upstream, program, workers=workers)
        self.store = store

    def command(self):
        command = super().command()
        policy = pathlib.Path(command[-1])
        text = policy.read_text()
        if MEMORY not in text:
            raise RuntimeError("the policy of Tests/Bench/peers.py has another store than expected")
        policy.write_text(text.replace(MEMORY, self.store))
        return command


def wait_for_store(proxy):
    """The gateway connects to a Redis server after its start."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + START
    while True:
        try:
            with opener.open(f"http://127.0.0.1:{proxy.admin}/readyz", timeout=START) as answer:
                if json.load(answer)["store"]["ok"]:
                    return
        except OSError:
            pass  # it does not listen there yet, or is not ready
        if time.monotonic() > end:
            raise RuntimeError(f"the store cannot be used {START} s after the start")
        time.sleep(0.05)


def once(stage, store, workers, upstream, seconds):
    """Returns redemptions a second, microseconds of processor time for each, and the requests that failed."""
    proxy = Measured(stage.folder, upstream.port, stage.options.proofgate, store, workers)
    try:
        proxy.start()
        wait_for_store(proxy)
        scenarios.fetch_codes(proxy, stage.folder)
        before = measure.cpu_seconds(proxy.pids())
        load = scenarios.token(proxy, seconds, stage.folder)
        used = measure.cpu_seconds(proxy.pids()) - before
        return load.requests / load.seconds, used / load.requests * 1e6, load.errors
    finally:
        proxy.stop()


def measured(stage, engine, store, upstream, rates, costs):
    """Measures the rate with a worker on each processor, and the cost with one worker. Returns the failed requests."""
    if stage.options.short:
        rates[engine], _, errors = once(stage, store, 2, upstream, 2)
        return errors
    rate, _, errors = once(stage, store, 2, upstream, 8)
    _, cost, more = once(stage, store, 1, upstream, 8)
    rates[engine] = max(rate, rates.get(engine, 0))
    costs[engine] = min(cost, costs.get(engine, cost))
    return errors + more


def run(stage, verdict):
    options = stage.options
    missing = [name for name in ("wrk", "nginx", "taskset") if not shutil.which(name)]
    if missing:
        raise RuntimeError(f"needs {', '.join(missing)}")
    scenarios.CODES = 4_000 if options.short else 20_000
    redis = stage.start(servers.Redis(stage.folder, "redis"))
    password = stage.folder / "password"
    password.touch(mode=0o600)
    password.write_text(servers.PASSWORD)
    engines = {
        "memory": MEMORY,
        "file": f"store: {{ file: {stage.folder}/store.db }}",
        "redis": f'store: "redis://proofgate@127.0.0.1:{redis.port}"\n  store_password: {{ file: {password} }}',
    }
    upstream = peers.Upstream(stage.folder).start()
    if options.short:
        del engines["memory"]
    problems, rates, costs = [], {}, {}
    try:
        for number in range(options.rounds_of(3, 1)):
            for engine, store in engines.items():
                try:
                    errors = measured(stage, engine, store, upstream, rates, costs)
                except RuntimeError as error:
                    problems.append(f"{engine}: {error}")
                    continue
                if errors:
                    problems.append(f"{engine}: {errors} redemptions failed")
    finally:
        upstream.stop()
    text = ", ".join(f"{engine} {rate:.0f}" for engine, rate in rates.items()) + " redemptions a second"
    if costs:
        text += "; " + ", ".join(f"{engine} {cost:.0f}" for engine, cost in costs.items()) + " us of CPU each"
    if options.judge:
        problems += [f"{engine}: {rates[engine]:.0f} redemptions a second, fewer than {RATE}"
                     for engine in ("file", "redis") if engine in rates and rates[engine] < RATE]
        ratio = costs["redis"] / costs["memory"] if {"redis", "memory"} <= costs.keys() else 0
        if ratio > RATIO:
            problems.append(f"redis costs {ratio:.2f} times as much as memory, more than {RATIO}")
    verdict("file", text, problems)
