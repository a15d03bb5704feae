"""The resource endpoint in front of several servers that do not know each other's tokens."""

import http.server
import ssl
import threading
import urllib.error
import urllib.request


class Issuers:
    """Listens with TLS on loopback and forwards each request for the path to the servers until one accepts its access
    token. `accepted` counts the requests by server."""

    def __init__(self, upstreams, path, certificate, key):
        self.accepted = [0] * len(upstreams)
        # Without the proxies of the environment.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(handler):
                answer = 401, b"{}"
                for number, upstream in enumerate(upstreams):
                    request = urllib.request.Request(upstream + path)
                    request.add_header("Authorization", handler.headers.get("Authorization", ""))
                    try:
                        with opener.open(request, timeout=60) as response:
                            answer = response.status, response.read()
                        self.accepted[number] += 1
                        break
                    except urllib.error.HTTPError as error:
                        answer = error.code, error.read()
                handler.send_response(answer[0])
                handler.send_header("Content-Type", "application/json")
                handler.send_header("Content-Length", str(len(answer[1])))
                handler.end_headers()
                handler.wfile.write(answer[1])

            def log_message(handler, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.resource = f"https://127.0.0.1:{self.server.server_port}{path}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()
