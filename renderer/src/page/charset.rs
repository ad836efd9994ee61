//! Bytes to characters: which encoding a document is in, as the HTML standard has it, shortened.
//!
//! The first of these that says something decides: a byte order mark, the server, a `<meta>` at the beginning; then whether the
//! bytes are UTF-8; and otherwise it is windows-1252, as browsers assume.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// How far into a document a `<meta>` may say what its encoding is.
const PRESCAN: usize = 1024;

/// The characters of a document. What is no character becomes the replacement character.
pub(super) fn decode<'d>(document: &'d [u8], content_type: Option<&str>) -> Cow<'d, str> {
    let declared = || {
        content_type.and_then(|content_type| labelled(content_type.as_bytes())).or_else(|| of_meta(document))
    };
    let guessed = || if str::from_utf8(document).is_ok() { UTF_8 } else { WINDOWS_1252 };
    declared().unwrap_or_else(guessed).decode(document).0 // a byte order mark has the last word
}

/// What the first `<meta>` that speaks of an encoding says.
fn of_meta(document: &[u8]) -> Option<&'static Encoding> {
    let begin = document[..document.len().min(PRESCAN)].to_ascii_lowercase();
    let mut rest = &begin[..];
    while let Some(at) = find(rest, b"<meta") {
        rest = &rest[at + b"<meta".len()..];
        let end = rest.iter().position(|byte| *byte == b'>').unwrap_or(rest.len());
        if let Some(encoding) = labelled(&rest[..end]) {
            // It was read as ASCII, so it cannot be what it says.
            return Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding });
        }
    }
    None
}

/// The encoding that stands behind `charset=`.
fn labelled(text: &[u8]) -> Option<&'static Encoding> {
    let text = text.to_ascii_lowercase();
    let after = &text[find(&text, b"charset")? + b"charset".len()..];
    let value = after.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let end = value
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\'' | b';' | b'/') || byte.is_ascii_whitespace());
    Encoding::for_label(&value[..end.unwrap_or(value.len())])
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
