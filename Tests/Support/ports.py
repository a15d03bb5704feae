#!/usr/bin/env python3
"""Free loopback ports for the programs that a script starts.

    Tests/Support/ports.py [COUNT]      prints COUNT ports (1)

A port is below the range from which the kernel takes the ports of outgoing connections. A port of that range can be
taken between this call and the start of the program, or while the program restarts, by any connection of the machine,
even by one that waits for the program to listen. A port also belongs to this process until it ends, so that scripts
that run at the same time never get the same one.
"""

import fcntl
import os
import pathlib
import random
import socket
import sys
import threading

# The tests in Swift use the ports below.
FIRST, LAST = 21_000, 31_999
# Each process locks the byte at the offset of its port. The kernel releases the locks of a process that ends.
LOCKS = f"/tmp/proofgate-ports-{os.getuid()}"
HOST = "127.0.0.1"

_guard = threading.Lock()
_given = set()
# The process that has opened the file: locks belong to a process, and its forks need their own.
_file, _owner = None, None


def _lock(port):
    """Returns false if another process has the port."""
    try:
        fcntl.lockf(_file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
        return True
    except OSError:
        return False


def _is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
            return True
        except OSError:
            return False


def free_ports(count):
    """Returns ports on which programs can listen now, and again after a restart."""
    global _file, _owner
    with _guard:
        if _owner != os.getpid():
            # A fork keeps the set: its parent still has these ports.
            _file = os.open(LOCKS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            _owner = os.getpid()
        lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
        last = min(LAST, lowest - 1) if lowest > FIRST + 1_000 else LAST
        # Which port it is has no influence on a test, so the choice needs no seed.
        candidates = list(range(FIRST, last + 1))
        random.SystemRandom().shuffle(candidates)
        found = []
        for port in candidates:
            if len(found) == count:
                break
            if port not in _given and _lock(port):
                if _is_free(port):
                    _given.add(port)
                    found.append(port)
                else:
                    fcntl.lockf(_file, fcntl.LOCK_UN, 1, port)
        if len(found) < count:
            raise RuntimeError(f"fewer than {count} of the ports {FIRST} to {last} are free")
        return found


def free_port():
    return free_ports(1)[0]


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
