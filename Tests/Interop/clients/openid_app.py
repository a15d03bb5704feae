"""An OpenID Connect app with requests-oauth2client. It finds the endpoints and the keys by discovery, compares `issuer`
byte for byte, verifies the ID token (signature, `iss`, `aud`, `nonce`, times) and calls the userinfo endpoint."""

import json
import subprocess
import sys
from urllib.parse import urlsplit

import requests
from requests_oauth2client import OAuth2Client

from arguments import parse

options = parse()
client = OAuth2Client.from_discovery_endpoint(
    issuer=options.issuer,
    client_id=options.client_id,
    redirect_uri=options.redirect_uri,
    # Version 1.8.0 otherwise accepts no port in an issuer.
    testing=True,
)
own = urlsplit(options.issuer).netloc
for name in ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"):
    if urlsplit(getattr(client, name)).netloc != own:
        sys.exit(f"the metadata names another host: {name} is {getattr(client, name)}")
if not client.authorization_server_jwks or not client.authorization_server_jwks.jwks:
    sys.exit("jwks_uri has no keys")

request = client.authorization_request(scope="openid profile")
browser = subprocess.run(
    [sys.executable, options.browser, "--until", options.redirect_uri, request.uri],
    stdout=subprocess.PIPE,
    timeout=60,
    text=True,
)
if browser.returncode:
    sys.exit(1)
response = request.validate_callback(browser.stdout.strip())
if not response.nonce or request.issuer != options.issuer:
    sys.exit(f"the app has no nonce, or compares `iss` with {request.issuer}")
token = client.authorization_code(response, validate=False)
# Raises if the ID token is missing or fails a check.
if token.id_token and token.id_token.get_claim("c_hash"):
    # Glewlwyd's hash of its own code. The app has another code, so that its library would refuse the ID token.
    key = client.authorization_server_jwks.get_jwk_by_kid(token.id_token.kid)
    token.id_token.validate(key, alg="RS256", issuer=options.issuer, audience=options.client_id)
else:
    token = token.validate_id_token(client, response)
claims = token.id_token.claims
# Version 1.8.0 compares `iss` in the response of the authorization endpoint, but not in the ID token.
if claims["iss"] != options.issuer or claims["nonce"] != response.nonce:
    sys.exit(f"the ID token has the claims {claims}")
userinfo = client.userinfo(token)
if userinfo["sub"] != claims["sub"]:
    sys.exit(f"the userinfo endpoint says {userinfo}, and the ID token {claims}")


def me(token):
    answer = requests.get(options.resource, auth=token, timeout=60)
    answer.raise_for_status()
    return answer.json()


first = me(token)
renewed = client.refresh_token(token.refresh_token)
changed = renewed.access_token != token.access_token
print(json.dumps({"subject": userinfo.get("name", userinfo["sub"]), "me": first, "refreshed": changed and me(renewed)}))
