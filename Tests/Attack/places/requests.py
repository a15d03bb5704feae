"""The places that a client controls."""

import base64

from .scene import FORM, REDIRECTS, SECRET, VERIFIER, Request, authorization, encoded

HEAD, TARGET, BODY, INSPECTED, VALUE = 15_000, 8_100, 64_000, 16_000, 24_000  # bytes, close to the limits of the gateway
IN_TARGET = b"\r\n\t "
IN_FIELD = b"\r\n"
PATHS = (b"/", b"/~", b"/index.php/", b"/~//a//a|0.php|1.php|2.php", b"/oauth/token;", b"/oauth/token/", b"/~/%2e", b"/.proofgate/",
         b"/~//N//N//N|0.php|1.php|2.php|3.php", b"/.well-known/", b"/.well-known/oauth-authorization-server/", b"/oauth/authorize",
         b"/routed/", b"http://127.0.0.1/", b"/x?", b"/device", b"*")
ENDS = (b"", b"?a", b"?code=a&state=b", b"/.well-known/openid-configuration", b"/oauth/token", b"|", b"/..")
PAGES = (b"/x", b"/", b"/~", b"/index.php", b"/oauth/token", b"/oauth/authorize", b"/.proofgate/callback", b"/.proofgate/start",
         b"/.proofgate/consent", b"/device", b"/.proofgate/qr", b"/.proofgate/rules/", b"/.well-known/openid-configuration",
         b"/.well-known/oauth-protected-resource", b"/routed/a", b"/oauth/par", b"/register")
QUERIES = (b"", b"a=", b"q=", b"code=a&", b"state=", b"client_id=app&",
           b"client_id=observed&redirect_uri=com.example.observed:/callback&",
           b"user_code=", b"response_type=code&client_id=app&")
FIELDS = {
    b"Host": (b"", b"127.0.0.1:", b"a."), b"Cookie": (b"", b"proofgate=", b"proofgate=a;", b"a=b; ", b"SESSION="),
    b"Authorization": (b"", b"Basic ", b"Bearer ", b"DPoP ", b"Basic YTpi"), b"DPoP": (b"", b"eyJ"),
    b"Content-Type": (b"", b"text/html;", FORM + b";", b"multipart/form-data; boundary=", b"application/json;"),
    b"Content-Encoding": (b"", b"gzip,"), b"Content-Length": (b"", b"0"), b"Accept": (b"", b"text/html,"),
    b"Accept-Language": (b"", b"de,", b"x;q=0.1,"), b"Accept-Encoding": (b"", b"gzip,"),
    b"Forwarded": (b"", b"for=", b"for=1.2.3.4;"),
    b"X-Forwarded-For": (b"", b"1.2.3.4,"), b"X-Forwarded-Proto": (b"", b"https,"), b"X-Forwarded-Host": (b"",),
    b"Via": (b"", b"1.1 a,"), b"Connection": (b"", b"close,"), b"Keep-Alive": (b"",), b"TE": (b"", b"trailers,"),
    b"Trailer": (b"", b"a,"),
    b"Transfer-Encoding": (b"", b"chunked,", b"gzip,"), b"Upgrade": (b"", b"websocket,"), b"HTTP2-Settings": (b"",),
    b"Expect": (b"", b"100-continue"), b"Origin": (b"", b"http://127.0.0.1:5151", b"https://"),
    b"Referer": (b"", b"http://127.0.0.1/?"),
    b"User-Agent": (b"", b"Mozilla/5.0 (Linux; wv) "), b"If-None-Match": (b"", b'"a",'), b"Range": (b"", b"bytes="),
    b"traceparent": (b"", b"00-"), b"tracestate": (b"", b"a=b,"), b"Sec-Fetch-Site": (b"",), b"Sec-Fetch-Dest": (b"",),
    b"Sec-Purpose": (b"",),
    b"Access-Control-Request-Method": (b"", b"POST"), b"Access-Control-Request-Headers": (b"", b"a,"), b"X-Request-ID": (b"",),
    b"X-HTTP-Method-Override": (b"",), b"Priority": (b"u=1,", b""), b"X-Other": (b"",), b"X_Forwarded_For": (b"",),
    b"Shib-User": (b"",),
}


def authorize(client, **changes):
    return b"/oauth/authorize?" + encoded(authorization(client, **changes))


def post(target, body, **more):
    return Request(target, b"POST", body=body, **more)


def token(values, **more):
    return post(b"/oauth/token", values if isinstance(values, bytes) else encoded(values), **more)


