"""Restarts through the descriptor store of a service manager. No new connection is refused or reset, requests in
progress end, and the number of workers may change."""

import asyncio
import resource
import signal
import ssl
import threading
import time

import clients
import manager
import stage

RATE = 700  # new connections per second
WORKERS = (2, 3, 1, 4)  # of the first process and of those after it
DRAIN = 20  # seconds, as in the policy
ANSWER = b"x" * stage.SMALL


class Arrivals(threading.Thread):
    """Opens connections at a constant rate, however long each waits for its answer. Most are TCP, every fifth is to the
    Unix socket, and every 25th is over TLS. They come from many addresses, so that no limit of one address counts."""

    def __init__(self, gateway):
        super().__init__(daemon=True)
        self.gateway = gateway
        self.done, self.opened, self.answered, self.problems = threading.Event(), 0, 0, []
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE
        self.request = (f"GET /small HTTP/1.1\r\nHost: {gateway.host}\r\nConnection: close\r\n\r\n").encode()

    def run(self):
        asyncio.run(self.open_all())

    async def open_all(self):
        waiting, began = set(), time.monotonic()
        while not self.done.is_set():
            while self.opened < (time.monotonic() - began) * RATE:
                task = asyncio.create_task(self.once(self.opened))
                self.opened += 1
                waiting.add(task)
                task.add_done_callback(waiting.discard)
            await asyncio.sleep(0.002)
        if waiting:
            await asyncio.wait(waiting, timeout=DRAIN + 60)

    def connect(self, number):
        source = (f"127.{1 + number % 200}.{number // 200 % 250}.1", 0)
        if number % 5 == 1:
            return asyncio.open_unix_connection(self.gateway.unix)
        if number % 25 == 2:
            return asyncio.open_connection("127.0.0.1", self.gateway.tls_port, local_addr=source, ssl=self.tls)
        return asyncio.open_connection("127.0.0.1", self.gateway.port, local_addr=source)

    async def once(self, number):
        writer = None
        try:
            reader, writer = await self.connect(number)
            writer.write(self.request)
            data = await reader.read(-1)
            if not data.startswith(b"HTTP/1.1 200 ") or not data.endswith(b"\r\n\r\n" + ANSWER):
                self.problems.append(f"connection {number}: {data[:60]!r}")
            else:
                self.answered += 1
        except (OSError, ssl.SSLError) as error:
            self.problems.append(f"connection {number}: {error!r}")
        finally:
            if writer:
                writer.close()


class Slow(threading.Thread):
    """A request whose answer is in progress when the restart begins."""

    def __init__(self, gateway):
        super().__init__(daemon=True)
        self.client, self.problem = clients.HTTP1(gateway.port, gateway.host), "it has no answer"
        self.client.send(self.client.head("GET", "/slow"))

    def run(self):
        try:
            status, count = self.client.answer()
            self.problem = "" if (status, count) == (200, 64 * 1024) else f"{status} with {count} bytes"
        except (clients.Lost, OSError) as error:
            self.problem = str(error)


class Service(stage.Gateway):
    """A gateway that a service manager starts again and again."""

    def __init__(self, folder, options, upstream, store):
        # The address of a Unix socket is short.
        super().__init__(folder, options.proofgate, upstream, workers=WORKERS[0], gateway=f"  drain_timeout: {DRAIN}s",
                         limits="connections_per_address: 20000")
        self.unix = str(self.folder / "socket")
        self.manager = manager.Manager(self.folder, capacity=64 if store else 0)

    def write_policy(self):
        path = super().write_policy()
        text = self.folder.joinpath("policy.yaml").read_text()
        self.folder.joinpath("policy.yaml").write_text(text.replace(
            "  admin:", f"    - address: unix:{self.unix}\n      local: true\n  admin:", 1))
        return path

    def launch(self):
        with open(self.folder / "log", "ab") as log:
            self.child = self.manager.spawn(["taskset", "-c", self.core, *self.command()], log)
        self.manager.wait("READY=1", 60)

    def end(self):
        """Ends the process and returns its exit code."""
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(DRAIN + 60)


def run(options, folder, judge, store=True):
    wanted = 1_000 if options.short else 10_000
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    upstream = stage.Upstream(folder).start()
    service, arrivals, problems = None, None, []
    during, restarts, slow, longest = 0, 0, [], 0
    try:
        service = Service(folder, options, upstream.port, store)
        service.launch()
        arrivals = Arrivals(service)
        arrivals.start()
        end = time.monotonic() + 180
        # Each number of workers follows another one.
        while (during < wanted or restarts < len(WORKERS)) and time.monotonic() < end:
            time.sleep(0.2)
            slow.append(Slow(service))
            slow[-1].start()
            time.sleep(0.2)
            restarts += 1
            before, began = arrivals.opened, time.monotonic()
            if code := service.end():
                problems.append(f"process {restarts} ended with {code}")
            service.workers = WORKERS[restarts % len(WORKERS)]
            service.launch()
            during += arrivals.opened - before
            longest = max(longest, time.monotonic() - began)
        if during < wanted:
            problems.append(f"only {during} connections were opened during {restarts} restarts")
        arrivals.done.set()
        arrivals.join(DRAIN + 70)
        for each in slow:
            each.join(60)
        problems += arrivals.problems
        problems += [f"a request in progress: {each.problem}" for each in slow if each.problem]
        unanswered = arrivals.opened - arrivals.answered - len(arrivals.problems)
        if unanswered:
            problems.append(f"{unanswered} connections have no answer")
        stored = service.manager.names()
        if len(set(stored)) != 4 or len(stored) > service.manager.capacity:
            problems.append(f"the store contains {stored}")
        if " cut" in service.said():
            problems.append("a drain has cut connections")
        judge("restart", f"{during} new connections during {restarts} restarts with {WORKERS} workers, at most "
              f"{longest:.1f} s each: {len(arrivals.problems)} refused, reset or answered wrongly; of {len(slow)} "
              f"requests in progress, {sum(not each.problem for each in slow)} ended with their answer", problems)
    finally:
        if arrivals:
            arrivals.done.set()
        if service:
            service.stop()
            service.manager.stop()
        upstream.stop()
