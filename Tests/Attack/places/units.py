"""The texts that `complexity` repeats, by the grammar of the place."""

# A number that is different in each repetition, for names that must differ.
NUMBER = b"\0"
# Bytes that some grammar treats in a special way, and one of each class of the others. All pairs of them are tried.
SPECIAL = [bytes([byte]) for byte in b"/.;|~%+:&=[]?#,\"\\<>(){} -_@!*'\t\x80\xffa0A"]
ESCAPED = [b"%2f", b"%2F", b"%5c", b"%252f", b"%2e", b"%00", b"%41", b"%c3%a4", b"%cc%81", b"%ef%bc%81", b"%ef%bc%8f", b"%ff",
           b"%u0061", b"%3b", b"%26", b"%3d", b"%5b", b"%5d", b"%25", b"%20", b"%0a", b"%e2%80%8b", b"%f0%9f%98%80", b"%zz", b"%"]
# Letters of which several make one character, or one makes several: U+0301, U+FF01, U+00E4, U+1F600 and U+FDFA.
UNICODE = [text.encode() for text in ("\u0301", "\uff01", "\u00e4", "\U0001f600", "\ufdfa", "a\u0301", "\u200d", "\u0130",
                                      "\u1100")]
TOKENS = {
    "path": ESCAPED + [
        b"/", b"//", b"/.", b"/..", b"/./", b"..", b";", b"|", b"~", b".php", b"0.php|", b"/index.php", b"/N", b"|N", b"/a", b"|a",
        b"wellknown", b"|wellknown", b".well-known", b"|.well-known", b"wellknown+", b"wellknown~", b"oauth", b"token", b"|token~1",
        b"authorize", b"/oauth/token", b"/oauth/authorize", b"oauth-authorization-server", b"openid-configuration", b".proofgate",
        b"(S(a))", b"jsessionid=", b";a=", b"a", b"http://", b"q=", b"path=", b".json", b".do", b"/~", b"?", b"?:", b":a", b".php/",
        b"&q=", b"+", b"$", b",", b"@", b"#", b"\\", b"-", b"abcdefghi", b"%2f|", b"|+"],
    "form": ESCAPED + UNICODE + [
        b"&", b"=", b";", b"=;", b";a=", b"a;", b"a&", b"a=&", b"&a=b", b"[", b"]", b"[]", b"a[b]=", b"a[]=&", b"[a][b]", b"+",
        b" .",
        b"client_id", b"client_id=", b"client[id]=", b"client.id=", b"redirect_uri=", b"code=", b"&code=", b"state=", b"&state=",
        b"code_challenge", b"scope=", b"request=", b"request_uri=", b"resource=&", b"?code=", b"%3fcode%3d", b"%26code%3d",
        b"code%3d",
        b"http://127.0.0.1/callback", b"a:b=&", b"/", b"q=/&", b"path=a&", b"m=a&", NUMBER + b"=&", NUMBER + b"[=&",
        b"client_i" + NUMBER + b"=&", b"name=%", b"\r\n", b"\n", b"--b\r\n", b"name=\"", b";name=",
        b"Content-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--b\r\n"],
    "text": ESCAPED + UNICODE + [
        b" ", b"+", b"%20", b"a ", b"a+", b"openid ", b"read ", b"read+", b"http://", b"http://127.0.0.1/callback", b":",
        b"://", b"//",
        b"/", b".", b"..", b"-", b"_", b"a.", b".a", b"@", b"[", b"[::", b"]", b"#", b"?", b"?code=a#", b"?code=a&state=b",
        b"%3fcode%3d", b"&code=a", b"code=", b"IiIi", b"XHUw", b"eyJ", b"a", b"0", b"{", b"}", b"\"", b"\\", b"localhost",
        b"127.0.0.1",
        b"com.example.app:/", b"javascript:", NUMBER, NUMBER + b" ", NUMBER + b"+", b"eyJhIjp7", b"W1tb", b"BCDF-", b"WDJB"],
    "json": [
        b"[", b"]", b"{", b"}", b"{\"a\":", b"[{\"a\":", b"\\", b"\\u", b"\\u0061", b"\\ud83d\\ude00", b"\\\"", b"\\\\", b"\"",
        b"\"a\",",
        b"\"\",", b"0,", b"1", b"0.", b"1e", b"e9", b"1e9,", b"-", b"-1,", b"null,", b"true,", b",", b":", b" ", b"\t", b"\n",
        b"\"a\":\"b\",", b"\"" + NUMBER + b"\":1,", b"\"a" + NUMBER + b"\":[],", b"{},", b"[],", b"//", b"/**/", b"\xef\xbb\xbf",
        b"\"https://example.com/" + NUMBER + b"\",", b"\"http://127.0.0.1/" + NUMBER + b"\",",
        b"\"com.example.a:/" + NUMBER + b"\",",
        b"\"redirect_uris\":[],", b"\"access_token\":\"a\",", b"\"scope\":\"a\",", b"read ", b"1,", b"[1],", b"a"] + UNICODE,
    "field": ESCAPED + UNICODE + [
        b",", b";", b"=", b"\"", b"\\", b"\\\"", b"\",\"", b"a,", b"a;", b"a=b,", b"a=b;", b"a=b; ", b"; a", b";a=\"", b";q=0.1,",
        b"a;q=0.1,", b"de-DE,", b"de,", b"en;q=1,", b"x-y;q=0.001,", b"*", b"*/*,", b"text/html;q=0.1,", b"text/", b"+json",
        b"gzip,",
        b"close,", b"x" + NUMBER + b",", b"host,", b"te,", b"cookie,", b"keep-alive,", b"chunked,", b"trailers,", b"for=",
        b"for=1.2.3.4,",
        b"for=\"[::1]\",", b"1.2.3.4,", b"1.2.3.4, ", b"[::1]:1,", b"proto=https;", b"host=a;", b"1.1 a,", b"1.1 a (b),", b"(",
        b"((", b")",
        b"proofgate=a;", b"proofgate=", b"__Host-proofgate=a;", b"SESSION=a;", b"SESSION=;", b"a" + NUMBER + b"=b;", b"bytes=",
        b"0-1,",
        b"W/\"a\",", b"\"a\",", b"Basic ", b"Bearer ", b"YTpi", b"OmE6", b"QT09", b"zIHM", b"==", b"<a>;", b"<", b">",
        b"<a>; rel=preload,",
        b"<a?code=b>,", b"rel=\"", b";url=", b"0;url=", b"url=", b"0;", b"websocket,", b"websocket/", b"h2c,", b"00-", b"a=b,c=d,",
        b"filename=\"", b"filename*=", b"charset=", b"boundary=", b"max-age=", b"no-cache,", b"Expires=", b"Path=/;", b"Domain=a;",
        b"?code=a#", b"?code=a&", b"#code=a&", b"&code=a&state=b", b"http://127.0.0.1/callback", b"http://", b"//", b"/",
        b"/..", b"/./",
        b"/oauth/authorize?", b"%3fcode%3d", b"code=", b":", b"@", b"[", b"]", b"'", b"<!--", b" ", b"\t", b" ,", b"\t,", b"a",
        b"1"],
    "markup": [
        b"<", b">", b"<a ", b"<form ", b"<input ", b"<input name=\"code\" value=\"a\">", b"<!--", b"-->", b"</", b"=\"", b"\"",
        b"'",
        b"&", b"&amp;", b"&#", b"code=", b"?code=a", b"&code=", b"http://127.0.0.1/callback", b"<script>", b"url=", b"a"],
    "chunks": [
        b"1\r\na\r\n", b"2;a\r\nbb\r\n", b"1;a=b\r\na\r\n", b"01\r\na\r\n", b"1 \r\na\r\n", b"1;a=\"b\"\r\na\r\n", b"a", b";a",
        b";a=b",
        b"\"", b"\\\"", b"0", b"1", b"\r\n", b"\n", b" ", b"\t", b"=", b";", b"X-A: b\r\n", b"X-" + NUMBER + b": b\r\n", b"A:\r\n",
        b"Digest: b\r\n", b"Host: b\r\n", b"X-A:" + b" " * 9 + b"\r\n"],
    "head": [
        b"A: b\r\n", b"A:\r\n", b"X-" + NUMBER + b": b\r\n", b"X_" + NUMBER + b": b\r\n", b"X.A: b\r\n", b"X-A: b\r\n",
        b"Cookie: a=b\r\n",
        b"Cookie: proofgate=a\r\n", b"Accept: a\r\n", b"Accept-Language: a\r\n", b"X-Forwarded-For: 1.2.3.4\r\n",
        b"Forwarded: for=a\r\n",
        b"X-Real-IP: 1.2.3.4\r\n", b"Via: 1.1 a\r\n", b"Connection: a\r\n", b"Connection: close\r\n", b"Te: a\r\n",
        b"Link: <a>\r\n",
        b"Set-Cookie: a=b\r\n", b"Set-Cookie: proofgate=b\r\n", b"Location: /\r\n", b"Refresh: 0;url=a\r\n", b"Vary: a\r\n",
        b"Shib-A: b\r\n", b"oam-a: b\r\n", b"x-a-client-cert: b\r\n", b"Trailer: a\r\n", b"Traceparent: a\r\n", b"a", b"-",
        b"_", b".", b"$",
        b" ", b":", b"\r\n", b"Content-Type: a\r\n", b"Content-Encoding: gzip\r\n", b"Authorization: Basic YTpi\r\n"],
    "answers": [
        b"HTTP/1.1 100 A\r\n\r\n", b"HTTP/1.1 103 A\r\nLink: <a>\r\n\r\n", b"HTTP/1.1 102 A\r\nX: y\r\n\r\n",
        b"HTTP/1.1 103 A\r\n\r\n",
        b"HTTP/1.1 103 A\r\nLink: <a?code=b>; rel=preload\r\n\r\n", b"\r\n"],
}


