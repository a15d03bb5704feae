"""The checks of the project, and how to run them. `.ci/run` runs the short forms, `.ci/long` the full ones.

A check is a target of the Makefile. Some have a short form: a sample of their inputs, or fewer rounds. A sample follows from
a seed, which follows from the commit, so that each commit tries other inputs; SEED=n repeats it.

The short forms run in two lanes, one for each processor. A check begins when a lane is free and what it needs is built. The
output of each goes to .build/checks; that of a check that failed is shown at the end, and if it is a sample, the message
says whether the same sample fails on the parent commit too.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / ".build" / "checks"
# Seconds for all checks of .ci/run. They take a third of it on two idle processors.
TOTAL = 4_500


@dataclasses.dataclass(frozen=True)
class Check:
    """A target of the Makefile, with the variables of its full and of its short form."""

    target: str
    # Seconds for the short and for the full form; a check that takes longer fails. They suffice for a busy machine.
    limit: int
    long_limit: int = 0
    # The checks that must have ended before.
    after: tuple = ()
    # Variables of `make`; `{seed}` is replaced. `None`: the form does not exist.
    short: str | None = ""
    full: str | None = ""
    # True if the short form tries only some inputs, which follow from the seed.
    is_sample: bool = False
    # The lanes that the short form needs.
    lanes: int = 1
    # True if it starts servers, whose deadlines a busy machine may miss: `make flakes` repeats it.
    has_servers: bool = False
    # True if it builds, for the times that are printed.
    builds: bool = False

    def command(self, is_full, seed):
        options = (self.full if is_full else self.short).format(seed=seed)
        return f"make {self.target} {options}".rstrip()


DEBUG, STATIC, TESTS = ("deps-checks", "tests"), ("deps-checks", "build"), ("test",)

# In the order in which they begin: the long ones first, so that the lanes end at about the same time.
CHECKS = [
    Check("deps-checks", 600, lanes=2, builds=True),
    Check("tests", 1500, after=("deps-checks",), builds=True),
    Check("build", 1500, after=("deps-checks",), builds=True),
    Check("lint", 300, after=DEBUG),
    Check("test", 1500, 1800, after=DEBUG, lanes=2, has_servers=True),
    Check("cost", 600, 2400, after=DEBUG + STATIC, is_sample=True, short="COST_OPTIONS='--every 20 --seed {seed}'"),
    Check("conformance", 60, 300, after=TESTS, short="CONFORMANCE_OPTIONS=.build/tests/ConformanceTests.log"),
    Check("demo", 120, after=DEBUG, has_servers=True, short="HEADLESS=1 DEMO_OPTIONS='--device --agent'",
          full="HEADLESS=1 DEMO_OPTIONS='--device --agent'"),
    Check("check", 120, after=STATIC),
    Check("interop", 720, 1800, after=DEBUG, is_sample=True, has_servers=True,
          short="INTEROP_OPTIONS='--sample {seed}'"),
    Check("mutation", 600, 1800, after=TESTS, is_sample=True, short="MUTATION_OPTIONS='--tested --sample 16 --seed {seed}'",
          full="MUTATION_OPTIONS=--tested"),
    Check("stores", 600, after=STATIC, has_servers=True, full=None),
    Check("faults", 420, 5400, after=STATIC, has_servers=True, short="FAULTS_OPTIONS='--seconds 45'"),
    Check("soak", 420, 1800, after=STATIC, has_servers=True,
          short="SOAK_OPTIONS='--sequential 3000 --concurrent 300 --rate 300 --code-lifetime 5 --warm-up 8 --rounds 1 --growth 4 "
                "--descriptors 32'"),
    Check("documents", 420, after=DEBUG, has_servers=True),
    Check("store-crash", 420, 2700, after=DEBUG, has_servers=True,
          short="CRASH_CONFIGURATION=debug CRASH_OPTIONS=--short"),
    Check("race", 420, 900, after=DEBUG, has_servers=True, short="RACE_OPTIONS='--starts 12'"),
    Check("load", 300, 1200, after=STATIC, has_servers=True, short="LOAD_OPTIONS=--short"),
    Check("attack", 300, 600, after=DEBUG, has_servers=True),
    Check("search", 420, 3600, after=DEBUG, is_sample=True, has_servers=True,
          short="SEARCH_OPTIONS='--count 2000 --seed {seed}'"),
    Check("path-gate", 300, after=DEBUG, has_servers=True),
    Check("monitoring", 240, after=DEBUG, has_servers=True),
    Check("observe-diff", 240, after=DEBUG, has_servers=True),
    Check("pages", 420, after=DEBUG, has_servers=True, short="PAGES_OPTIONS=--short"),
    Check("gates", 240, after=STATIC),
    Check("bench", 300, 1800, after=STATIC, has_servers=True, short="BENCH_OPTIONS='--rounds 1 --seconds 2 small unix'",
          full="BENCH_OPTIONS='--gate --rounds 5 judged'"),
    Check("deploy-check", 120, after=DEBUG),
    Check("image", 240, after=STATIC),
    # Full forms only.
    # Fails for some seeds until the memory of the last kinds of input is within the limit (docs/attacks.md).
    Check("complexity", 0, 3600, short=None),
    Check("interop-twice", 0, 1800, short=None),
    Check("interop-debian", 0, 1800, short=None),
    Check("tls-check", 0, 900, short=None),
    Check("bench-instructions", 0, 900, short=None),
    Check("bench-flows", 0, 900, short=None, full="BENCH_OPTIONS=--gate"),
    Check("bench-growth", 0, 900, short=None),
    Check("package-check", 0, 900, short=None),
    Check("stores-long", 0, 3600, short=None),
    Check("fuzz", 0, 3600, short=None, full="SECONDS=60"),
    Check("sanitize", 0, 5400, short=None),
]


def tree():
    """The name of the content of the working tree, by which results are kept."""
    index = OUTPUT.parent / "checks-index"
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, GIT_INDEX_FILE=str(index))
    for command in (["git", "add", "--all"], ["git", "write-tree"]):
        found = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    index.unlink(missing_ok=True)
    return found.strip()


def seed_of_commit():
    if os.environ.get("SEED"):
        return int(os.environ["SEED"])
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return int(head[:8], 16)


def run_command(command, limit, log, folder=ROOT, seed=None):
    """Runs a command with a limit. Returns true if it succeeded. It has a group of its own, which ends with it."""
    environment = dict(os.environ, CI="true", PYTHONUNBUFFERED="1")
    if seed is not None:
        environment["SEED"] = str(seed)
    with open(log, "wb") as output:
        child = subprocess.Popen(
            command, shell=True, executable="/bin/bash", cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
            stderr=output, start_new_session=True, env=environment)
        try:
            return child.wait(limit) == 0
        except subprocess.TimeoutExpired:
            output.write(f"ci: this took longer than its limit of {limit} s\n".encode())
            return False
        finally:
            try:
                os.killpg(child.pid, signal.SIGTERM)
                time.sleep(0.5)
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class Run:
    """One run of chosen checks in lanes."""

    def __init__(self, checks, is_full, seed, lanes, keep=None):
        self.checks, self.is_full, self.seed, self.lanes = list(checks), is_full, seed, lanes
        self.keep = keep or (lambda *_: None)
        self.results, self.seconds, self.began = {}, {}, time.monotonic()
        self.changed, self.free = threading.Condition(), lanes
        self.building = {}

    def ready(self, waiting, running):
        """The first check that may begin now. One that needs all lanes waits until they are free, and holds back others."""
        names = {check.target for check in waiting} | running
        for check in waiting:
            if any(name in names for name in check.after):
                continue
            need = min(check.lanes, self.lanes)
            if need <= self.free:
                return check
            if need > 1:
                return None
        return None

    def run(self):
        OUTPUT.mkdir(parents=True, exist_ok=True)
        waiting, running, threads = list(self.checks), set(), []
        with self.changed:
            while waiting or running:
                check = self.ready(waiting, running)
                if check is None:
                    if not running:
                        raise RuntimeError(f"no check can begin: {waiting}")
                    self.changed.wait()
                    continue
                waiting.remove(check)
                running.add(check.target)
                self.free -= min(check.lanes, self.lanes)
                thread = threading.Thread(target=self.perform, args=(check, running))
                threads.append(thread)
                thread.start()
        for thread in threads:
            thread.join()

    def perform(self, check, running):
        limit = check.long_limit or check.limit if self.is_full else check.limit
        if not self.is_full:
            limit = max(1, min(limit, int(TOTAL - (time.monotonic() - self.began))))
        log, began = OUTPUT / f"{check.target}.log", time.monotonic()
        broken = [name for name in check.after if self.results.get(name) not in (None, "ok")]
        if broken:
            log.write_text(f"ci: {broken[0]} failed, so this did not run\n")
            result = "not run"
        elif run_command(check.command(self.is_full, self.seed), limit, log, seed=self.seed):
            result = "ok"
        else:
            result = "unavailable" if "unavailable:" in log.read_text(errors="replace") else "failed"
        seconds = time.monotonic() - began
        with self.changed:
            self.results[check.target], self.seconds[check.target] = result, seconds
            running.remove(check.target)
            self.free += min(check.lanes, self.lanes)
            print(f"== {check.target}: {result}, {seconds:.0f} s", flush=True)
            self.keep(check, result, seconds)
            self.changed.notify_all()

    def report_failures(self):
        """Shows the output of the checks that failed. Returns true if there are any."""
        failed = [check for check in self.checks if self.results[check.target] != "ok"]
        for check in failed:
            log = OUTPUT / f"{check.target}.log"
            lines = log.read_text(errors="replace").splitlines()
            important = [line for line in lines if "error:" in line or "✘" in line or "FAILED" in line][:40]
            print(f"\n== {check.target}: {self.results[check.target]} ({check.command(self.is_full, self.seed)})",
                  file=sys.stderr)
            for line in important + ["..."] * bool(important) + lines[-60:]:
                print(f"   {line[:400]}", file=sys.stderr)
            if check.is_sample and not self.is_full and self.results[check.target] == "failed":
                print(f"ci: {check.target}: this is a sample with seed {self.seed}; {self.parent_result(check)}",
                      file=sys.stderr)
        if failed:
            print("ci: not passed: " + ", ".join(f"{each.target} ({self.results[each.target]})" for each in failed),
                  file=sys.stderr)
        return bool(failed)

    def parent_result(self, check):
        """Runs the same sample on the parent commit."""
        left = int(TOTAL - (time.monotonic() - self.began))
        folder = ROOT / ".build" / "parent"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=False)
        added = subprocess.run(
            ["git", "worktree", "add", "--quiet", "--detach", str(folder), "HEAD^"], cwd=ROOT, check=False)
        if added.returncode != 0:
            return "there is no parent commit to compare with"
        if left < 60:
            return "no time is left to try it on the parent commit"
        log = OUTPUT / f"{check.target}-parent.log"
        passed = run_command(check.command(False, self.seed), left, log, folder, self.seed)
        return "it passes on the parent commit" if passed else f"it fails on the parent commit too (see {log.relative_to(ROOT)})"


def choose(names, is_full):
    known = [check for check in CHECKS if (check.full if is_full else check.short) is not None]
    unknown = [name for name in names if name not in {check.target for check in known}]
    if unknown:
        sys.exit(f"ci: there is no check `{unknown[0]}`; the checks are: {' '.join(each.target for each in known)}")
    if not names:
        return known
    # With what they need.
    needed = set(names)
    for check in reversed(known):
        if check.target in needed and not is_full:
            needed |= set(check.after)
    for check in reversed(known):
        if check.target in needed and not is_full:
            needed |= set(check.after)
    return [check for check in known if check.target in needed]


def run_short(names):
    """Runs the short forms. Returns the exit code."""
    run = Run(choose(names, False), False, seed_of_commit(), lanes=2)
    print(f"ci: seed {run.seed}", flush=True)
    run.run()
    build = sum(run.seconds[check.target] for check in run.checks if check.builds)
    other = sum(run.seconds[check.target] for check in run.checks if not check.builds)
    print(f"ci: {time.monotonic() - run.began:.0f} s in all; in two lanes, packages and builds took {build:.0f} s, "
          f"checks {other:.0f} s")
    tests = OUTPUT / "test.log"
    failed = run.report_failures()
    if "test" in run.results and tests.exists():
        slowest = tests.read_text(errors="replace").splitlines()
        start = next((i for i, line in enumerate(slowest) if line.startswith("tests: the slowest")), None)
        if start is not None:
            print("\n".join(line for line in slowest[start:start + 21]))
        counts = [line for line in slowest if line.startswith("Test run with ")]
        if not counts:
            print("ci: the test run did not say how many tests ran", file=sys.stderr)
            return 1
        if not failed:
            print(counts[-1])
    return 1 if failed else 0


def run_long(names):
    """Runs the full forms one after the other, and goes on where an earlier run of the same tree ended."""
    checks, name = choose(names, True), tree()
    file = ROOT / ".build" / "long" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(file.read_text()) if file.exists() else {}

    def keep(check, result, seconds):
        known[check.target] = [result, round(seconds)]
        file.write_text(json.dumps(known, indent=1) + "\n")

    left = [check for check in checks if known.get(check.target, [""])[0] != "ok"]
    if len(left) < len(checks):
        print(f"ci: {len(checks) - len(left)} checks of this tree have passed before (.build/long/{name}.json)")
    run = Run(left, True, seed_of_commit(), lanes=1, keep=keep)
    run.run()
    run.report_failures()
    print(f"{'check':<20} {'seconds':>8}  result")
    for check in checks:
        result, seconds = known[check.target]
        print(f"{check.target:<20} {seconds:>8}  {result}")
    return int(any(known[check.target][0] != "ok" for check in checks))


if __name__ == "__main__":
    form, *chosen = sys.argv[1:]
    sys.exit({"short": run_short, "full": run_long}[form](chosen))