REGISTRATION = b'{"redirect_uris":["https://app.example.com/callback"],"client_name":"a"}'
# The requests in which each field is tried.
CONTEXTS = {
    "a request that passes": lambda fields: Request(b"/x", fields=fields, is_trusted=False),
    "a request through a proxy": lambda fields: Request(b"/routed/x", fields=fields),
    "an authorization request": lambda fields: Request(authorize("asking"), fields=fields),
    "an observed authorization request": lambda fields: Request(authorize("observed"), fields=fields),
    "a token request": lambda fields: token({"grant_type": "refresh_token", "refresh_token": "a", "client_id": "app"},
                                            fields=fields),
    "a refused request": lambda fields: Request(b"/.proofgate/none", fields=(*fields, (b"Accept", b"text/html"))),
    "a form that passes": lambda fields: post(b"/x", b"a=b", fields=fields),
    "a registration": lambda fields: post(b"/register", REGISTRATION, fields=fields, kind=b"application/json"),
    "metadata": lambda fields: Request(b"/.well-known/oauth-protected-resource", fields=fields),
    "a preflight request": lambda fields: Request(b"/oauth/token", b"OPTIONS", fields=(
        (b"Origin", b"http://127.0.0.1:5151"), (b"Access-Control-Request-Method", b"POST"), *fields)),
    "a check": lambda fields: Request(b"/", fields=fields, port="check"),
    "an admin request": lambda fields: Request(b"/readyz", fields=fields, port="admin"),
}
# The fields that matter in a request of these contexts; all in the others.
SOME = {
    "metadata": (b"If-None-Match", b"Origin", b"Accept"), "a check": (b"Authorization", b"Host", b"Cookie"),
    "an admin request": (b"Host", b"Origin", b"Accept-Encoding", b"Sec-Fetch-Site", b"Authorization"),
    "a preflight request": (b"Origin", b"Access-Control-Request-Method", b"Access-Control-Request-Headers"),
    "an observed authorization request": (b"Cookie", b"User-Agent", b"Authorization", b"Content-Type", b"Accept-Language",
                                          b"X-Other"),
    "a registration": (b"Authorization", b"Content-Type", b"Content-Encoding", b"Origin", b"Cookie"),
    "a form that passes": (b"Content-Type", b"Content-Encoding", b"Cookie", b"Authorization", b"Accept-Language", b"Accept"),
    "a request through a proxy": (b"Forwarded", b"X-Forwarded-For", b"X-Forwarded-Proto", b"X-Forwarded-Host", b"Cookie",
                                  b"Via", b"X-Other",
                                  b"Connection", b"Shib-User", b"X_Forwarded_For", b"tracestate", b"X-Request-ID",
                                  b"Authorization"),
}
# Forms by name: the target, and the values in front of the input.
FORMS = {
    "token": (b"/oauth/token", (b"", b"grant_type=authorization_code&", b"grant_type=authorization_code&client_id=app&code=",
                                b"client_assertion=")),
    "pushed request": (b"/oauth/par", (b"", encoded(authorization("app")) + b"&", b"client_id=app&request=")),
    "device request": (b"/device_authorization", (b"", b"client_id=television&", b"client_id=television&scope=")),
    "revocation": (b"/oauth/revoke", (b"", b"client_id=app&token=", b"client_id=app&token=a&")),
    "introspection": (b"/oauth/introspect", (b"", b"client_id=machine&client_secret=a&token=", b"token=a&")),
    "introspection of a resource": (b"/.proofgate/introspect",
                                    (b"", b"token=", b"client_id=api&client_secret=%s&token=" % SECRET.encode())),
    "authorization": (b"/oauth/authorize", (b"", encoded(authorization("asking")) + b"&", b"state=")),
    "callback": (b"/.proofgate/callback", (b"", b"code=a&state=", b"code=")),
    "start": (b"/.proofgate/start", (b"", b"state=")),
}
# Parameters by request: the values of a complete one, and the names of others.
PARAMETERS = {
    "authorization": (authorization("asking"),
                      ("scope", "nonce", "prompt", "resource", "response_mode", "request", "request_uri", "claims",
                                                "login_hint", "ui_locales", "audience", "max_age", "registration", "other")),
    "observed authorization": (authorization("observed"), ("scope", "other")),
    "code": ({"grant_type": "authorization_code", "client_id": "app", "code": "a", "redirect_uri": REDIRECTS["app"],
              "code_verifier": VERIFIER},
             ("client_secret", "client_assertion", "client_assertion_type", "scope", "resource", "other")),
    "refresh": ({"grant_type": "refresh_token", "refresh_token": "a", "client_id": "app"}, ("scope", "resource", "audience")),
    "poll": ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "a", "client_id": "television"}, ()),
    "client credentials": ({"grant_type": "client_credentials", "client_id": "machine", "client_secret": "a"},
                           ("scope", "resource")),
    "secret": ({"grant_type": "authorization_code", "client_id": "site", "client_secret": SECRET, "code": "a",
                "redirect_uri": REDIRECTS["site"]}, ()),
    "pushed request": (authorization("app"), ("scope", "claims", "request", "client_secret", "other")),
    "device request": ({"client_id": "television"}, ("scope", "resource", "client_secret")),
    "revocation": ({"token": "a", "client_id": "app"}, ("token_type_hint",)),
    "introspection": ({"token": "a", "client_id": "machine", "client_secret": "a"}, ("token_type_hint",)),
    "introspection of a resource": ({"token": "a", "client_id": "api", "client_secret": SECRET}, ()),
    "callback": ({"code": "a", "state": "b"}, ("error", "error_description", "iss", "session_state", "realmId")),
    "device page": ({"user_code": "a"}, ()),
}
TARGETS = {name: target for name, (target, _) in FORMS.items()} | {
    name: b"/oauth/token" for name in ("code", "refresh", "poll", "client credentials", "secret")}
