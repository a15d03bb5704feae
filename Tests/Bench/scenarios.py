"""What is measured. A scenario makes the load of one run against one proxy; to add one, write a function that
returns what `wrk` or another load program reported and list it in SCENARIOS."""

import base64
import dataclasses
import hashlib
import os
import pathlib
import re
import socket
import subprocess
import typing
from urllib.parse import parse_qs, urlencode, urlsplit

import peers

# RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
REDIRECT = "http://127.0.0.1:50000/callback"


@dataclasses.dataclass
class Load:
    """What one run of the load program saw."""

    requests: int
    seconds: float
    p50: float  # milliseconds
    p99: float  # milliseconds
    errors: int
    cpu: float  # seconds of the load program itself


@dataclasses.dataclass
class Scenario:
    name: str
    about: str
    run: typing.Callable  # (proxy, seconds, folder) -> Load
    budget: typing.Optional[float] = None  # CPU per request, at most this times nginx's
    prepare: typing.Optional[typing.Callable] = None  # (proxy, folder), before the clock starts


MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60000.0}


def duration(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * MILLISECONDS[unit]


def spend(command, limit):
    """Runs a load program on its core; its output and the CPU seconds it took."""
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


def wrk(proxy, path, seconds, connections=CONNECTIONS, headers=(), script=None):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "10s"]
    for header in headers:
        command += ["-H", header]
    if script:
        command += ["-s", str(script)]
    before = os.times()
    output = spend(command + [f"http://127.0.0.1:{proxy.port}{path}"], seconds + 30)
    after = os.times()
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
        cpu=after.children_user + after.children_system - before.children_user - before.children_system,
    )


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


def upload(proxy, seconds, folder):
    script = pathlib.Path(folder) / "upload.lua"
    script.write_text(f'wrk.method = "POST"\nwrk.body = string.rep("x", {peers.LARGE})\n')
    return wrk(proxy, "/sink", seconds, connections=16, script=script)


def new_connections(proxy, seconds, folder):
    return wrk(proxy, "/", seconds, connections=32, headers=["Connection: close"])


def authorize(proxy, seconds, folder):
    return wrk(proxy, authorization_request(), seconds)


def refused(proxy, seconds, folder):
    """An authorization request without a challenge. A plain proxy forwards it, the gateway answers it."""
    return wrk(proxy, authorization_request().split("&code_challenge")[0], seconds)


def codes(proxy, count):
    """Codes from authorization requests, pipelined on one connection. A plain proxy hands out the upstream's."""
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


CODES = 20_000  # for one run: more than a second's worth


def fetch_codes(proxy, folder):
    listed = pathlib.Path(folder) / f"codes-{proxy.name}"
    listed.write_text("\n".join(codes(proxy, CODES)) + "\n")


def token(proxy, seconds, folder):
    fields = {"grant_type": "authorization_code", "client_id": "bench", "redirect_uri": REDIRECT}
    fixed = urlencode(dict(fields, code_verifier=VERIFIER))
    script = pathlib.Path(folder) / "token.lua"
    # Each code is redeemed once. wrk itself knows only the clock, so the script says how long the codes lasted.
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


SCENARIOS = [
    Scenario("small", "keep-alive, 200 bytes", small, 0.95),
    Scenario("new", "a connection per request, 200 bytes", new_connections),
    Scenario("large", "keep-alive, answers of 1 MiB", large),
    Scenario("upload", "keep-alive, requests of 1 MiB", upload),
    Scenario("authorize", "authorization requests, sealed", authorize, 1.5),
    Scenario("refused", "authorization requests without a challenge", refused),
    Scenario("token", "token requests, verified, each code once", token, 1.5, fetch_codes),
]
