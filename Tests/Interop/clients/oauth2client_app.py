"""An app with requests-oauth2client, which reads the metadata document of the issuer, compares `issuer` byte for byte,
uses PKCE and checks `iss`. With --flow device it is a device that polls (RFC 8628)."""

import json
import subprocess
import sys

import requests
from requests_oauth2client import DeviceAuthorizationPollingJob, OAuth2Client, oidc_discovery_document_url

from arguments import parse
from device import confirm

options = parse()
client = OAuth2Client.from_discovery_endpoint(
    issuer=options.issuer,
    client_id=options.client_id,
    redirect_uri=options.redirect_uri,
    # Version 1.8.0 otherwise accepts no port in an issuer, and does not read the device endpoint of the document.
    testing=True,
    device_authorization_endpoint=requests.get(oidc_discovery_document_url(options.issuer), timeout=60)
    .json()
    .get("device_authorization_endpoint"),
)
if client.token_endpoint != options.token:
    sys.exit(f"the metadata names the token endpoint {client.token_endpoint}, expected {options.token}")

token = None
if options.flow == "device":
    started = client.authorize_device(scope=options.scope)
    confirm(options.browser, started.verification_uri, started.user_code, options.client_name)
    poll = DeviceAuthorizationPollingJob(client, started)
    while token is None:
        token = poll()
else:
    request = client.authorization_request(scope=options.scope)
    browser = subprocess.run(
        [sys.executable, options.browser, "--until", options.redirect_uri, request.uri],
        stdout=subprocess.PIPE,
        timeout=60,
        text=True,
    )
    if browser.returncode:
        sys.exit(1)
    token = client.authorization_code(request.validate_callback(browser.stdout.strip()))


def me(token):
    answer = requests.get(options.resource, auth=token, timeout=60)
    answer.raise_for_status()
    return answer.json()


first = me(token)
renewed = client.refresh_token(token.refresh_token)
changed = renewed.access_token != token.access_token
print(json.dumps({"me": first, "refreshed": changed and me(renewed)}))
