#!/usr/bin/env python3
"""The loopback redirect URI of a native app (RFC 8252, section 7.3), with Python's standard library only.

  callback.py PORT URL      opens URL in the browser, and prints the address to which the browser is sent back
"""

import http.server
import sys
import webbrowser


class Callback:
    """Listens on 127.0.0.1 for one authorization response; port 0 is any free port."""

    def __init__(self, port=0):
        callback = self
        self.address = None

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path.startswith("/callback?"):
                    callback.address = callback.redirect_uri.removesuffix("/callback") + self.path
                self.send_response(200 if callback.address else 404)
                self.end_headers()
                self.wfile.write(b"You can close this window.")

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", port), Handler)
        self.redirect_uri = f"http://127.0.0.1:{self.server.server_port}/callback"

    def open(self, url):
        """Opens the system browser, and returns the address of the response."""
        print("Open this link to sign in:", url, file=sys.stderr, flush=True)
        webbrowser.open(url)
        while self.address is None:
            self.server.handle_request()
        self.server.server_close()
        return self.address


if __name__ == "__main__":
    print(Callback(int(sys.argv[1])).open(sys.argv[2]))
