"""Recordings of real traffic: the file format, and the messages in it.

A recording contains the bytes of a client's requests and of the server's answers, unchanged and in order. Each part
begins with a line that gives its kind and the number of bytes that follow:

    === request 231
    === answer 402

The authority of the server is the same in all recordings.
"""

import pathlib
import re

# The authority of the server in recordings. Its port has as many digits as that of the tap, so that no length changes.
AUTHORITY = "127.0.0.1:47110"
FOLDER = pathlib.Path(__file__).resolve().parent / "recordings"

_PART = re.compile(rb"=== (request|answer) (\d+)\n")


def read(path):
    """Returns the exchanges of a file, each as the bytes of a request and of its answer."""
    data, position, parts = path.read_bytes(), 0, []
    while position < len(data):
        header = _PART.match(data, position)
        assert header, f"{path.name}: no part begins at byte {position}"
        end = header.end() + int(header[2])
        assert data[end : end + 1] == b"\n", f"{path.name}: the length of a part differs from its line"
        parts.append((header[1], data[header.end() : end]))
        position = end + 1
    kinds = [kind for kind, _ in parts]
    assert kinds == [b"request", b"answer"] * (len(parts) // 2), f"{path.name}: requests and answers do not alternate"
    return [(parts[i][1], parts[i + 1][1]) for i in range(0, len(parts), 2)]


def write(path, exchanges):
    with open(path, "wb") as file:
        for request, answer in exchanges:
            for kind, part in (("request", request), ("answer", answer)):
                file.write(b"=== %s %d\n%s\n" % (kind.encode(), len(part), part))


class Message:
    """A message as its start line, fields and body."""

    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        self.line, *fields = head.split(b"\r\n")
        # Ignores the space in front of an empty reason phrase, and the version, which belongs to the hop.
        self.line = re.sub(rb"^HTTP/1\.0 ", b"HTTP/1.1 ", self.line.rstrip(b" "))
        self.fields = [tuple(field.split(b":", 1)) for field in fields]
        if self.value("transfer-encoding") == "chunked":
            self.body = Message.decoded(self.body)

    def value(self, name):
        values = [value for key, value in self.fields if key.decode("latin-1").lower() == name]
        return values[0].decode("latin-1").strip() if values else None

    @staticmethod
    def decoded(body):
        whole = b""
        while body:
            size, _, rest = body.partition(b"\r\n")
            count = int(size, 16)
            if count == 0:
                break
            whole, body = whole + rest[:count], rest[count + 2 :]
        return whole

    def without(self, filters):
        kept = []
        for name, value in self.fields:
            text = name.decode("latin-1").lower()
            if not any(takes(text) for takes in filters.values()):
                kept.append((name, value.strip(b" \t")))
        return self.line, kept, self.body


def receive(connection, seconds, is_head=False):
    """Receives one message, or the part of it that arrived before the connection ended."""
    connection.settimeout(seconds)
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return data
        data += more
    message = Message(data)
    no_body = is_head or re.match(rb"HTTP/1\.. (204|304)", message.line)
    is_request = not message.line.startswith(b"HTTP/")
    head = len(data.partition(b"\r\n\r\n")[0]) + 4
    length = message.value("content-length")
    while not no_body:
        if message.value("transfer-encoding") == "chunked":
            if data.endswith(b"0\r\n\r\n"):
                break
        elif length is not None:
            if len(data) >= head + int(length):
                break
        elif is_request:
            break
        more = connection.recv(65536)
        if not more:
            break
        data += more
    return data
