"""The measured scenarios. A scenario makes the load of one run against one proxy. To add one, write a function that
returns the report of `wrk` or another load program, and list it in SCENARIOS."""

import base64
import dataclasses
import hashlib
import json
import pathlib
import re
import socket
import subprocess
import sys
import typing
from urllib.parse import parse_qs, urlencode, urlsplit

import peers

# RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
REDIRECT = "http://127.0.0.1:50000/callback"


@dataclasses.dataclass
class Load:
    """The results of one run of the load program."""

    requests: int
    seconds: float
    p50: typing.Optional[float]  # milliseconds
    p99: typing.Optional[float]  # milliseconds
    errors: int


@dataclasses.dataclass
class Scenario:
    name: str
    about: str
    run: typing.Callable  # (proxy, seconds, folder) -> Load
    budget: typing.Optional[float] = None  # maximum ratio of the CPU time per request to that of nginx
    prepare: typing.Optional[typing.Callable] = None  # (proxy, folder), before the clock starts
    finish: typing.Optional[typing.Callable] = None  # called with the result of `prepare` after the clock has stopped
    workers: int = 1
    without: tuple = ()  # proxies that cannot take part
    unix: bool = False  # the proxies reach the upstream over its Unix socket; nginx also over TCP
    ceiling: typing.Optional[float] = None  # with --gate, the ratio that fails, if not the budget


MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60000.0}


def duration(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * MILLISECONDS[unit]


def spend(command, limit):
    """Runs a load program on its core. Returns its output."""
    child = subprocess.Popen(
        ["taskset", "-c", peers.LOAD_CORE] + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        output, _ = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise RuntimeError(f"{command[0]} did not end in {limit} seconds")
    if child.returncode:
        raise RuntimeError(f"{command[0]} failed: {output.strip()[-500:]}")
    return output


CONNECTIONS = 64


def wrk(proxy, path, seconds, connections=CONNECTIONS, headers=(), script=None, tls=False):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "10s"]
    origin = f"https://127.0.0.1:{proxy.tls_port}" if tls else f"http://127.0.0.1:{proxy.port}"
    for header in (f"Host: {proxy.host}", *headers):
        command += ["-H", header]
    if script:
        command += ["-s", str(script)]
    output = spend(command + [f"{origin}{path}"], seconds + 30)
    total = re.search(r"(\d+) requests in ([\d.]+\w+)", output)
    lasted = re.search(r"^lasted (\d+) us", output, re.M)
    errors = sum(int(n) for n in re.findall(r"Non-2xx or 3xx responses: (\d+)", output))
    if found := re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output):
        errors += sum(int(n) for n in found.groups())
    percentile = {p: duration(t) for p, t in re.findall(r"^\s+(50|99)%\s+([\d.]+\w+)", output, re.M)}
    return Load(
        requests=int(total.group(1)),
        seconds=int(lasted.group(1)) / 1e6 if lasted else duration(total.group(2)) / 1000,
        p50=percentile.get("50", 0.0),
        p99=percentile.get("99", 0.0),
        errors=errors,
    )


def h2load(proxy, path, seconds, connections, streams, tls=False, body=None):
    """Loads HTTP/2 connections with several requests at a time on each. h2load reports no percentiles."""
    command = ["h2load", "-t1", f"-c{connections}", f"-m{streams}", f"-D{seconds}", "--warm-up-time=0"]
    # The windows never stop a large answer, because flow control is not measured here.
    command += ["-w24", "-W24", "-H", f":authority: {proxy.host}"]
    if body:
        command += ["-d", str(body)]
    origin = f"https://127.0.0.1:{proxy.tls_port}" if tls else f"http://127.0.0.1:{proxy.h2c_port}"
    output = spend(command + [f"{origin}{path}"], seconds + 30)
    done = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", output)
    if not done or f"Application protocol: {'h2' if tls else 'h2c'}" not in output:
        raise RuntimeError(f"h2load did not speak HTTP/2 with {proxy.name}: {output.strip()[-500:]}")
    succeeded, *failed = map(int, done.groups())
    return Load(succeeded, seconds, None, None, sum(failed))


CLIENT = pathlib.Path(__file__).resolve().parent / "client.py"


def handshakes(proxy, seconds, *options):
    arguments = [str(proxy.tls_port), proxy.host, str(seconds), *options]
    return Load(**json.loads(spend([sys.executable, str(CLIENT), "handshakes", *arguments], seconds + 30)))