MEMBERS = ("redirect_uris", "client_name", "scope", "grant_types", "response_types", "token_endpoint_auth_method",
           "application_type",
           "client_uri", "contacts", "jwks", "other")


def places(add):
    """Calls `add` with a name, a grammar, a length, and a function that makes the request of a text in a scene."""
    add("target", "path", TARGET, lambda _, text: Request(text), IN_TARGET, PATHS, ENDS, http2=True)
    add("target of the admin listener", "path", TARGET, lambda _, text: Request(b"/x" + text, port="admin"), IN_TARGET)
    add("target of a check", "path", TARGET, lambda _, text: Request(b"/" + text, port="check"), IN_TARGET)
    add("method", "field", 4_000, lambda _, text: Request(method=text), b"\r\n ", (b"", b"GET"), http2=True)
    add("first line", "head", HEAD, lambda scene, text: Request(raw=text + b" HTTP/1.1\r\nHost: %s\r\n\r\n" % scene.host), b"",
        (b"GET ", b"GET /", b"", b"\r\n"))
    for path in PAGES:
        name = path.decode()
        add(f"query of {name}", "form", TARGET - len(path), lambda _, text, path=path: Request(path + b"?" + text), IN_TARGET,
            QUERIES, http2=path in (b"/x", b"/oauth/authorize"))
        add(f"path query of {name}", "path", TARGET - len(path), lambda _, text, path=path: Request(path + b"?" + text), IN_TARGET,
            (b"", b"q=", b"/", b"a=b&q=/"))
    for context, make in CONTEXTS.items():
        for field, starts in FIELDS.items():
            if field in SOME.get(context, FIELDS):
                add(f"{field.decode()} of {context}", "field", HEAD, lambda _, text, make=make, field=field: make(((field, text),)),
                    IN_FIELD, starts, http2=context == "a request that passes" and field not in (b"Transfer-Encoding",
                                                                                                 b"Connection"))
        add(f"fields of {context}", "head", HEAD, lambda scene, text, make=make: with_head(scene, make(()), text), b"")
        add(f"name of a field of {context}", "field", HEAD, lambda _, text, make=make: make(((text, b"a"),)), b"\r\n: ",
            (b"", b"X-", b"X_"), http2=context == "a request that passes")
    add("Upgrade of a switch of protocols", "field", HEAD,
        lambda _, text: Request(fields=((b"Connection", b"upgrade"), (b"Upgrade", text))), IN_FIELD, (b"", b"websocket,"))
    add("fields of the name Cookie", "field", 180, lambda _, text: Request(fields=(((b"Cookie", text),) * 80)), IN_FIELD,
        http2=True)
    for name, (target, starts) in FORMS.items():
        add(f"form of {name}", "form", BODY, lambda _, text, target=target: post(target, text), b"", starts,
            http2=name in ("token", "pushed request"))
        add(f"multipart form of {name}", "form", BODY,
            lambda _, text, target=target: post(target, text, kind=b"multipart/form-data; boundary=b"), b"",
            (b"", b'--b\r\nContent-Disposition: form-data; name="', b"--b\r\n"))
        add(f"JSON of {name}", "json", BODY, lambda _, text, target=target: post(target, text, kind=b"application/json"), b"")
    for kind in (FORM, b"multipart/form-data; boundary=b", b"text/plain", b"application/json", FORM + b"; charset=utf-16"):
        starts = (b"", b"client_id=app&", b"grant_type=", b"--b\r\n", b'--b\r\nContent-Disposition: form-data; name="')
        add(f"passing body of {kind.decode()}", "form", INSPECTED, lambda _, text, kind=kind: post(b"/x", text, kind=kind), b"",
            starts,
            http2=kind == FORM)
        add(f"long passing body of {kind.decode()}", "form", BODY, lambda _, text, kind=kind: post(b"/x", text, kind=kind), b"",
            starts)
    for name, (values, others) in PARAMETERS.items():
        for parameter in (*values, *others):
            is_query = name in ("authorization", "observed authorization", "callback", "device page")

            def make(scene, text, name=name, parameter=parameter, is_query=is_query, values=values):
                body = encoded({key: value for key, value in values.items() if key != parameter})
                body += (b"&" if body else b"") + parameter.encode() + b"=" + text
                if is_query:
                    path = {"callback": b"/.proofgate/callback", "device page": b"/device"}.get(name, b"/oauth/authorize")
                    return Request(path + b"?" + body)
                return post(TARGETS[name], body)

            starts = (b"", values.get(parameter, "a").encode().replace(b"/", b"%2F"))
            add(f"{parameter} of {name}", "text", TARGET - 300 if is_query else VALUE, make,
                IN_TARGET if is_query else b"", starts)

    def basic(scene, text):
        field = (b"Authorization", b"Basic " + base64.b64encode(text))
        return token({"grant_type": "refresh_token", "refresh_token": "a"}, fields=(field,))

    add("credentials of HTTP Basic", "text", 11_000, basic, b"", (b"", b"app:", b"a%", b"site:"))

    def consent(scene, text, name=b"decision"):
        cookie, value = scene.consent_form()
        return post(b"/.proofgate/consent", b"consent_token=" + value + b"&" + name + b"=" + text, fields=((b"Cookie", cookie),))

    def device(scene, text, name=b"user_code"):
        cookie, value = scene.device_form()
        return post(b"/device", b"device_token=" + value + b"&" + name + b"=" + text, fields=((b"Cookie", cookie),))

    add("decision of consent", "form", BODY, consent, b"", (b"", b"deny&", b"allow&"))
    add("token of consent", "text", VALUE, lambda scene, text: consent(scene, text, b"consent_token"), b"")
    add("user code", "form", BODY, device, b"", (b"", b"WDJB-MJHT&"))
    add("token of a device page", "text", VALUE, lambda scene, text: device(scene, text, b"device_token"), b"")

    def sealed(scene, text):
        values = {"grant_type": "authorization_code", "client_id": "app", "redirect_uri": REDIRECTS["app"],
                  "code_verifier": VERIFIER}
        return token(encoded(values) + b"&code=" + scene.code().encode() + text)

    add("text behind a sealed code", "form", VALUE - 1_000, sealed, b"", (b"", b"&", b"."), prepares=True)
    add("JSON of a registration", "json", BODY, lambda _, text: post(b"/register", text, kind=b"application/json"), b"",
        (b"", b"{", b'{"a":', b'{"redirect_uris":['), (b"", b"}"))
    for member in MEMBERS:
        def registration(_, text, member=member):
            front = b"" if member == "redirect_uris" else b'"redirect_uris":["https://app.example.com/callback"],'
            return post(b"/register", b"{" + front + b'"' + member.encode() + b'":' + text + b"}", kind=b"application/json")

        # `ClientMetadata` refuses longer texts.
        add(f"{member} of a registration", "json", 16_000, registration, b"", (b'"', b"[", b'["', b'["https://a.example/', b""),
            (b'"', b'"]', b"]", b"0]", b'"a"]', b""))
    for name, make in {
            "a body that passes": lambda body: Request(b"/x", b"POST", chunks=body),
            "a form that passes": lambda body: Request(b"/x", b"POST", chunks=body, fields=((b"Content-Type", FORM),)),
            "a token request": lambda body: Request(b"/oauth/token", b"POST", chunks=body,
                                                    fields=((b"Content-Type", FORM),))}.items():
        add(f"chunks of {name}", "chunks", BODY, lambda _, text, make=make: make(text + b"0\r\n\r\n"), b"",
            (b"", b"1;a", b'1;a="', b"5"),
            (b"", b"\r\na\r\n", b'"\r\na\r\n', b"\r\n"))
        add(f"trailers of {name}", "chunks", 8_000, lambda _, text, make=make: make(b"1\r\na\r\n0\r\n" + text + b"\r\n\r\n"), b"",
            (b"", b"X-A: ", b"X"))
    for size in (1, 16):
        add(f"DATA frames of {size} bytes", "form", 4_000 * size, lambda _, text, size=size: token(text, piece=size), b"",
            http2=True,
            http1=False)


def with_head(scene, request, text):
    """The same request with these lines in front of the end of its head."""
    data = scene.http1(request)
    head, _, body = data.partition(b"\r\n\r\n")
    return Request(raw=head + b"\r\n" + text + b"\r\n\r\n" + body, is_trusted=request.is_trusted, port=request.port)
