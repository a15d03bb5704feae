"""The parts that the searches share: the gateway, a server behind it, and connections with several requests at a time."""

import asyncio
import multiprocessing
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Support"))

from ports import free_ports  # noqa: E402, F401 - for the searches

CERTIFICATES = ROOT / "Tests" / "Certificates"
LONGEST = 16 * 1024 * 1024  # bytes that a client reads without finding the end of a response
PATIENCE = 60  # seconds for an answer: a busy machine delays it by some seconds, and a lost answer never arrives


class Failure(Exception):
    """A property that does not hold. `evidence` is the shortest input that shows it, one text for each part."""

    def __init__(self, text, *evidence):
        super().__init__(text)
        self.evidence = evidence


class Time:
    """The longest time of a search, several times as long as it takes on a busy machine."""

    def __init__(self, count):
        self.seconds = 120 + count / 50
        self.end = time.monotonic() + self.seconds

    def check(self):
        if time.monotonic() > self.end:
            raise Failure(f"the search is not done after {self.seconds:.0f} seconds")


def shown(data, limit=4000):
    """Returns bytes in a form that can be pasted into a program."""
    return repr(bytes(data)) if len(data) <= limit else f"{bytes(data[:limit])!r}... ({len(data)} bytes)"


class Gateway:
    """A running gateway. Standard output is the decision log, which is dropped. `prefix` is a command that runs it, such
    as valgrind, and `patience` the seconds for its start."""

    def __init__(self, program, folder, policy, port, prefix=(), environment=None, patience=PATIENCE):
        self.port, self.messages = port, folder / "messages"
        file = folder / "policy.yaml"
        file.write_text(policy)
        with open(self.messages, "wb") as messages:
            self.process = subprocess.Popen(
                [*prefix, program, "serve", "--policy", str(file)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=messages, env=dict(os.environ, **(environment or {})))
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        self.kill()
        raise Failure(f"the gateway does not start:\n{self.last_messages()}")

    def last_messages(self):
        return self.messages.read_text(errors="replace")[-2000:]

    def check(self, *evidence):
        """Fails if the process has ended."""
        if self.process.poll() is not None:
            raise Failure(f"the process ended with {self.process.returncode}:\n{self.last_messages()}", *evidence)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        """Ends the process in order, which must succeed."""
        self.check()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Failure("the process did not end within 60 seconds after SIGTERM") from None
        if code != 0:
            raise Failure(f"the process ended with {code} after SIGTERM:\n{self.last_messages()}")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Conversation(asyncio.Protocol):
    """One connection from the gateway to the server. A request that is not strict HTTP/1.1 is a complaint."""

    def __init__(self, server):
        self.server, self.data = server, b""

    def connection_made(self, transport):
        self.transport = transport
        self.server.connections += 1

    def connection_lost(self, error):
        self.server.connections -= 1

    def data_received(self, data):
        self.data += data
        try:
            self.read()
        except ValueError:
            self.complain(self.data)

    def read(self):
        while True:
            end = self.data.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.data[:end]
            lines = head.split(b"\r\n")
            parts = lines[0].split(b" ")
            fields = {}
            for line in lines[1:]:
                name, colon, value = line.partition(b":")
                name = name.lower()
                if not colon or name in fields and name in (b"host", b"content-length", b"transfer-encoding"):
                    return self.complain(head)
                fields[name] = value.strip()
            body, rest = b"", self.data[end + 4:]
            if len(parts) != 3 or parts[2] != b"HTTP/1.1" or b"\n" in head.replace(b"\r\n", b"") or b"\0" in head:
                return self.complain(head)
            if b"transfer-encoding" in fields:
                if fields[b"transfer-encoding"] != b"chunked" or b"content-length" in fields:
                    return self.complain(head)
                read = self.chunks(rest)
                if read is None:
                    return
                body, rest = read
            elif b"content-length" in fields:
                length = int(fields[b"content-length"])
                if len(rest) < length:
                    return
                body, rest = rest[:length], rest[length:]
            self.data = rest
            self.server.seen += 1
            answer, complaint = self.server.answer(parts[0], parts[1], fields, body)
            if complaint:
                self.server.complaints.append(f"{complaint}: {shown(head, 2000)}")
            self.transport.write(answer)
            if fields.get(b"connection", b"").lower() == b"close":
                return self.transport.close()

    def chunks(self, data):
        """Returns the body and the bytes behind it, or `None` if it is not complete."""
        body = b""
        while True:
            line, end, data = data.partition(b"\r\n")
            if not end:
                return None
            size = int(line.partition(b";")[0], 16)
            if size == 0:
                # Trailers, and the empty line.
                while True:
                    line, end, data = data.partition(b"\r\n")
                    if not end:
                        return None
                    if not line:
                        return body, data
            if len(data) < size + 2:
                return None
            body, data = body + data[:size], data[size + 2:]

    def complain(self, head):
        self.server.complaints.append(f"not strict HTTP/1.1: {shown(head, 2000)}")
        self.transport.close()


class Server:
    """The server behind the gateway, in a process of its own. `answer` is a function of method, target, fields and body
    that returns the bytes of the response, and a complaint about the request or `None`."""

    def __init__(self, answer):
        self.answer, self.connections, self.seen, self.complaints = answer, 0, 0, []
        listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = listener.getsockname()[1]
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=self.run, args=(listener, other), daemon=True)
        self.process.start()
        listener.close()
        other.close()

    def run(self, listener, pipe):
        self.pipe.close()
        signal.signal(signal.SIGINT, signal.SIG_IGN)

        async def serve():
            loop, ended = asyncio.get_running_loop(), asyncio.Event()

            def asked():
                try:
                    pipe.recv()
                    pipe.send((self.seen, self.connections, self.complaints[:3]))
                except EOFError:
                    ended.set()

            loop.add_reader(pipe.fileno(), asked)
            await loop.create_server(lambda: Conversation(self), sock=listener)
            await ended.wait()

        asyncio.run(serve())

    def state(self):
        """Returns the number of requests and of open connections. Fails on a complaint."""
        self.pipe.send(None)
        if not self.pipe.poll(PATIENCE):
            raise RuntimeError("the server of the search does not answer")
        seen, connections, complaints = self.pipe.recv()
        if complaints:
            raise Failure("the server got a request that it must not get", *complaints)
        return seen, connections

    def end(self):
        self.pipe.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def response(status, body=b"", fields=b"", kind=b"text/plain"):
    head = b"HTTP/1.1 %d Answer\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (status, fields, kind, len(body))
    return head + body


