//! The requests that the suite sends, and the statuses that every stage must answer. This module
//! contains only data.

mod pipelined;
mod refused;
mod valid;

use pipelined::PIPELINED;
use refused::{REFUSED, REFUSED_BYTES, REFUSED_CHUNKS, REFUSED_FIELDS};
use std::borrow::Cow;
use valid::{VALID, VALID_CHUNKS, VALID_FIELDS};

/// A piece of input that is sent on its own connection.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// The statuses of the answers, in the order of the requests.
    pub(crate) answers: Vec<u16>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// One request that the server understands; the status of the answer does not matter.
    Valid,
    /// A request that the server refuses; the server then closes the connection, whatever bytes follow the
    /// request.
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
    for (name, body) in VALID_CHUNKS {
        add(Kind::Valid, name, in_chunks(body).into_bytes().into(), &[200]);
    }
    for (name, bytes, status) in REFUSED {
        add(Kind::Refused, name, bytes.as_bytes().into(), &[*status]);
    }
    for (name, field, status) in REFUSED_FIELDS {
        let bytes = format!("POST /echo HTTP/1.1\r\nHost: h\r\n{field}\r\n\r\n");
        add(Kind::Refused, name, bytes.into_bytes().into(), &[*status]);
    }
    for (name, body) in REFUSED_CHUNKS {
        add(Kind::Refused, name, in_chunks(body).into_bytes().into(), &[400]);
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

fn in_chunks(body: &str) -> String {
    format!("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{body}")
}

fn overlong() -> Vec<(&'static str, String, u16)> {
    let long = "a".repeat(9_000);
    let get = |fields: &str| format!("GET /hello HTTP/1.1\r\nHost: h\r\n{fields}\r\n");
    let chunks = |body: String| in_chunks(&format!("{body}\r\n0\r\n\r\n"));
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
