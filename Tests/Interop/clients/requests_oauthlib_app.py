"""An app with requests-oauthlib. As a native app it uses PKCE, no secret and a private-use redirect URI; the operating
system would pass this URI to the app, and here the script `browser` prints it. With --client-secret it is a plain web
app, the kind that legacy servers support."""

import json
import os
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

from arguments import parse

# oauthlib otherwise requires https everywhere, even for redirect URIs with a private-use scheme.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

from oauthlib.oauth2 import WebApplicationClient
from requests_oauthlib import OAuth2Session

options = parse()
secret = options.client_secret
session = OAuth2Session(
    client=WebApplicationClient(options.client_id),
    redirect_uri=options.redirect_uri,
    scope=options.scope.split(),
    pkce=None if secret else "S256",
)
url, state = session.authorization_url(options.authorize)
browser = subprocess.run(
    [sys.executable, options.browser, "--until", options.redirect_uri, url], stdout=subprocess.PIPE, timeout=60, text=True
)
if browser.returncode:
    sys.exit(1)
answer = browser.stdout.strip()
parameters = parse_qs(urlsplit(answer).query)
if not answer.startswith(options.redirect_uri):
    sys.exit(f"the browser ended at {answer}, not at {options.redirect_uri}")
if "iss" in parameters and parameters["iss"] != [options.issuer]:
    sys.exit(f"`iss` is {parameters['iss']}, expected {options.issuer} (RFC 9207)")

# The library checks the state.
how = {"client_secret": secret, "include_client_id": options.secret_in_body} if secret else {"include_client_id": True}
if secret and not options.secret_in_body:
    how = {"auth": (options.client_id, secret)}
token = session.fetch_token(options.token, authorization_response=answer, timeout=60, **how)
me = session.get(options.resource, timeout=60)
me.raise_for_status()

renewal = {"client_id": options.client_id}
if secret:
    renewal = {"auth": (options.client_id, secret)}
    if options.secret_in_body:
        renewal = {"client_id": options.client_id, "client_secret": secret}
renewed = session.refresh_token(options.token, refresh_token=token["refresh_token"], timeout=60, **renewal)
again = session.get(options.resource, timeout=60)
again.raise_for_status()
print(json.dumps({"me": me.json(), "refreshed": renewed["access_token"] != token["access_token"] and again.json()}))
