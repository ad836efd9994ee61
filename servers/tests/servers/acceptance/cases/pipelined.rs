//! Several requests in a row. Each request begins where the previous request ends; smuggling attacks this
//! boundary.

/// The requests arrive as one piece. Even a stage that keeps no connection open answers all received requests
/// before it closes the connection.
pub(super) const PIPELINED: &[(&str, &str, &[u16])] = &[
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
    (
        "old-that-stays-between",
        "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    (
        "old-with-body-between",
        "POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabcGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    (
        "refused-body-between",
        "POST /hello HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[405, 200],
    ),
    (
        "expectation-met-already",
        "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabcGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    (
        "quoted-size-between",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;a=\";0\"\r\na\r\n0\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    (
        "empty-line-after-chunks",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    (
        "body-one-too-long",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc(GET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 400],
    ),
    (
        "body-one-too-short",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nabcGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 405],
    ),
    (
        "length-and-coding-behind",
        "GET /hello HTTP/1.1\r\nHost: h\r\n\r\nPOST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 400],
    ),
    (
        "slow-first",
        "GET /block?ms=3 HTTP/1.1\r\nHost: h\r\n\r\nGET /nothing HTTP/1.1\r\nHost: h\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 404, 200],
    ),
    (
        "slow-between",
        "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\nGET /cpu?ms=2 HTTP/1.1\r\nHost: h\r\n\r\nOPTIONS * HTTP/1.1\r\nHost: h\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[404, 200, 204, 200],
    ),
    (
        "slower-first",
        "GET /block?ms=4 HTTP/1.1\r\nHost: h\r\n\r\nGET /block?ms=2 HTTP/1.1\r\nHost: h\r\n\r\nGET /block?ms=x HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200, 400],
    ),
    (
        "bad-behind-slow",
        "GET /block?ms=3 HTTP/1.1\r\nHost: h\r\n\r\nGET /hello HTTP/1.1\r\nHost : h\r\n\r\n",
        &[200, 400],
    ),
    (
        "body-behind-slow",
        "GET /block?ms=3 HTTP/1.1\r\nHost: h\r\n\r\nPOST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /nothing HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200, 404],
    ),
    (
        "close-behind-slow",
        "GET /block?ms=3 HTTP/1.1\r\nHost: h\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    (
        "slow-that-closes-between",
        "GET /hello HTTP/1.1\r\nHost: h\r\n\r\nGET /block?ms=3 HTTP/1.0\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200],
    ),
    (
        "panic-behind-slow",
        "GET /block?ms=3 HTTP/1.1\r\nHost: h\r\n\r\nGET /panic HTTP/1.1\r\nHost: h\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 500],
    ),
    (
        "more-than-may-be-under-way",
        "GET /block?ms=3 HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\nGET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\nGET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\nGET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\nGET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\nGET /block?ms=1 HTTP/1.1\r\nHost: h\r\n\r\nGET /1 HTTP/1.1\r\nHost: h\r\n\r\n",
        &[200, 200, 404, 200, 404, 200, 404, 200, 404, 200, 200, 404],
    ),
];
