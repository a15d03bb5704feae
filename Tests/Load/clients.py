"""Blocking clients for HTTP/1.1 and HTTP/2, plain and over TLS. They are simple, because they only make load.

The HTTP/2 client supports only a little: the head of a response begins with an indexed `:status` (RFC 7541, appendix
A), requests are literals without indexing, and DATA is counted.
"""

import select
import socket
import ssl
import struct

STATUSES = {0x88: 200, 0x89: 204, 0x8A: 206, 0x8B: 304, 0x8C: 400, 0x8D: 404, 0x8E: 500}


class Lost(Exception):
    """An error for a request without a whole answer. `began` is true if a part of the answer arrived."""

    def __init__(self, text, began=False):
        super().__init__(text)
        self.began = began


class NotTaken(Exception):
    """An error for a request that the server did not process, so that the client may send it again."""


def context(authority=None, protocols=("http/1.1",)):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    if authority:
        made.load_verify_locations(authority)
        made.verify_mode = ssl.CERT_REQUIRED
    made.set_alpn_protocols(list(protocols))
    return made


def is_readable(connection):
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


def opened(port, tls=None, session=None, seconds=60, receive_buffer=None, source=None, proxy_header=b""):
    """Returns a connection after its handshake. `source` is its own address, and `proxy_header` precedes all other
    bytes."""
    plain = socket.socket()
    try:
        if source:
            plain.bind((source, 0))
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(seconds)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.connect(("127.0.0.1", port))
        plain.sendall(proxy_header)
        return tls.wrap_socket(plain, server_hostname="localhost", session=session) if tls else plain
    except BaseException:
        plain.close()
        raise


class HTTP1:
    """One HTTP/1.1 connection, kept as long as the server keeps it."""

    def __init__(self, port, host, tls=None, session=None, seconds=60):
        self.host = host
        self.socket = opened(port, tls, session, seconds)
        self.data, self.is_open = b"", True

    def head(self, method, target, fields=()):
        return (f"{method} {target} HTTP/1.1\r\nHost: {self.host}\r\n" + "".join(f"{each}\r\n" for each in fields)
                + "\r\n").encode()

    def request(self, target, body=None, fields=()):
        """Sends a request. Returns the status and the number of bytes of the body."""
        if body is None:
            self.send(self.head("GET", target, fields))
        else:
            self.send(self.head("POST", target, (*fields, f"Content-Length: {len(body)}")) + body)
        return self.answer()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass  # the server may have answered before it closed

    def _more(self, began):
        try:
            piece = self.socket.recv(262144)
        except OSError as error:
            self.close()
            raise Lost(f"{type(error).__name__} {error}", began or bool(self.data))
        if not piece:
            self.close()
            raise Lost("the connection ended", began or bool(self.data))
        self.data += piece

    def answer(self):
        while (end := self.data.find(b"\r\n\r\n")) < 0:
            self._more(False)
        head, self.data = self.data[:end].decode("latin-1"), self.data[end + 4:]
        status = int(head.split(" ", 2)[1])
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        if fields.get("transfer-encoding") == "chunked":
            count = self._chunks()
        else:
            count = left = int(fields.get("content-length", 0))
            while left > len(self.data):
                left -= len(self.data)
                self.data = b""
                self._more(True)
            self.data = self.data[left:]
        if fields.get("connection") == "close":
            self.close()
        return status, count

    def _chunks(self):
        count = 0
        while True:
            while (end := self.data.find(b"\r\n")) < 0:
                self._more(True)
            size = int(self.data[:end], 16)
            while len(self.data) < end + 2 + size + 2:
                self._more(True)
            self.data = self.data[end + 2 + size + 2:]
            if size == 0:
                return count
            count += size

    def ended(self):
        """Returns true if the server has closed the idle connection."""
        if not self.is_open:
            return True
        if self.data or getattr(self.socket, "pending", int)():
            return False
        if not is_readable(self.socket):
            return False
        self.socket.setblocking(False)
        try:
            piece = self.socket.recv(65536)
            self.data += piece
            ended = not piece
        except (ssl.SSLWantReadError, BlockingIOError):
            ended = False
        except OSError:
            ended = True
        if ended:
            self.close()
        else:
            self.socket.settimeout(60)
        return ended

    def close(self):
        self.is_open = False
        self.socket.close()


def literal(name, value):
    """Encodes a field without indexing and without Huffman coding (RFC 7541, section 6.2.2)."""
    def text(value):
        data = value.encode()
        return bytes([len(data)]) + data if len(data) < 127 else bytes([127]) + varint(len(data) - 127) + data

    return b"\x00" + text(name) + text(value)


def varint(value):
    out = b""
    while value >= 128:
        out, value = out + bytes([value % 128 + 128]), value // 128
    return out + bytes([value])


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


WINDOW = 1 << 24


