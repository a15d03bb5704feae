"""An application that compares the decoded and normalised path, as WSGI frameworks provide it."""
import posixpath


def application(environ, start_response):
    path = posixpath.normpath("/" + environ.get("PATH_INFO", "").strip("/ ")).lower()
    isEndpoint = path.startswith(("/oauth/token", "/oauth/authorize"))
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"HANDLER=" + path[7:12].encode() if isEndpoint else b"other"]
