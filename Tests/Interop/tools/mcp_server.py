"""An MCP server with FastMCP that accepts access tokens of the gateway. It asks the gateway's introspection endpoint
about each token, and has one tool, which returns the client and the scopes of the token.

Usage: mcp_server.py PORT ISSUER ID SECRET
"""

import sys

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.introspection import IntrospectionTokenVerifier
from fastmcp.server.dependencies import get_access_token

port, issuer, name, secret = sys.argv[1:]
base = f"http://127.0.0.1:{port}"
verifier = IntrospectionTokenVerifier(
    introspection_url=issuer + "/.proofgate/introspect",
    client_id=name,
    client_secret=secret,
    required_scopes=["profile"],
    audience=base + "/mcp",
)
server = FastMCP("Tools", auth=RemoteAuthProvider(verifier, [issuer], base))


@server.tool(annotations={"readOnlyHint": True})
def whoami() -> dict:
    """Returns the client and the scopes of the access token."""
    token = get_access_token()
    return {"client_id": token.client_id, "scopes": token.scopes}


server.run(
    "http", host="127.0.0.1", port=int(port), show_banner=False, log_level="WARNING", host_origin_protection=True
)
