"""Measurements of processes and the machine from /proc."""

import os
import random
import statistics
import time

TICKS = os.sysconf("SC_CLK_TCK")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def cpu_seconds(pids):
    """Returns user and system time of live processes with all their threads, including ended threads."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def resident_bytes(pids):
    """Returns the proportional set size, which counts pages that master and workers share only once."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    return total


def let_go_of(path):
    """Drops a file from the page cache, so that the kernel reads it from the disk at its next use.

    The kernel maps a program that was just written in larger pieces than one that it has read from the disk. All of a
    piece counts as resident: 13 to 15 MiB instead of 8.5.
    """
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def peak_bytes(pid):
    """Returns the largest resident set of the process so far."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))


def descriptors(pids):
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids)


def threads(pids):
    return sum(len(os.listdir(f"/proc/{pid}/task")) for pid in pids)


class Machine:
    """The processor time that others use from the creation of this object on: processes that do not descend from this
    one, and the hypervisor. The times of processes are added, because the kernel measures them exactly. It only samples
    the total of the machine, always at timer ticks, at which processes that wait for a timer begin to run."""

    def __init__(self):
        self.began, self.start, self.stolen = time.monotonic(), self._processes(), self._stolen()

    @staticmethod
    def _stolen():
        with open("/proc/stat") as file:
            return int(file.readline().split()[8])

    @staticmethod
    def _processes():
        """Returns the ticks of each process that does not descend from this one."""
        parents, ticks = {}, {}
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue  # the process has ended
            parents[int(name)] = int(fields[1])
            ticks[int(name)] = int(fields[11]) + int(fields[12])

        def is_ours(pid):
            while pid > 1 and pid != os.getpid():
                pid = parents.get(pid, 0)
            return pid == os.getpid()

        return {pid: used for pid, used in ticks.items() if not is_ours(pid)}

    def others(self):
        """Returns the shares of a core that other processes and the hypervisor use."""
        elapsed = max(time.monotonic() - self.began, 0.001) * TICKS
        used = sum(now - self.start.get(pid, 0) for pid, now in self._processes().items())
        return used / elapsed, (self._stolen() - self.stolen) / elapsed


def median(values):
    return statistics.median(values) if values else float("nan")


def interval(values, draws=2000):
    """Returns the 95 % interval of the median by bootstrap; equal values always give the same interval."""
    if len(values) < 2:
        return (values[0], values[0]) if values else (float("nan"), float("nan"))
    dice = random.Random(len(values))
    medians = sorted(statistics.median(dice.choices(values, k=len(values))) for _ in range(draws))
    return medians[int(draws * 0.025)], medians[int(draws * 0.975)]
