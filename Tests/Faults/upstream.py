"""The legacy server of the workload. The request determines the answer, so that the client notices a wrong answer."""

import hashlib
import itertools
import json
import socket
import threading
import urllib.parse

# Followed by a number, because a server issues each code once.
CODE = "raw-code-of-the-server-"
REFRESH = "raw-refresh-token-of-the-server"
SLOW = 0.6  # seconds until `/slow` is answered


def body_of(target):
    """Returns the content of the answer to a GET of `target`."""
    size = {"/large": 300_000, "/close": 50_000}.get(target, 200)
    seed = hashlib.sha256(target.encode()).hexdigest().encode()
    return (seed * (size // len(seed) + 1))[:size]


class Upstream:
    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.token_requests = 0
        self.codes = itertools.count(1)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.settimeout(60)
            threading.Thread(target=self.converse, args=(connection,), daemon=True).start()

    def close(self):
        self.listener.close()

    def converse(self, connection):
        with connection, connection.makefile("rb") as reader:
            try:
                while self.answer(connection, reader):
                    pass
            except (OSError, ValueError):
                pass

    def answer(self, connection, reader):
        line = reader.readline().decode()
        if not line:
            return False
        method, target, _ = line.split()
        fields = {}
        while (field := reader.readline()) not in (b"\r\n", b""):
            name, _, value = field.decode().partition(":")
            fields[name.lower()] = value.strip()
        body = self.body(reader, fields)
        path, _, query = target.partition("?")
        extra, status = "", "200 OK"
        if path == "/oauth/authorize":
            parameters = dict(urllib.parse.parse_qsl(query))
            answer = urllib.parse.urlencode({"code": f"{CODE}{next(self.codes)}", "state": parameters.get("state", "")})
            extra, status, content = f"Location: {parameters['redirect_uri']}?{answer}\r\n", "302 Found", b""
        elif path == "/oauth/token":
            self.token_requests += 1
            extra = "Content-Type: application/json\r\n"
            content = json.dumps({
                "access_token": "access", "token_type": "Bearer", "expires_in": 3600, "refresh_token": REFRESH,
            }).encode()
        elif method == "POST":
            content = hashlib.sha256(body).hexdigest().encode()
        else:
            content = body_of(target)
        if path == "/slow":
            threading.Event().wait(SLOW)
        if path == "/close":
            connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + content)
            return False
        head = f"HTTP/1.1 {status}\r\n{extra}Content-Length: {len(content)}\r\n\r\n".encode()
        connection.sendall(head if method == "HEAD" else head + content)
        return True

    @staticmethod
    def body(reader, fields):
        if "chunked" in fields.get("transfer-encoding", ""):
            whole = b""
            while size := int(reader.readline(), 16):
                whole += Upstream.exactly(reader, size)
                reader.readline()
            reader.readline()
            return whole
        return Upstream.exactly(reader, int(fields.get("content-length", 0)))

    @staticmethod
    def exactly(reader, count):
        data = reader.read(count)
        if len(data) < count:
            raise ValueError("cut off")
        return data
