"""An MCP client with the MCP SDK (1.30 or 2.3): discovers the authorization server of an MCP server, gets a client_id,
signs in, calls the tool `whoami`, lets its access token expire, and calls the tool again with a refreshed one.

Usage: mcp_app.py MCP_URL BROWSER_PROGRAM [URL_OF_THE_CLIENT_METADATA_DOCUMENT REDIRECT_PORT]
"""

import asyncio
import http.server
import json
import subprocess
import sys
import threading
import time
from urllib.parse import parse_qs, urlsplit

from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

try:
    from httpx2 import AsyncClient
    from mcp.shared.auth import AuthorizationCodeResult
except ImportError:  # version 1
    from httpx import AsyncClient

    AuthorizationCodeResult = None

target, browser = sys.argv[1:3]
document, port = (sys.argv[3], int(sys.argv[4])) if len(sys.argv) > 3 else (None, 0)
answers = []


class Callback(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answers.append(parse_qs(urlsplit(self.path).query))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Storage:
    """Keeps tokens and registration in memory, as a client that runs once does."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def sign_in(url):
    process = await asyncio.to_thread(
        subprocess.run, [browser, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=40, text=True
    )
    if process.returncode:
        raise RuntimeError(process.stderr.strip())


async def answer():
    (parameters,) = answers
    if any(len(values) != 1 for values in parameters.values()) or "code" not in parameters:
        raise RuntimeError(f"the authorization response is {parameters}")
    one = {name: values[0] for name, values in parameters.items()}
    if AuthorizationCodeResult is None:
        return one["code"], one["state"]
    return AuthorizationCodeResult(code=one["code"], state=one["state"], iss=one.get("iss"))


async def main():
    listener = http.server.ThreadingHTTPServer(("127.0.0.1", port), Callback)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    storage = Storage()
    metadata = OAuthClientMetadata(
        client_name="MCP example",
        redirect_uris=[f"http://127.0.0.1:{listener.server_port}/callback"],
    )
    provider = OAuthClientProvider(target, metadata, storage, sign_in, answer, client_metadata_url=document)
    async with AsyncClient(auth=provider, timeout=30) as client:
        async with streamable_http_client(target, http_client=client) as streams:
            async with ClientSession(*streams[:2]) as session:
                await session.initialize()
                first = await session.call_tool("whoami")
                before = storage.tokens
                provider.context.token_expiry_time = time.time() - 1
                second = await session.call_tool("whoami")
    print(
        json.dumps(
            {
                "client_id": storage.client.client_id,
                "first": json.loads(first.content[0].text),
                "second": json.loads(second.content[0].text),
                "refreshed": before.access_token != storage.tokens.access_token,
                "rotated": before.refresh_token != storage.tokens.refresh_token,
                "sign_ins": len(answers),
            }
        )
    )


asyncio.run(main())