def all_units(grammar, forbidden):
    """Returns the units that are tried for each place of a grammar: all bytes, the tokens, and all pairs of special bytes,
    without those that have a forbidden byte."""
    found = [bytes([byte]) for byte in range(1, 256)] + TOKENS[grammar]
    found += [a + b for a in SPECIAL for b in SPECIAL if a != b]
    return [unit for unit in dict.fromkeys(found) if not set(unit) & set(forbidden)]


def classes(forbidden):
    """Returns a member of each class of bytes that some grammar treats in a special way, as it is and escaped."""
    return [unit for unit in SPECIAL + ESCAPED + UNICODE if not set(unit) & set(forbidden)]


def parts(grammar, forbidden):
    """Returns the parts of which new units are made."""
    found = TOKENS[grammar] * 2 + SPECIAL
    return [unit for unit in found if not set(unit) & set(forbidden)]


def repeated(unit, size):
    """Returns as many copies of the unit as fit into `size` bytes, at least one."""
    if NUMBER not in unit:
        return unit * max(1, size // len(unit))
    longer = 2 * unit.count(NUMBER)  # A number has three digits.
    count = max(1, size // (len(unit) + longer))
    return b"".join(unit.replace(NUMBER, b"%03d" % (number % 1000)) for number in range(count))


def written(prefix, units, suffix, length):
    """Returns the text of an input: the units share the length, one after the other."""
    room = max(0, length - len(prefix) - len(suffix))
    return prefix + b"".join(repeated(unit, room // len(units)) for unit in units) + suffix
