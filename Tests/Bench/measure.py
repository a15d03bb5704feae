"""What the kernel says about processes and the machine."""

import os
import random
import statistics

TICKS = os.sysconf("SC_CLK_TCK")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def cpu_seconds(pids):
    """User and system time of live processes, all threads, ended ones included."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def resident_bytes(pids):
    """The proportional set size, so that pages shared by master and workers count once."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    return total


def peak_bytes(pid):
    """The largest resident set so far."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))


def descriptors(pids):
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids)


def threads(pids):
    return sum(len(os.listdir(f"/proc/{pid}/task")) for pid in pids)


class Machine:
    """Processor time of the whole machine since this was made."""

    def __init__(self):
        self.start = self._read()

    @staticmethod
    def _read():
        with open("/proc/stat") as file:
            user, nice, system, idle, wait, irq, softirq, steal = map(int, file.readline().split()[1:9])
        return user + nice + system + irq + softirq, steal, idle + wait

    def since(self):
        """Seconds: busy, stolen by the hypervisor, idle."""
        return [(now - then) / TICKS for now, then in zip(self._read(), self.start)]


def median(values):
    return statistics.median(values) if values else float("nan")


def interval(values, draws=2000):
    """The 95 % interval of the median, by bootstrap; the same values always give the same interval."""
    if len(values) < 2:
        return (values[0], values[0]) if values else (float("nan"), float("nan"))
    dice = random.Random(len(values))
    medians = sorted(statistics.median(dice.choices(values, k=len(values))) for _ in range(draws))
    return medians[int(draws * 0.025)], medians[int(draws * 0.975)]
