"""The places that the server controls."""

import gzip
import zlib

from .requests import BODY, HEAD, IN_FIELD, REDIRECTS, VERIFIER, authorize, encoded, post, token
from .scene import Request, answer, query_of

JSON = b"Content-Type: application/json\r\n"
CALLBACK = b"http://127.0.0.1/callback"
FIELDS = {
    b"Location": (b"", b"/", b"http://127.0.0.1/callback?code=", b"/?code=a#", b"/a?b=", b"//"),
    b"Content-Location": (b"", b"/?code=a#"),
    b"Refresh": (b"", b"0;url=", b"0;url=http://127.0.0.1/callback?code="), b"Link": (b"", b"<", b"<a>;rel=", b"<a?code=b>,"),
    b"Set-Cookie": (b"", b"a=b;", b"proofgate=", b"SESSION="), b"Content-Type": (b"", b"text/html;", b"application/json;"),
    b"Content-Encoding": (b"", b"gzip,"), b"WWW-Authenticate": (b"", b"Basic ", b"Bearer "),
    b"Content-Disposition": (b"", b'a;filename="'),
    b"Cache-Control": (b"", b"no-store,"), b"Connection": (b"", b"close,"), b"Keep-Alive": (b"",),
    b"Transfer-Encoding": (b"", b"chunked,"),
    b"Trailer": (b"", b"a,"), b"Upgrade": (b"", b"websocket,"), b"Via": (b"", b"1.1 a,"), b"Date": (b"", b"Sun, "),
    b"Server": (b"",),
    b"Vary": (b"", b"a,"), b"Retry-After": (b"", b"1"), b"Content-Length": (b"", b"0"), b"Strict-Transport-Security": (b"",),
    b"Access-Control-Allow-Origin": (b"",), b"traceparent": (b"",), b"X-Request-ID": (b"",), b"X-Other": (b"",),
    b"ETag": (b"", b'"'),
}
# The requests whose answers are tried, with the status of the answer.
CONTEXTS = {
    "a page": (Request(b"/x"), 200), "a redirect": (Request(b"/x", is_trusted=False), 302),
    "a redirect with a code": (Request(b"/x?u=http%3a%2f%2f127.0.0.1%2fcallback%3fcode%3da&code=a"), 302),
    "an authorization response": (Request(authorize("app")), 302), "an observed response": (Request(authorize("observed")), 302),
    "a token response": (token({"grant_type": "client_credentials", "client_id": "machine", "client_secret": "a"}), 200),
}
# The fields that matter in answers of these contexts; all in the others.
READ = {
    "a redirect with a code": (b"Location", b"Content-Location", b"Refresh", b"Link", b"Set-Cookie"),
    "a redirect": (b"Location", b"Content-Location", b"Refresh", b"Link", b"Set-Cookie", b"Date"),
    "an observed response": (b"Location", b"Set-Cookie", b"Refresh", b"Link"),
}


def replaced(request, reply):
    return Request(**{**vars(request), "answer": reply})


