"""A device with Microsoft's library MSAL. It finds the endpoints in the metadata document of the issuer, always asks for
`openid`, `profile` and `offline_access` too, and sends the device code also as `code`."""

import json
import sys

import msal
import requests

from arguments import parse
from device import USER_CODE, confirm

options = parse()
app = msal.PublicClientApplication(options.client_id, oidc_authority=options.issuer, timeout=60)
flow = app.initiate_device_flow(scopes=["notes"])
if "error" in flow:
    sys.exit(f"{flow['error']}: {flow.get('error_description')}")
# Programs with MSAL show this text, and no other, to the user.
found = USER_CODE.search(flow["message"])
if not found or flow["verification_uri"] not in flow["message"]:
    sys.exit(f"the message does not say what to do: {flow['message']}")
confirm(options.browser, flow["verification_uri"], found.group(), options.client_name)
token = app.acquire_token_by_device_flow(flow)
if "error" in token:
    sys.exit(f"{token['error']}: {token.get('error_description')}")


def me(token):
    answer = requests.get(options.resource, headers={"Authorization": "Bearer " + token["access_token"]}, timeout=60)
    answer.raise_for_status()
    return answer.json()


first = me(token)
renewed = app.acquire_token_by_refresh_token(token["refresh_token"], scopes=["notes"])
if "error" in renewed:
    sys.exit(f"{renewed['error']}: {renewed.get('error_description')}")
print(json.dumps({"me": first, "refreshed": renewed["access_token"] != token["access_token"] and me(renewed)}))
