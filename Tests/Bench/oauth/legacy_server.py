"""The authorization server behind the compared OAuth proxies: one confidential client, no PKCE, one consent page. It
remembers the codes that it issued, and accepts each once.

    legacy_server.py PORT CLIENT_ID CLIENT_SECRET
"""

import asyncio
import base64
import html
import json
import secrets
import sys
from urllib.parse import parse_qsl, urlencode, urlsplit

port, client, secret = int(sys.argv[1]), sys.argv[2], sys.argv[3]
codes = {}


def authorize(method, query, form):
    fields = form if method == "POST" else query
    if fields.get("client_id") != client or "redirect_uri" not in fields:
        return 400, {}, b"unknown client"
    if method == "GET":
        hidden = "".join(
            f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in query.items()
        )
        page = f'<form method="post" action="/oauth/authorize">{hidden}<button name="go" value="1">Allow</button></form>'
        return 200, {"Content-Type": "text/html"}, page.encode()
    code = secrets.token_urlsafe(24)
    codes[code] = fields["redirect_uri"]
    back = urlencode({"code": code, "state": fields.get("state", "")})
    return 302, {"Location": f"{fields['redirect_uri']}?{back}"}, b""


def token(headers, form):
    basic = base64.b64encode(f"{client}:{secret}".encode()).decode()
    known = headers.get("authorization") == f"Basic {basic}" or form.get("client_secret") == secret
    found = codes.pop(form.get("code"), None)
    if not known or found is None or found != form.get("redirect_uri"):
        return 400, {"Content-Type": "application/json"}, b'{"error":"invalid_grant"}'
    answer = {"access_token": secrets.token_urlsafe(32), "token_type": "Bearer", "expires_in": 3600, "scope": "profile"}
    return 200, {"Content-Type": "application/json"}, json.dumps(answer).encode()


async def converse(reader, writer):
    try:
        while True:
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = lines[0].split(" ")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            body = (await reader.readexactly(int(headers.get("content-length", 0)))).decode()
            parts = urlsplit(target)
            query, form = dict(parse_qsl(parts.query)), dict(parse_qsl(body))
            if parts.path == "/oauth/authorize":
                status, fields, content = authorize(method, query, form)
            elif parts.path == "/oauth/token" and method == "POST":
                status, fields, content = token(headers, form)
            else:
                status, fields, content = 404, {}, b""
            head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            writer.write(f"HTTP/1.1 {status} Answer\r\n{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
    except (OSError, EOFError, ValueError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(converse, "127.0.0.1", port)
    await server.serve_forever()


asyncio.run(main())
