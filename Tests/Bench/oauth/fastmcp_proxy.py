"""FastMCP's OAuthProxy in front of the legacy server, as one uvicorn worker with memory storage and without consent
pages, so that it does the same work as the gateway.

    fastmcp_proxy.py PORT SERVER_PORT CLIENT_ID CLIENT_SECRET
"""

import sys

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth import OAuthProxy
from fastmcp.server.auth.providers.debug import DebugTokenVerifier
from key_value.aio.stores.memory import MemoryStore

port, server, client, secret = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
proxy = OAuthProxy(
    upstream_authorization_endpoint=f"http://127.0.0.1:{server}/oauth/authorize",
    upstream_token_endpoint=f"http://127.0.0.1:{server}/oauth/token",
    upstream_client_id=client,
    upstream_client_secret=secret,
    token_verifier=DebugTokenVerifier(required_scopes=["profile"]),
    base_url=f"http://127.0.0.1:{port}",
    forward_pkce=False,
    forward_resource=False,
    client_storage=MemoryStore(),
    jwt_signing_key="a key of this run",
    require_authorization_consent=False,
)
uvicorn.run(FastMCP("bench", auth=proxy).http_app(), host="127.0.0.1", port=port, log_level="error", access_log=False)
