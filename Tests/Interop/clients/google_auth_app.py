"""A desktop app with google-auth-oauthlib: `InstalledAppFlow` opens the browser that BROWSER names, listens on a
loopback port that the system chooses, and uses PKCE."""

import json
import os

from arguments import parse

# oauthlib otherwise requires https at the token endpoint too.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

from google.auth.transport.requests import AuthorizedSession, Request
from google_auth_oauthlib.flow import InstalledAppFlow

options = parse()
flow = InstalledAppFlow.from_client_config(
    {
        "installed": {
            "client_id": options.client_id,
            "client_secret": options.client_secret or "",
            "auth_uri": options.authorize,
            "token_uri": options.token,
        }
    },
    scopes=options.scope.split(),
    autogenerate_code_verifier=True,
)
credentials = flow.run_local_server(host="127.0.0.1", port=0, timeout_seconds=60, authorization_prompt_message="")
first = credentials.token
me = AuthorizedSession(credentials).get(options.resource, timeout=60)
me.raise_for_status()
credentials.refresh(Request())
again = AuthorizedSession(credentials).get(options.resource, timeout=60)
again.raise_for_status()
print(json.dumps({"me": me.json(), "refreshed": credentials.token != first and again.json()}))