class HTTP2:
    """One HTTP/2 connection with one or a few requests at a time."""

    def __init__(self, port, host, tls=None, session=None, seconds=60, **options):
        self.host, self.scheme = host, "https" if tls else "http"
        self.socket = opened(port, tls, session, seconds, **options)
        self.data, self.is_open = b"", True
        self.next, self.last, self.goodbye = 1, None, False
        self.status, self.counts, self.done, self.credit, self.windows = {}, {}, {}, 65535, {}
        self.initial = 65535
        # Windows that are as large as the answers, for the streams and for the connection.
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, struct.pack(">HI", 4, WINDOW))
                  + frame(8, 0, 0, struct.pack(">I", WINDOW)))

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass  # the bytes that the server sent before it closed are still to be read

    def begin(self, target, body=None, fields=(), length=None):
        """Sends a request and returns its stream. With a `length` of more bytes than the body has, the request stays
        incomplete until `send_body` sends the rest."""
        stream, self.next = self.next, self.next + 2
        block = b"".join(literal(name, value) for name, value in (
            (":method", "GET" if body is None else "POST"), (":scheme", self.scheme), (":authority", self.host),
            (":path", target), *fields))
        if body is not None:
            block += literal("content-length", str(length or len(body)))
        self.counts[stream], self.windows[stream] = 0, self.initial
        self.send(frame(1, 0x4 | (body is None), stream, block))
        if body:
            self.send_body(stream, body, length is None)
        return stream

    def send_body(self, stream, body, is_last=True):
        """Sends bytes of a body as the windows permit."""
        while body:
            room = min(16384, self.credit, self.windows[stream], len(body))
            if room <= 0:
                self._frame()
                if stream in self.done:
                    break
                continue
            piece, body = body[:room], body[room:]
            self.credit -= room
            self.windows[stream] -= room
            self.send(frame(0, int(is_last and not body), stream, piece))

    def request(self, target, body=None, fields=()):
        if self.goodbye:
            raise NotTaken("the server has sent GOAWAY")
        return self.answer(self.begin(target, body, fields))

    def answer(self, stream):
        while stream not in self.done:
            if self.last is not None and stream > self.last:
                raise NotTaken("beyond the last stream")
            self._frame()
        code = self.done.pop(stream)
        if code == 7:
            raise NotTaken("refused stream")
        if code:
            raise Lost(f"reset with {code}", stream in self.status)
        return self.status.pop(stream, None), self.counts.pop(stream)

    def _read(self, count):
        while len(self.data) < count:
            try:
                piece = self.socket.recv(262144)
            except OSError as error:
                self.close()
                raise Lost(f"{type(error).__name__} {error}", bool(self.status))
            if not piece:
                self.close()
                raise Lost("the connection ended", bool(self.status))
            self.data += piece
        found, self.data = self.data[:count], self.data[count:]
        return found

    def _frame(self):
        head = self._read(9)
        kind, flags = head[3], head[4]
        stream = struct.unpack(">I", head[5:9])[0] & 0x7FFFFFFF
        payload = self._read(int.from_bytes(head[:3], "big"))
        if kind == 0:
            self.counts[stream] = self.counts.get(stream, 0) + len(payload)
            if payload:
                credit = struct.pack(">I", len(payload))
                self.send(frame(8, 0, 0, credit) + (b"" if flags & 1 else frame(8, 0, stream, credit)))
        elif kind == 1 and stream not in self.status:
            block = payload[5:] if flags & 0x20 else payload
            self.status[stream] = STATUSES.get(block[0], -1)
        elif kind == 3:
            self.done[stream] = struct.unpack(">I", payload)[0] or 0
            return
        elif kind == 4 and not flags & 1:
            for place in range(0, len(payload), 6):
                name, value = struct.unpack(">HI", payload[place:place + 6])
                if name == 4:
                    self.windows = {key: window + value - self.initial for key, window in self.windows.items()}
                    self.initial = value
            self.send(frame(4, 1, 0))
        elif kind == 6 and not flags & 1:
            self.send(frame(6, 1, 0, payload))
        elif kind == 7:
            self.goodbye = True
            last, code = struct.unpack(">II", payload[:8])
            self.last = last & 0x7FFFFFFF
            if code:
                raise Lost(f"GOAWAY with {code}", False)
        elif kind == 8:
            amount = struct.unpack(">I", payload)[0]
            if stream == 0:
                self.credit += amount
            elif stream in self.windows:
                self.windows[stream] += amount
        if kind in (0, 1) and flags & 1:
            self.done[stream] = 0
            self.windows.pop(stream, None)

    def ended(self):
        """Reads the frames that have arrived. Returns true if the server has sent GOAWAY or has closed."""
        while self.is_open and (self.data or getattr(self.socket, "pending", int)()
                                or is_readable(self.socket)):
            try:
                self._frame()
            except Lost:
                return True
        return self.goodbye or not self.is_open

    def close(self):
        self.is_open = False
        self.socket.close()