def hold(proxy, count, tls=False, stop=None):
    """Opens connections, sends one request on each, and leaves them idle until `let_go`. With the path `stop`, the
    clients request it and stop reading."""
    port = proxy.tls_port if tls else proxy.port
    command = ["taskset", "-c", peers.LOAD_CORE, sys.executable, str(CLIENT), "hold", str(port), proxy.host, str(count)]
    child = subprocess.Popen(
        command + (["--tls"] if tls else []) + (["--stop", stop] if stop else []), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    if child.stdout.readline().strip() != "ready":
        child.kill()
        child.wait()
        raise RuntimeError(f"{count} idle connections to {proxy.name} did not open")
    return child


def let_go(child):
    child.communicate(timeout=60)


def authorization_request():
    return "/oauth/authorize?" + urlencode(
        {
            "response_type": "code",
            "client_id": "bench",
            "redirect_uri": REDIRECT,
            "scope": "profile",
            "state": "af0ifjsldkj",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
    )


def small(proxy, seconds, folder):
    return wrk(proxy, "/", seconds)


def large(proxy, seconds, folder):
    return wrk(proxy, "/large", seconds, connections=16)


def upload_script(folder):
    script = pathlib.Path(folder) / "upload.lua"
    script.write_text(f'wrk.method = "POST"\nwrk.body = string.rep("x", {peers.LARGE})\n')
    return script


def upload(proxy, seconds, folder):
    return wrk(proxy, "/sink", seconds, connections=16, script=upload_script(folder))


def new_connections(proxy, seconds, folder):
    return wrk(proxy, "/", seconds, connections=32, headers=["Connection: close"])


def tls_small(proxy, seconds, folder):
    return wrk(proxy, "/", seconds, tls=True)


def tls_large(proxy, seconds, folder):
    return wrk(proxy, "/large", seconds, connections=16, tls=True)


def tls_upload(proxy, seconds, folder):
    return wrk(proxy, "/sink", seconds, connections=16, script=upload_script(folder), tls=True)


def full_handshakes(proxy, seconds, folder):
    return handshakes(proxy, seconds)


def resumed_handshakes(proxy, seconds, folder):
    return handshakes(proxy, seconds, "--resume")


def h2_small(proxy, seconds, folder):
    return h2load(proxy, "/", seconds, 16, 4, tls=True)


def h2c_small(proxy, seconds, folder):
    return h2load(proxy, "/", seconds, 16, 4)


def h2c_single(proxy, seconds, folder):
    return h2load(proxy, "/", seconds, 64, 1)


def h2_large(proxy, seconds, folder):
    return h2load(proxy, "/large", seconds, 4, 4, tls=True)


def h2_upload(proxy, seconds, folder):
    body = pathlib.Path(folder) / "body"
    body.write_bytes(b"x" * peers.LARGE)
    return h2load(proxy, "/sink", seconds, 4, 4, tls=True, body=body)


def crowd(proxy, folder):
    return hold(proxy, 10_000)


def authorize(proxy, seconds, folder):
    return wrk(proxy, authorization_request(), seconds)


def refused(proxy, seconds, folder):
    """Sends authorization requests without a challenge. A plain proxy forwards them, the gateway refuses them."""
    return wrk(proxy, authorization_request().split("&code_challenge")[0], seconds)


def codes(proxy, count):
    """Fetches codes with pipelined authorization requests. A plain proxy returns the codes of the upstream."""
    request = f"GET {authorization_request()} HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\n\r\n".encode()
    found = []
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as connection:
        reader = connection.makefile("rb")
        while len(found) < count:
            batch = min(32, count - len(found))
            connection.sendall(request * batch)
            for _ in range(batch):
                length, location = 0, ""
                while (line := reader.readline().strip()) != b"":
                    name, _, value = line.decode("latin-1").partition(":")
                    if name.lower() == "content-length":
                        length = int(value)
                    elif name.lower() == "location":
                        location = value.strip()
                reader.read(length)
                code = parse_qs(urlsplit(location).query).get("code")
                if not code:
                    raise RuntimeError(f"{proxy.name} answered an authorization request with {location or 'no redirect'}")
                found += code
    return found


CODES = 20_000  # for one run, enough for more than a second


def fetch_codes(proxy, folder):
    listed = pathlib.Path(folder) / f"codes-{proxy.name}"
    listed.write_text("\n".join(codes(proxy, CODES)) + "\n")


def token(proxy, seconds, folder):
    fields = {"grant_type": "authorization_code", "client_id": "bench", "redirect_uri": REDIRECT}
    fixed = urlencode(dict(fields, code_verifier=VERIFIER))
    script = pathlib.Path(folder) / "token.lua"
    # Each code is redeemed once. wrk can only stop after a fixed time, so the script measures how long the codes last.
    script.write_text(
        f"""local ffi = require("ffi")
ffi.cdef("typedef struct {{ long s, ns; }} moment; int clock_gettime(int, moment *);")
local moment = ffi.new("moment")
local function now()
  ffi.C.clock_gettime(1, moment)
  return tonumber(moment.s) * 1e6 + tonumber(moment.ns) / 1e3
end
codes, sent, seen = {{}}, 0, 0
for line in io.lines("{folder}/codes-{proxy.name}") do codes[#codes + 1] = line end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
function setup(thread) only = thread end
function request()
  sent = sent + 1
  if sent == 1 then began = now() end
  return wrk.format(nil, "/oauth/token", nil, "{fixed}&code=" .. (codes[sent] or ""))
end
function response()
  seen = seen + 1
  ended = now()
  if seen >= #codes - {CONNECTIONS} then wrk.thread:stop() end
end
function done() print(string.format("lasted %d us", only:get("ended") - only:get("began"))) end
"""
    )
    return wrk(proxy, "/oauth/token", seconds, script=script)


# Caddy takes part in the scenarios of plain HTTP/1.1.
NOT_PLAIN = ("caddy",)

SCENARIOS = [
    Scenario("small", "keep-alive, 200 bytes", small, 0.93),
    Scenario("unix", "keep-alive, 200 bytes, upstream on a Unix socket", small, 0.95, unix=True),
    Scenario("new", "a connection per request, 200 bytes", new_connections),
    Scenario("large", "keep-alive, answers of 1 MiB", large),
    Scenario("upload", "keep-alive, requests of 1 MiB", upload),
    # HAProxy needs two descriptors for each connection, which exceeds the limit of a process.
    Scenario(
        "crowd", "keep-alive, 200 bytes, with 10,000 idle connections", small, None, crowd, let_go,
        without=("haproxy",),
    ),
    Scenario("workers", "keep-alive, 200 bytes, two workers on all cores", small, workers=2),
    Scenario("tls", "TLS 1.3, keep-alive, 200 bytes", tls_small, 0.9, without=NOT_PLAIN),
    Scenario("tls-new", "TLS 1.3, a connection and full handshake per request", full_handshakes, without=NOT_PLAIN),
    Scenario("tls-resumed", "TLS 1.3, a connection and resumed handshake per request", resumed_handshakes, without=NOT_PLAIN),
    Scenario("tls-large", "TLS 1.3, keep-alive, answers of 1 MiB", tls_large, without=NOT_PLAIN),
    Scenario("tls-upload", "TLS 1.3, keep-alive, requests of 1 MiB", tls_upload, without=NOT_PLAIN),
    Scenario("h2", "HTTP/2 over TLS 1.3, 16 connections of 4 requests, 200 bytes", h2_small, 0.85, without=NOT_PLAIN),
    Scenario("h2c", "HTTP/2 without TLS, 16 connections of 4 requests, 200 bytes", h2c_small, 0.7, without=NOT_PLAIN),
    Scenario("h2c-single", "HTTP/2 without TLS, 64 connections of one request, 200 bytes", h2c_single, without=NOT_PLAIN),
    Scenario("h2-large", "HTTP/2 over TLS 1.3, answers of 1 MiB", h2_large, without=NOT_PLAIN),
    Scenario("h2-upload", "HTTP/2 over TLS 1.3, requests of 1 MiB", h2_upload, without=NOT_PLAIN),
    Scenario("authorize", "authorization requests, sealed", authorize, 2.5, ceiling=3.0, without=NOT_PLAIN),
    Scenario("refused", "authorization requests without a challenge", refused, without=NOT_PLAIN),
    Scenario("token", "token requests, verified, each code once", token, 2.3, fetch_codes, ceiling=2.75, without=NOT_PLAIN),
]


@dataclasses.dataclass
class Footprint:
    """The memory of a proxy that has just started, or the memory of each of many connections that are idle or whose
    clients have stopped reading."""

    name: str
    about: str
    unit: str
    connections: int = 0
    tls: bool = False
    without: tuple = ()
    stop: typing.Optional[str] = None  # the path of a large body that the clients do not read
    warm_up: int = 600  # connections: more than the idle ones that keep their buffers
    budget: typing.Optional[float] = None  # maximum ratio to nginx
    limit: typing.Optional[float] = None  # maximum in `unit`


FOOTPRINTS = [
    Footprint("start", "resident memory at start", "MiB", limit=15),
    Footprint("idle", "memory of an idle connection, of 8,000", "KiB", 8_000, budget=1.0),
    Footprint("tls-idle", "memory of an idle connection over TLS, of 8,000", "KiB", 8_000, tls=True, without=NOT_PLAIN, budget=1.0),
    # The others keep such a body in a file or in larger buffers, as they are configured.
    Footprint(
        "readers", "memory for a client that stops reading 1 GiB, of 800", "KiB", 800, stop="/huge", warm_up=8, limit=64,
        without=("nginx", "haproxy", "caddy"),
    ),
]
