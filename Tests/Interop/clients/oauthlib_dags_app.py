"""A device with requests-oauthlib-dags. Its polls have the client id in HTTP Basic with an empty secret, and repeat the
scope."""

import json

from requests_oauthlib_dags import DeviceAuthorizationGrantSession

from arguments import parse
from device import confirm

options = parse()
session = DeviceAuthorizationGrantSession(options.client_id, scope=options.scope.split())
page, code = session.authorization_url(options.device_authorization)
confirm(options.browser, page, code, options.client_name)
token = session.wait_for_authorization(options.token, timeout=60)
me = session.get(options.resource, timeout=60)
me.raise_for_status()
renewed = session.refresh_token(options.token, client_id=options.client_id, timeout=60)
again = session.get(options.resource, timeout=60)
again.raise_for_status()
print(json.dumps({"me": me.json(), "refreshed": renewed["access_token"] != token["access_token"] and again.json()}))
