"""A store in a file that cannot be written when a gateway starts, or when it is checked or reset.

Each case runs in a mount namespace of its own, in which the directory of the store is read-only or its disk is full. The
gateway does not start: its last message names the file, the reason and the solution. The file keeps its content, and no
empty store takes its place.
"""

import os
import shutil
import subprocess

import gateway
import processes

READ_ONLY = ("read-only", "make it writable")
FULL = ("the disk is full", "free some space")

BIND = "mount --bind {place} {place}"
READ_ONLY_DIRECTORY = BIND + " && mount -o remount,bind,ro {place}"
# The file can be written, but no file can be created next to it.
READ_ONLY_EXCEPT_FILE = READ_ONLY_DIRECTORY + " && mount --bind {saved} {place}/state.db"
TMPFS = "mount -t tmpfs -o size={size}k tmpfs {place}"
FILL = "{{ dd if=/dev/zero of={place}/filler bs=1k 2>/dev/null || true; }}"
FULL_DISK = TMPFS + " && " + FILL
FULL_DISK_WITH_STORE = TMPFS + " && cp {saved} {place}/state.db && " + FILL

# The case, the commands that prepare it, the command of the gateway, whether the store exists, and the words.
CASES = (
    ("a start with a read-only directory", READ_ONLY_DIRECTORY, "serve", True, READ_ONLY),
    ("a start with a read-only directory and no store", READ_ONLY_DIRECTORY, "serve", False, READ_ONLY),
    ("a start with a directory that only lets the file be written", READ_ONLY_EXCEPT_FILE, "serve", True, READ_ONLY),
    ("a check in a read-only directory", READ_ONLY_DIRECTORY, "check", True, READ_ONLY),
    ("a reset in a read-only directory", READ_ONLY_DIRECTORY, "reset", True, READ_ONLY),
    ("a start with a full disk", FULL_DISK_WITH_STORE, "serve", True, FULL),
    ("a start with a full disk and no store", FULL_DISK, "serve", False, FULL),
    ("a start with a nearly full disk and no store", TMPFS.replace("{size}", "16"), "serve", False, FULL),
    ("a reset on a full disk", FULL_DISK_WITH_STORE, "reset", True, FULL),
)
SIZE = 1_024  # KiB of a disk
LIMIT = 120  # seconds of a case


def namespace():
    """Returns the command that runs another in a mount namespace in which it may mount."""
    return ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]


class Case:
    def __init__(self, stage, replicas, number):
        self.folder = stage.folder / f"case-{number}"
        self.place, self.saved = self.folder / "store", self.folder / "saved.db"
        self.place.mkdir(parents=True)
        replicas.store = f"{{ file: {self.place}/state.db }}"
        self.policy = self.folder / "policy.yaml"
        self.policy.write_text(replicas.policy(*processes.free_ports(2)))
        self.program = stage.options.proofgate

    def make_store(self):
        """Creates the store, and keeps a copy."""
        path = self.place / "state.db"
        done = subprocess.run([self.program, "store", "reset", path], capture_output=True, text=True, timeout=LIMIT)
        if done.returncode:
            raise RuntimeError(f"no store can be made: {done.stderr}")
        shutil.copyfile(path, self.saved)

    def run(self, preparation, command, exists, words):
        """Returns the problems."""
        if exists:
            self.make_store()
        path = self.place / "state.db"
        run = f"serve --policy {self.policy} --log /dev/null" if command == "serve" else f"store {command} {path}"
        prepared = preparation.format(place=self.place, saved=self.saved, size=SIZE)
        # What is mounted is visible only in the namespace, so the files are listed there. A gateway that starts is ended.
        script = f"""{prepared} || exit 99
timeout {LIMIT // 2} {self.program} {run} >/dev/null; code=$?
ls {self.place} >{self.folder}/files
if test -e {path}; then cp {path} {self.folder}/after.db; fi
exit $code
"""
        done = subprocess.run([*namespace(), "sh", "-c", script], capture_output=True, text=True, timeout=LIMIT)
        last = (done.stderr.strip().splitlines() or [""])[-1]
        if done.returncode == 99:
            raise RuntimeError(f"the case cannot be prepared: {done.stderr.strip()}")
        problems = []
        if done.returncode != 2:
            problems.append(f"exit code {done.returncode} and not 2: {last}")
        for each in (str(path), *words):
            if each not in last:
                problems.append(f"the message lacks `{each}`: {last}")
        files = set((self.folder / "files").read_text().split()) - {"filler", "state.db-wal"}
        if files != ({"state.db"} if exists else set()):
            problems.append(f"the files afterwards are {sorted(files)}")
        after = self.folder / "after.db"
        if exists and (not after.exists() or after.read_bytes() != self.saved.read_bytes()):
            problems.append("the store has other content than before")
        return problems


def run(stage, verdict):
    if not shutil.which("unshare") or subprocess.run([*namespace(), "true"], capture_output=True).returncode:
        raise RuntimeError("needs unshare and the right to mount in a namespace")
    legacy = type("Upstream", (), {"port": processes.free_ports(1)[0]})
    replicas = gateway.Replicas(stage, legacy, "memory", processes.free_ports(1)[0], ["app0"], count=1)
    problems = []
    for number, (name, preparation, command, exists, words) in enumerate(CASES):
        try:
            problems += [f"{name}: {each}" for each in Case(stage, replicas, number).run(
                preparation, command, exists, words)]
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            problems.append(f"{name}: {error}")
    verdict("start", f"{len(CASES)} starts, checks and resets with a store that cannot be written: each ends with an error "
            "that names the file, the reason and the solution, and changes nothing", problems)
