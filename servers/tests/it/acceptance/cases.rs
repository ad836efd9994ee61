//! What the suite sends, and the statuses that every stage has to answer with. Data, and nothing else.

use std::borrow::Cow;

/// One thing to send on a connection of its own.
pub(crate) struct Case {
    /// Also the name of a file in the corpus for fuzzing, so it is made of letters, digits and hyphens.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// The statuses of the answers, in order.
    pub(crate) answers: Vec<u16>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// One request that is understood, whatever the answer.
    Valid,
    /// A request that is refused, after which the connection is closed whatever follows.
    Refused,
    /// Several requests in a row.
    Pipelined,
}

pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kind, name: &str, bytes: Cow<'static, [u8]>, answers: &[u16]| {
        let name = format!("{kind:?}-{name}").to_lowercase();
        cases.push(Case { name, bytes: bytes.into_owned(), answers: answers.to_vec(), kind });
    };
    for (name, bytes, status) in VALID {
        add(Kind::Valid, name, bytes.as_bytes().into(), &[*status]);
    }
    for (name, fields, status) in VALID_FIELDS {
        let bytes = format!("GET /hello HTTP/1.1\r\nHost: h\r\n{fields}\r\n\r\n");
        add(Kind::Valid, name, bytes.into_bytes().into(), &[*status]);
    }
    for (name, bytes, status) in REFUSED {
        add(Kind::Refused, name, bytes.as_bytes().into(), &[*status]);
    }
    for (name, field, status) in REFUSED_FIELDS {
        let bytes = format!("POST /echo HTTP/1.1\r\nHost: h\r\n{field}\r\n\r\n");
        add(Kind::Refused, name, bytes.into_bytes().into(), &[*status]);
    }
    for (name, body) in REFUSED_CHUNKS {
        let bytes = format!("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        add(Kind::Refused, name, bytes.into_bytes().into(), &[400]);
    }
    for (name, bytes) in REFUSED_BYTES {
        add(Kind::Refused, name, (*bytes).into(), &[400]);
    }
    for (name, bytes, status) in overlong() {
        add(Kind::Refused, name, bytes.into_bytes().into(), &[status]);
    }
    for (name, bytes, answers) in PIPELINED {
        add(Kind::Pipelined, name, bytes.as_bytes().into(), answers);
    }
    cases
}

