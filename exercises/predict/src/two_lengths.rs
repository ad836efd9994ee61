//! Each of three requests states the end of its body twice. The server's parser reads the request heads.

use servers::http::Conversation;
use servers::limits::Limits;
use std::time::Instant;

const HEADS: [(&str, &str); 3] = [
    ("4 and 40", "Content-Length: 4\r\nContent-Length: 40\r\n"),
    ("4 and 4", "Content-Length: 4\r\nContent-Length: 4\r\n"),
    ("4 and chunks", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"),
];

pub fn run() -> String {
    let steps = HEADS.map(|(what, fields)| {
        let now = Instant::now();
        let mut conversation = Conversation::new(&Limits::default(), now);
        let request = format!("POST /echo HTTP/1.1\r\nHost: example.org\r\n{fields}\r\n0\r\n\r\n");
        conversation.arrived(request.as_bytes(), now);
        match conversation.step() {
            Ok(step) => format!("{what}: {step:?}"),
            Err(refusal) => format!("{what}: refused, {refusal:?}"),
        }
    });
    steps.join("\n")
}
