"""An MCP client with FastMCP's OAuth: as mcp_app.py, but with FastMCP's own callback server, its opener of browsers
(BROWSER) and a redirect URI on `localhost`. FastMCP fetches the authorization URL once before it opens it.

Usage: fastmcp_app.py MCP_URL [URL_OF_THE_CLIENT_METADATA_DOCUMENT]
"""

import asyncio
import json
import sys
import time

from fastmcp import Client
from fastmcp.client.auth import OAuth


class CountingOAuth(OAuth):
    sign_ins = 0

    async def redirect_handler(self, authorization_url):
        self.sign_ins += 1
        await super().redirect_handler(authorization_url)


async def main():
    oauth = CountingOAuth(client_metadata_url=sys.argv[2] if len(sys.argv) > 2 else None, callback_timeout=40)
    async with Client(sys.argv[1], auth=oauth) as client:
        first = await client.call_tool("whoami")
        before = oauth.context.current_tokens
        oauth.context.token_expiry_time = time.time() - 1
        second = await client.call_tool("whoami")
        after = oauth.context.current_tokens
    print(
        json.dumps(
            {
                "client_id": oauth.context.client_info.client_id,
                "first": first.data,
                "second": second.data,
                "refreshed": before.access_token != after.access_token,
                "rotated": before.refresh_token != after.refresh_token,
                "sign_ins": oauth.sign_ins,
            }
        )
    )


asyncio.run(main())
