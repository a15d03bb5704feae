"""Redis servers and sentinels of the machine, each on a free port of loopback."""

import re
import socket
import time

import processes

NAME = "main"  # of the primary, for the sentinels
PASSWORD = "password-of-the-gateway"
DOWN = 800  # milliseconds without an answer after which a sentinel considers the primary down
FAILOVER = 2_000  # milliseconds of the failover timeout


class RedisError(Exception):
    """An error reply."""


def command(port, *words, seconds=20.0, encoding="utf-8"):
    """Executes a command as the default user. Raises `OSError` if there is no answer in time."""
    data = b"*%d\r\n" % len(words)
    for word in words:
        word = str(word).encode()
        data += b"$%d\r\n%s\r\n" % (len(word), word)
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        connection.sendall(data)
        with connection.makefile("rb") as reader:
            return reply(reader, encoding)


def reply(reader, encoding="utf-8"):
    line = reader.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionError("the connection ended")
    kind, rest = line[:1], line[1:-2].decode()
    if kind == b"-":
        raise RedisError(rest)
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return None if rest == "-1" else reader.read(int(rest) + 2)[:-2].decode(encoding, "replace")
    if kind == b"*":
        return None if rest == "-1" else [reply(reader, encoding) for _ in range(int(rest))]
    return rest


def attempt(port, *words):
    """Executes a command and returns its result, or `None` if there is none."""
    try:
        return command(port, *words, seconds=0.5)
    except (OSError, RedisError, ValueError):
        return None


def families(port):
    """Returns the digests of all tokens in the records of families: the valid token and its predecessor. They are in the
    form of the history (`legacy.digest`). Raises `OSError` if there is no answer in time."""
    cursor, names = "0", []
    for _ in range(10_000):
        cursor, some = command(port, "SCAN", cursor, "MATCH", "proofgate:f:*", "COUNT", 1_000)
        names += some
        if cursor == "0":
            break
    tokens = set()
    for start in range(0, len(names), 1_000):
        for value in command(port, "MGET", *names[start:start + 1_000], encoding="latin-1"):
            # The layout is that of FamilyRecord.swift: the digest of the valid token, and that of its predecessor.
            if value and len(value) == 70:
                tokens |= {value[first:first + 6].encode("latin-1").hex() for first in (22, 38)}
    return tokens - {"00" * 6}


def rights():
    """Returns the rights that docs/operations.md asks for, so that the gateway runs with exactly these."""
    text = (processes.ROOT / "docs" / "operations.md").read_text()
    found = re.search(r"ACL SETUSER proofgate on >PASSWORD (.+)", text)
    if not found:
        raise RuntimeError("docs/operations.md has no line `ACL SETUSER proofgate on >PASSWORD ...`")
    return found[1].strip()


class Redis(processes.Child):
    """A server. Other programs reach it at `public`, which is its own port or that of a forwarder."""

    def __init__(self, folder, name, primary=None, source=None, keeps=False):
        super().__init__(folder, name, processes.free_ports(1)[0])
        self.public, self.primary, self.source, self.keeps = self.port, primary, source, keeps

    def command(self):
        path = self.folder / "redis.conf"
        if not path.exists():
            source = f"bind-source-addr {self.source}" if self.source else ""
            primary = f"replicaof 127.0.0.1 {self.primary}" if self.primary else ""
            # The sentinels rewrite this file.
            path.write_text(f"""port {self.port}
bind 127.0.0.1
{source}
{primary}
dir {self.folder}
save ""
appendonly {"yes" if self.keeps else "no"}
replica-announce-ip 127.0.0.1
replica-announce-port {self.public}
repl-diskless-sync-delay 0
repl-ping-replica-period 1
repl-timeout 5
maxmemory-policy noeviction
user proofgate on >{PASSWORD} {rights()}
""")
        return ["redis-server", path]

    def is_ready(self):
        return attempt(self.port, "PING") == "PONG"

    def become_replica(self, port):
        """Gives it the configuration of a replica of the server with this public port, for its next start."""
        (self.folder / "redis.conf").unlink()
        self.primary = port

    def replicas(self):
        """Returns the number of replicas that have all data."""
        return (attempt(self.port, "INFO", "replication") or "").count("state=online")


class Sentinel(processes.Child):
    def __init__(self, folder, name, source=None):
        super().__init__(folder, name, processes.free_ports(1)[0])
        self.public, self.source, self.primary = self.port, source, None

    def command(self):
        path = self.folder / "sentinel.conf"
        if not path.exists():
            source = f"bind-source-addr {self.source}" if self.source else ""
            path.write_text(f"""port {self.port}
bind 127.0.0.1
{source}
dir {self.folder}
sentinel monitor {NAME} 127.0.0.1 {self.primary} 2
sentinel down-after-milliseconds {NAME} {DOWN}
sentinel failover-timeout {NAME} {FAILOVER}
sentinel parallel-syncs {NAME} 2
sentinel announce-ip 127.0.0.1
sentinel announce-port {self.public}
""")
        return ["redis-sentinel", path]

    def state(self):
        """Returns what the sentinel knows about the primary."""
        words = attempt(self.port, "SENTINEL", "MASTER", NAME) or []
        return dict(zip(words[::2], words[1::2]))

    def chosen(self):
        """Returns the public port of the primary, or `None`."""
        found = attempt(self.port, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)
        return int(found[1]) if found else None


class Cluster:
    """A primary with two replicas and three sentinels. With `links`, each connection between two of them, and from a
    gateway to one of them, can be cut."""

    def __init__(self, stage, links=None):
        source = (lambda number: f"127.0.0.{number}") if links else (lambda number: None)
        self.servers = [Redis(stage.folder, f"redis-{n}", source=source(11 + n)) for n in range(3)]
        self.sentinels = [Sentinel(stage.folder, f"sentinel-{n}", source=source(21 + n)) for n in range(3)]
        if links:
            for each in (*self.servers, *self.sentinels):
                each.public = links.open(each.name, each.port, each.source)
        for each in (*self.servers[1:], *self.sentinels):
            each.primary = self.servers[0].public
        for each in (*self.servers, *self.sentinels):
            stage.start(each)
        self.settle()

    @property
    def store(self):
        """The URL for the policy of a gateway."""
        return f"redis+sentinel://proofgate@{','.join(f'127.0.0.1:{each.public}' for each in self.sentinels)}/{NAME}"

    def primary(self):
        """Returns the server that most sentinels name."""
        ports = [port for each in self.sentinels if (port := each.chosen())]
        most = max(set(ports), key=ports.count, default=None)
        return next((each for each in self.servers if each.public == most), None)

    def is_settled(self):
        primary = self.primary()
        return primary is not None and primary.replicas() == 2 and all(
            state.get("flags") == "master" and state.get("num-slaves") == "2"
            and state.get("num-other-sentinels") == "2" and state.get("port") == str(primary.public)
            for state in (each.state() for each in self.sentinels))

    def settle(self, seconds=120):
        """Waits until all know each other and all replicas have all data."""
        end = time.monotonic() + seconds
        while not self.is_settled():
            if time.monotonic() > end:
                states = [each.state() for each in self.sentinels]
                raise RuntimeError(f"the sentinels do not agree after {seconds} s: {states}")
            time.sleep(0.1)