def places(add):
    for context, (request, status) in CONTEXTS.items():
        for field, starts in FIELDS.items():
            if field not in READ.get(context, FIELDS):
                continue

            def make(_, text, request=request, status=status, field=field):
                return replaced(request, lambda _: answer(status, field + b": " + text + b"\r\n", b"ok"))

            add(f"{field.decode()} of {context}", "field", HEAD, make, IN_FIELD, starts)
        add(f"fields of {context}", "head", HEAD,
            lambda _, text, request=request, status=status: replaced(request, lambda _: answer(status, text + b"\r\n")), b"",
            (b"", b"Location: /\r\n"))
    page, reply = CONTEXTS["a page"][0], CONTEXTS["a token response"][0]
    for name, request in (("a page", page), ("a token response", reply)):
        add(f"status line of {name}", "head", HEAD,
            lambda _, text, request=request: replaced(request, lambda _: text + b"\r\nContent-Length: 2\r\n\r\nok"), b"",
            (b"HTTP/1.1 200 ", b"HTTP/1.1 ", b"HTTP/", b""))
        for form, grammar, front, end in (("chunks", "chunks", b"", b"0\r\n\r\n"),
                                          ("trailers", "chunks", b"2\r\nok\r\n0\r\n", b"\r\n")):
            add(f"{form} of {name}", grammar, BODY if form == "chunks" else 8_000,
                lambda _, text, request=request, front=front, end=end: replaced(
                    request, lambda _: b"HTTP/1.1 200 A\r\nTransfer-Encoding: chunked\r\n\r\n" + front + text + end), b"",
                (b"", b"1;a", b"X-A: "), (b"", b"\r\n", b"\r\na\r\n"))
        add(f"interim responses in front of {name}", "answers", BODY,
            lambda _, text, request=request: replaced(request, lambda _: text + answer(200, b"", b"ok")), b"")
        add(f"Link of early hints of {name}", "field", HEAD,
            lambda _, text, request=request: replaced(
                request, lambda _: b"HTTP/1.1 103 A\r\nLink: " + text + b"\r\n\r\n" + answer(200, b"", b"ok")), IN_FIELD,
            (b"", b"<", b"<a?code=b>,"))
    add("fields of a switch of protocols", "head", HEAD,
        lambda _, text: Request(b"/x", fields=((b"Connection", b"upgrade"), (b"Upgrade", b"websocket")),
                                answer=lambda _: b"HTTP/1.1 101 A\r\nConnection: upgrade\r\nUpgrade: websocket\r\n" + text + b"\r\n"), b"")
    for client in ("app", "observed", "site"):
        for mode in ("query", "fragment") if client == "app" else ("query",):
            request = Request(authorize(client, response_mode=mode if mode != "query" else None))
            for part, end in (("query", b"&"), ("fragment", b"#"), ("path", b"/")):
                def make(scene, text, request=request, end=end):
                    def respond(target):
                        found = scene.location(target)
                        if end == b"/":
                            address, _, query = found.partition(b"?")
                            found = address + b"/" + text + b"?" + query
                        else:
                            found += end + text
                        return answer(302, b"Location: " + found + b"\r\n")

                    return replaced(request, respond)

                add(f"{part} of the {mode} response for {client}", "form", 7_500, make, b"\r\n",
                    (b"", b"a=", b"error=access_denied&", b"scope="))
            for name in ("code", "state", "error", "error_description", "session_state", "scope", "iss", "realmId"):
                def make(scene, text, request=request, name=name):
                    def respond(target):
                        query = query_of(target)
                        pairs = [b"code=" + text if name == "code" else b"code=a" if name != "error" else b"",
                                 b"state=" + (text if name == "state" else query.get("state", "").encode())]
                        pairs += [name.encode() + b"=" + text] * (name not in ("code", "state"))
                        return answer(302,
                                      b"Location: %s?%s\r\n" % (query.get("redirect_uri", "/").encode(),
                                                                b"&".join(filter(None, pairs))))

                    return replaced(request, respond)

                add(f"{name} in the {mode} response for {client}", "text", 7_500, make, b"\r\n", (b"", b"a"))
    for name, request in (("the authorization endpoint", Request(authorize("app"))),
                          ("a page", Request(b"/x?u=http%3a%2f%2f127.0.0.1%2f")),
                          ("a form of sign-in", post(b"/oauth/authorize", b"user=a&password=b"))):
        for status in (200, 302):
            add(f"page of {name} with {status}", "markup", BODY,
                lambda _, text, request=request, status=status: replaced(
                    request, lambda _: answer(status, b"Content-Type: text/html\r\nLocation: /\r\n", text)), b"",
                (b"", b'<form method="post" action="' + CALLBACK + b'"><input name="code" value="'))
    for name, make in {
            "token": lambda _: reply,
            "introspection": lambda _: post(b"/oauth/introspect", b"client_id=machine&client_secret=a&token=a"),
            "revocation": lambda _: post(b"/oauth/revoke", b"client_id=app&token=a"),
            "observed token": lambda _: token({"grant_type": "refresh_token", "client_id": "observed", "refresh_token": "a"}),
            "redemption": lambda scene: token({"grant_type": "authorization_code", "client_id": "app", "code": scene.code(),
                                               "redirect_uri": REDIRECTS["app"], "code_verifier": VERIFIER}),
            "device request": lambda _: post(b"/device_authorization", encoded({"client_id": "television"}))}.items():
        prepares = name == "redemption"
        for status in (200, 400):
            def json(scene, text, make=make, status=status):
                return replaced(make(scene), lambda _: answer(status, JSON, text))

            add(f"JSON of the {name} response with {status}", "json", BODY, json, b"",
                (b"", b"{", b'{"access_token":"a",', b'{"a":', b'{"access_token":"', b'{"error":"',
                 b'{"error":"a","error_description":"',
                 b'{"access_token":"a","scope":"', b'{"access_token":"a","id_token":"'),
                 (b"", b"}", b'"}', b'","token_type":"bearer"}'),
                prepares=prepares)
        def form(scene, text, make=make):
            return replaced(make(scene), lambda _: answer(200, b"Content-Type: application/x-www-form-urlencoded\r\n", text))

        add(f"form of the {name} response", "form", BODY, form, b"", (b"", b"access_token=a&", b"access_token=", b"error="),
            prepares=prepares)
    def metadata(scene, text):
        scene.forget_metadata()
        return Request(b"/.well-known/openid-configuration", answer=lambda _: answer(200, JSON, text))

    add("metadata document", "json", BODY, metadata, b"",
        (b"", b"{", b'{"issuer":"http://127.0.0.1/","scopes_supported":[', b'{"jwks_uri":"http://127.0.0.1/',
         b'{"claims_supported":["'),
        (b"", b"}", b'"}', b'"]}', b"]}"), prepares=True)
    for coding, compress in (("gzip", gzip.compress), ("deflate", zlib.compress)):
        def make(_, text, coding=coding, compress=compress):
            return replaced(reply, lambda _: answer(200, JSON + b"Content-Encoding: %s\r\n" % coding.encode(), compress(text, 1)))

        add(f"{coding} token response", "json", BODY, make, b"", (b"", b"{", b'{"access_token":"'), (b"", b'"}'))