const VALID: &[(&str, &str, u16)] = &[
    ("get", "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-index", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-query", "GET /hello?a=b&c HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-empty-query", "GET /hello? HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-query-with-slashes", "GET /hello?//../ HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-old", "GET /hello HTTP/1.0\r\n\r\n", 200),
    ("get-old-with-host", "GET /hello HTTP/1.0\r\nHost: h\r\n\r\n", 200),
    ("get-with-body", "GET /hello HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", 200),
    ("get-with-chunks", "GET /hello HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200),
    ("get-after-empty-line", "\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-nothing", "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n", 404),
    ("get-upwards", "GET /../../etc/passwd HTTP/1.1\r\nHost: h\r\n\r\n", 404),
    ("get-double-slash", "GET //hello HTTP/1.1\r\nHost: h\r\n\r\n", 404),
    ("get-backslash", "GET /\\hello HTTP/1.1\r\nHost: h\r\n\r\n", 404),
    ("get-without-milliseconds", "GET /cpu HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("get-stats", "GET /stats HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-cpu", "GET /cpu?ms=1 HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-block", "GET /block?ms=1 HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-panic", "GET /panic HTTP/1.1\r\nHost: h\r\n\r\n", 500),
    ("get-absolute", "GET http://h/hello HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-absolute-port", "GET http://h:80/hello HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-absolute-case", "GET HTTP://H/hello HTTP/1.1\r\nhost: h\r\n\r\n", 200),
    ("get-absolute-no-path", "GET http://h HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-absolute-query", "GET http://h?a HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("get-absolute-old", "GET http://h/hello HTTP/1.0\r\n\r\n", 200),
    ("get-empty-host", "GET /hello HTTP/1.1\r\nHost:\r\n\r\n", 200),
    ("get-host-with-port", "GET /hello HTTP/1.1\r\nHost: example.org:8080\r\n\r\n", 200),
    ("get-host-with-empty-port", "GET /hello HTTP/1.1\r\nHost: example.org:\r\n\r\n", 200),
    ("get-host-v6", "GET /hello HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", 200),
    ("get-host-with-space-around", "GET /hello HTTP/1.1\r\nHost: \t h \t\r\n\r\n", 200),
    ("head", "HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("head-nothing", "HEAD /nothing HTTP/1.1\r\nHost: h\r\n\r\n", 404),
    ("head-echo", "HEAD /echo HTTP/1.1\r\nHost: h\r\n\r\n", 405),
    ("options", "OPTIONS /hello HTTP/1.1\r\nHost: h\r\n\r\n", 204),
    ("options-echo", "OPTIONS /echo HTTP/1.1\r\nHost: h\r\n\r\n", 204),
    ("options-of-all", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", 204),
    ("options-with-body", "OPTIONS /hello HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab", 204),
    ("post", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", 200),
    ("post-empty", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", 200),
    ("post-without-length", "POST /echo HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ("post-padded-length", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 0003\r\n\r\nabc", 200),
    ("post-old", "POST /echo HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", 200),
    ("post-hello", "POST /hello HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", 405),
    ("delete", "DELETE /hello HTTP/1.1\r\nHost: h\r\n\r\n", 405),
    ("trace", "TRACE /hello HTTP/1.1\r\nHost: h\r\n\r\n", 405),
    ("unknown-method", "BREW-IT! /hello HTTP/1.1\r\nHost: h\r\n\r\n", 405),
    ("lower-case-method", "get /hello HTTP/1.1\r\nHost: h\r\n\r\n", 405),
    (
        "chunks",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        200,
    ),
    (
        "chunks-case",
        "POST /echo HTTP/1.1\r\nHost: h\r\ntransfer-encoding: CHUNKED\r\n\r\n0A\r\n0123456789\r\n0\r\n\r\n",
        200,
    ),
    ("chunks-none", "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200),
    (
        "chunks-long-zero",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0000\r\n\r\n",
        200,
    ),
    (
        "chunks-extension",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;a=\"b\"\r\na\r\n0;z\r\n\r\n",
        200,
    ),
    (
        "chunks-trailer",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n\r\n",
        200,
    ),
    (
        "chunks-hold-line-ends",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n",
        200,
    ),
];

const VALID_FIELDS: &[(&str, &str, u16)] = &[
    ("field-empty", "A:", 200),
    ("field-without-space", "A:b", 200),
    ("field-with-tabs", "A:\tb\tc\t", 200),
    ("field-not-ascii", "A: \u{e4}", 200),
    ("field-odd-name", "!#$%&'*+-.^_`|~09aZ: b", 200),
    ("field-twice", "A: b\r\nA: c", 200),
    ("field-with-colons", "A: b:c:d", 200),
    ("connection-close", "Connection: close", 200),
    ("connection-list", "Connection: keep-alive, Upgrade\r\nUpgrade: h2c", 200),
    ("expect-continue-without-body", "Expect: 100-continue", 200),
    ("range-ignored", "Range: bytes=0-1", 200),
    ("condition-ignored", "If-None-Match: *", 200),
    ("content-length-like", "Content-Lengthy: x\r\nX-Content-Length: y", 200),
];

const REFUSED: &[(&str, &str, u16)] = &[
    ("no-host", "GET /hello HTTP/1.1\r\n\r\n", 400),
    ("two-hosts", "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("same-host-twice", "GET /hello HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    ("two-hosts-old", "GET /hello HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("host-with-path", "GET /hello HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    ("host-with-user", "GET /hello HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
    ("host-with-space", "GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    ("host-with-list", "GET /hello HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
    ("host-with-odd-port", "GET /hello HTTP/1.1\r\nHost: a:b\r\n\r\n", 400),
    ("host-with-large-port", "GET /hello HTTP/1.1\r\nHost: a:65536\r\n\r\n", 400),
    ("host-with-open-bracket", "GET /hello HTTP/1.1\r\nHost: [::1\r\n\r\n", 400),
    ("absolute-other-host", "GET http://a/hello HTTP/1.1\r\nHost: b\r\n\r\n", 400),
    ("absolute-other-port", "GET http://a:81/hello HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("absolute-no-host", "GET http:///hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("absolute-with-user", "GET http://u@h/hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("absolute-other-scheme", "GET https://h/hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("absolute-without-host-field", "GET http://h/hello HTTP/1.1\r\n\r\n", 400),
    ("connect", "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n", 400),
    ("star-of-get", "GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("relative-target", "GET hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("fragment", "GET /hello#a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("target-not-ascii", "GET /\u{e4} HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("target-with-nul", "GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("target-with-space", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("target-with-tab", "GET /a\tb HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("two-spaces", "GET  /hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("two-spaces-later", "GET /hello  HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("tab-for-space", "GET\t/hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("space-first", " GET /hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("space-last", "GET /hello HTTP/1.1 \r\nHost: h\r\n\r\n", 400),
    ("method-with-at", "G@T /hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("method-not-ascii", "G\u{e4}T /hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("no-method", "/hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("no-target", "GET HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("no-version", "GET /hello\r\nHost: h\r\n\r\n", 400),
    ("odd-version", "GET /hello HTTP/1\r\nHost: h\r\n\r\n", 400),
    ("long-version", "GET /hello HTTP/1.10\r\nHost: h\r\n\r\n", 400),
    ("lower-case-version", "GET /hello http/1.1\r\nHost: h\r\n\r\n", 400),
    ("other-protocol", "GET /hello FTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("version-2", "GET /hello HTTP/2.0\r\nHost: h\r\n\r\n", 505),
    ("version-1-2", "GET /hello HTTP/1.2\r\nHost: h\r\n\r\n", 505),
    ("version-0-9", "GET /hello HTTP/0.9\r\nHost: h\r\n\r\n", 505),
    ("preface-of-http-2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ("bare-lf-everywhere", "GET /hello HTTP/1.1\nHost: h\n\n", 400),
    ("bare-lf-after-request-line", "GET /hello HTTP/1.1\nHost: h\r\n\r\n", 400),
    ("bare-lf-after-field", "GET /hello HTTP/1.1\r\nHost: h\nA: b\r\n\r\n", 400),
    ("bare-lf-at-end", "GET /hello HTTP/1.1\r\nHost: h\r\n\n", 400),
    ("bare-lf-first", "\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("bare-cr-after-request-line", "GET /hello HTTP/1.1\rHost: h\r\n\r\n", 400),
    ("bare-cr-in-value", "GET /hello HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n", 400),
    ("bare-cr-in-name", "GET /hello HTTP/1.1\r\nHost: h\r\nA\rB: c\r\n\r\n", 400),
    ("two-crs", "GET /hello HTTP/1.1\r\nHost: h\r\r\n\r\n", 400),
    ("fold", "GET /hello HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400),
    ("fold-with-tab", "GET /hello HTTP/1.1\r\nHost: h\r\nA: b\r\n\tc\r\n\r\n", 400),
    ("fold-of-first-field", "GET /hello HTTP/1.1\r\n Host: h\r\n\r\n", 400),
    ("fold-of-length", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n 3\r\n\r\nabc", 400),
    ("fold-of-blank", "GET /hello HTTP/1.1\r\nHost: h\r\n \r\n\r\n", 400),
    ("space-before-colon", "GET /hello HTTP/1.1\r\nHost : h\r\n\r\n", 400),
    ("tab-before-colon", "GET /hello HTTP/1.1\r\nHost\t: h\r\n\r\n", 400),
    ("space-in-name", "GET /hello HTTP/1.1\r\nHost: h\r\nA B: c\r\n\r\n", 400),
    ("no-colon", "GET /hello HTTP/1.1\r\nHost: h\r\nA\r\n\r\n", 400),
    ("no-name", "GET /hello HTTP/1.1\r\nHost: h\r\n: b\r\n\r\n", 400),
    ("name-with-nul", "GET /hello HTTP/1.1\r\nHost: h\r\nA\0: b\r\n\r\n", 400),
    ("name-not-ascii", "GET /hello HTTP/1.1\r\nHost: h\r\n\u{e4}: b\r\n\r\n", 400),
    ("value-with-nul", "GET /hello HTTP/1.1\r\nHost: h\r\nA: \0\r\n\r\n", 400),
    ("value-with-escape", "GET /hello HTTP/1.1\r\nHost: h\r\nA: \x1b\r\n\r\n", 400),
    ("value-with-delete", "GET /hello HTTP/1.1\r\nHost: h\r\nA: \x7f\r\n\r\n", 400),
    ("coding-in-old", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (
        "length-and-coding",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    (
        "coding-and-length",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        400,
    ),
    (
        "length-and-odd-coding",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: x\r\n\r\nabc",
        400,
    ),
    (
        "hidden-coding",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding : chunked\r\n\r\nabc",
        400,
    ),
    (
        "folded-coding",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nA: b\r\n Transfer-Encoding: chunked\r\n\r\nabc",
        400,
    ),
];

/// Each is the last field of a POST.
const REFUSED_FIELDS: &[(&str, &str, u16)] = &[
    ("length-twice", "Content-Length: 3\r\nContent-Length: 3", 400),
    ("two-lengths", "Content-Length: 3\r\nContent-Length: 4", 400),
    ("length-list", "Content-Length: 3, 3", 400),
    ("length-list-of-two", "Content-Length: 3,4", 400),
    ("length-plus", "Content-Length: +3", 400),
    ("length-minus", "Content-Length: -3", 400),
    ("length-hexadecimal", "Content-Length: 0x3", 400),
    ("length-with-space", "Content-Length: 3 3", 400),
    ("length-with-point", "Content-Length: 3.0", 400),
    ("length-with-letter", "Content-Length: 3a", 400),
    ("length-empty", "Content-Length:", 400),
    ("length-in-words", "Content-Length: three", 400),
    ("length-in-other-digits", "Content-Length: \u{663}", 400),
    ("length-too-large", "Content-Length: 1048577", 413),
    ("length-huge", "Content-Length: 18446744073709551617", 413),
    ("coding-gzip", "Transfer-Encoding: gzip", 400),
    ("coding-identity", "Transfer-Encoding: identity", 400),
    ("coding-gzip-and-chunks", "Transfer-Encoding: gzip, chunked", 501),
    ("coding-chunks-first", "Transfer-Encoding: chunked, gzip", 400),
    ("coding-chunks-twice", "Transfer-Encoding: chunked, chunked", 400),
    ("coding-fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", 400),
    ("coding-same-fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400),
    ("coding-with-comma", "Transfer-Encoding: chunked,", 400),
    ("coding-with-parameter", "Transfer-Encoding: chunked;a=b", 400),
    ("coding-in-quotes", "Transfer-Encoding: \"chunked\"", 400),
    ("coding-with-x", "Transfer-Encoding: xchunked", 400),
    ("coding-short", "Transfer-Encoding: chunk", 400),
    ("coding-empty", "Transfer-Encoding:", 400),
    ("coding-after-vertical-tab", "Transfer-Encoding: \x0bchunked", 400),
    ("expectation", "Expect: tea", 417),
    ("two-expectations", "Expect: 100-continue, tea", 417),
];

/// Each is the body of a POST in chunks.
const REFUSED_CHUNKS: &[(&str, &str)] = &[
    ("chunk-without-size", "\r\nabc\r\n0\r\n\r\n"),
    ("chunk-of-odd-size", "g\r\nabc\r\n0\r\n\r\n"),
    ("chunk-size-hexadecimal", "0x3\r\nabc\r\n0\r\n\r\n"),
    ("chunk-size-plus", "+3\r\nabc\r\n0\r\n\r\n"),
    ("chunk-size-minus", "-3\r\nabc\r\n0\r\n\r\n"),
    ("chunk-size-after-space", " 3\r\nabc\r\n0\r\n\r\n"),
    ("chunk-size-before-space", "3 \r\nabc\r\n0\r\n\r\n"),
    ("chunk-size-with-lf", "3\nabc\r\n0\r\n\r\n"),
    ("chunk-size-with-cr", "3\rabc\r\n0\r\n\r\n"),
    ("chunk-extension-with-lf", "3;a\nabc\r\n0\r\n\r\n"),
    ("chunk-extension-with-cr", "3;a\rb\r\nabc\r\n0\r\n\r\n"),
    ("chunk-extension-with-nul", "3;\0\r\nabc\r\n0\r\n\r\n"),
    ("chunk-longer-than-size", "3\r\nabcd\r\n0\r\n\r\n"),
    ("chunk-shorter-than-size", "4\r\nabc\r\n0\r\n\r\n"),
    ("chunk-ends-with-lf", "3\r\nabc\n0\r\n\r\n"),
    ("chunk-ends-with-nothing", "3\r\nabc0\r\n\r\n"),
    ("last-chunk-with-lf", "0\n\r\n"),
    ("end-with-lf", "0\r\n\n"),
    ("trailer-fold", "0\r\nA: b\r\n c\r\n\r\n"),
    ("trailer-without-name", "0\r\n: b\r\n\r\n"),
    ("trailer-without-colon", "0\r\nA\r\n\r\n"),
    ("trailer-with-lf", "0\r\nA: b\n\r\n"),
    ("trailer-space-before-colon", "0\r\nA : b\r\n\r\n"),
];

const REFUSED_BYTES: &[(&str, &[u8])] = &[
    ("tls-hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    ("zeros", &[0; 64]),
    ("high-bytes", &[0xff; 64]),
    ("smb", b"\x00\x00\x00\x85\xffSMBr\x00\x00\x00\x00\r\n\r\n"),
    ("ssh", b"SSH-2.0-client\r\n\r\n"),
    ("target-not-utf-8", b"GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n"),
    ("host-not-utf-8", b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n"),
];

fn overlong() -> Vec<(&'static str, String, u16)> {
    let long = "a".repeat(9_000);
    let get = |fields: &str| format!("GET /hello HTTP/1.1\r\nHost: h\r\n{fields}\r\n");
    let chunks = |body: String| {
        format!("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{body}\r\n0\r\n\r\n")
    };
    vec![
        ("long-method", format!("{long} /hello HTTP/1.1\r\nHost: h\r\n\r\n"), 414),
        ("long-target", format!("GET /{long} HTTP/1.1\r\nHost: h\r\n\r\n"), 414),
        ("long-query", format!("GET /hello?{long} HTTP/1.1\r\nHost: h\r\n\r\n"), 414),
        ("long-fields", get(&format!("A: {long}\r\nB: {long}\r\n")), 431),
        ("long-name", get(&format!("{long}{long}: b\r\n")), 431),
        ("many-fields", get(&"A: b\r\n".repeat(101)), 431),
        ("many-empty-lines", "\r\n".repeat(10_000), 431),
        ("large-chunk", chunks("100001\r\n".to_owned()), 413),
        ("huge-chunk", chunks("10000000000000003\r\nabc".to_owned()), 413),
        ("long-chunk-size", chunks(format!("{}3\r\nabc", "0".repeat(20_000))), 413),
        ("long-chunk-extension", chunks(format!("3;{long}{long}\r\nabc")), 413),
        ("long-trailer", chunks(format!("0\r\nA: {long}{long}")), 413),
    ]
}

/// They arrive as one piece, and a stage that keeps no connection answers what it has got before it closes.
const PIPELINED: &[(&str, &str, &[u16])] = &[
    ("two", "GET /hello HTTP/1.1\r\nHost: h\r\n\r\nGET /stats HTTP/1.1\r\nHost: h\r\n\r\n", &[200, 200]),
    (
        "empty-line-between",
        "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    (
        "error-between",
        "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[404, 200],
    ),
    (
        "options-between",
        "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[204, 200],
    ),
    (
        "body-between",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    (
        "chunks-between",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    (
        "body-looks-like-request",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 37\r\n\r\nGET /nothing HTTP/1.1\r\nHost: abcde\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 400],
    ),
    (
        "trailer-looks-like-field",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 50\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    ("good-then-bad", "GET /hello HTTP/1.1\r\nHost: h\r\n\r\nGET /hello HTTP/1.1\r\n\r\n", &[200, 400]),
    ("bad-then-good", "GET /hello HTTP/1.1\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n", &[400]),
    (
        "close-between",
        "GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200],
    ),
    ("old-between", "GET /hello HTTP/1.0\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n", &[200]),
    ("panic-between", "GET /panic HTTP/1.1\r\nHost: h\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n", &[500]),
    (
        "length-of-get",
        "GET /hello HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nxGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
];
