"""What the scripts of login pages do. The browser of the interoperability runs has no JavaScript."""

import os
from urllib.parse import parse_qs, quote, urljoin, urlsplit


def glewlwyd(session, url, refuse):
    """The page `login.html` of Glewlwyd: loads its program, signs in, grants the scope that the client asks for, or none, and
    returns the authorization URL to open again; `None` if the page stays, because nothing was granted."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    if "g_continue" in query["callback_url"]:
        return None

    def call(method, path, values=None):
        answer = session.request(method, urljoin(url, path), json=values, timeout=60)
        # 401 is the answer for a new session, and for a scope that the user may not grant.
        if answer.status_code != 401:
            answer.raise_for_status()
        return answer

    for part in ("login.js", "css/glewlwyd.css", "locales/en/translations.json", "config/"):
        call("GET", part)
    api = urljoin(url, call("GET", "config.json").json()["GlewlwydUrl"]) + "api/"
    call("GET", api + "profile_list")
    call("GET", api + "profile/plugin")
    user = {"username": os.environ.get("BROWSER_USER", "ada")}
    call("POST", api + "auth/", {**user, "password": os.environ.get("BROWSER_PASSWORD", "correct horse")})
    client, scope = quote(query["client_id"], safe=""), query["scope"]
    call("GET", api + f"auth/grant/{client}/{quote(scope, safe='')}")
    if call("PUT", api + f"auth/grant/{client}", {"scope": "" if refuse else scope}).status_code == 401:
        return None
    call("GET", api + "auth/scheme/?scope=" + quote(scope, safe=""))
    return query["callback_url"] + "&g_continue"


def find(url):
    """Returns the script of a page; `None` if it has none that is necessary."""
    parts = urlsplit(url)
    return glewlwyd if parts.path.endswith("/login.html") and "callback_url=" in parts.query else None