class Client:
    """A connection on which several requests may be sent before their responses are read."""

    def __init__(self, port, patience=PATIENCE):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=patience)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data = b""

    def close(self):
        self.socket.close()

    def fill(self):
        piece = self.socket.recv(262144)
        self.data += piece
        if len(self.data) > LONGEST:
            raise Failure("a response without an end", shown(self.data, 1000))
        return len(piece) > 0

    def read(self, has_body=True):
        """Returns status, head and body of the next response, or `None` at the end of the connection."""
        while (end := self.data.find(b"\r\n\r\n")) < 0:
            if not self.fill():
                if self.data:
                    raise Failure("a response was cut", shown(self.data))
                return None
        head, start = self.data[:end], end + 4
        lower = head.lower()
        if not head.startswith(b"HTTP/1.1 "):
            raise Failure("a response that is not HTTP/1.1", shown(self.data))
        status = int(head[9:12])
        if not has_body or status in (204, 304):
            self.data = self.data[start:]
            return status, head, b""
        at = lower.find(b"\r\ncontent-length:")
        if at >= 0:
            stop = start + int(lower[at + 17:].split(b"\r\n", 1)[0])
            while len(self.data) < stop:
                if not self.fill():
                    raise Failure("a response was cut", shown(self.data))
            body, self.data = self.data[start:stop], self.data[stop:]
            return status, head, body
        if b"\r\ntransfer-encoding: chunked" in lower:
            while (end := self.data.find(b"\r\n0\r\n\r\n", start - 2)) < 0:
                if not self.fill():
                    raise Failure("a response was cut", shown(self.data))
            body, self.data = self.data[start:end], self.data[end + 7:]
            return status, head, body
        # The end of the connection ends the body.
        while self.fill():
            pass
        body, self.data = self.data[start:], b""
        return status, head, body
