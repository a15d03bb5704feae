"""The user of a device: opens the verification page in the script `browser`, types the code and signs in, while the
client program polls."""

import re
import subprocess
import sys

# RFC 8628, section 6.1.
USER_CODE = re.compile(r"[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}")


def confirm(browser, page, code, app):
    """Starts the browser and returns at once. The browser fails if the confirmation lacks the code or the app's name."""
    if not USER_CODE.fullmatch(code):
        sys.exit(f"the user code `{code}` does not have the expected form")
    subprocess.Popen(
        [sys.executable, browser, "--user-code", code, "--expect", code, "--expect", app, page],
        stdout=subprocess.DEVNULL,
    )
