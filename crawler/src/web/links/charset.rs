//! Bytes to characters: which encoding a document is in, as the HTML standard has it, shortened.
//!
//! The first of these that names an encoding decides: a byte order mark, the header `Content-Type`, a `<meta>` near the beginning. Without
//! any, a document that is valid UTF-8 is UTF-8, and every other one windows-1252, as browsers assume.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::memmem;
use std::borrow::Cow;

/// How far into a document a `<meta>` may name its encoding.
const PRESCAN: usize = 1024;

/// The characters of a document, and its encoding. Bytes that are no character become the replacement character.
pub(super) fn decode<'d>(
    document: &'d [u8],
    content_type: Option<&str>,
) -> (Cow<'d, str>, &'static Encoding) {
    let declared = content_type.and_then(|value| label(value.as_bytes())).or_else(|| of_meta(document));
    let guessed = || if is_utf_8(document) { UTF_8 } else { WINDOWS_1252 };
    let (text, encoding, _) = declared.unwrap_or_else(guessed).decode(document);
    (text, encoding)
}

/// Whether the document is UTF-8. Its last character may be cut, because a fetch ends at a limit.
fn is_utf_8(document: &[u8]) -> bool {
    str::from_utf8(document).err().is_none_or(|error| error.error_len().is_none())
}

/// The encoding that the first `<meta>` names which names one.
fn of_meta(document: &[u8]) -> Option<&'static Encoding> {
    let begin = document[..document.len().min(PRESCAN)].to_ascii_lowercase();
    let named = memmem::find_iter(&begin, b"<meta").find_map(|at| {
        let tag = &begin[at..];
        label(tag.split(|byte| *byte == b'>').next()?)
    })?;
    // The tag was readable as ASCII, so the document cannot be UTF-16.
    Some(if named == UTF_16LE || named == UTF_16BE { UTF_8 } else { named })
}

/// The encoding whose label stands behind `charset=`.
fn label(text: &[u8]) -> Option<&'static Encoding> {
    let text = text.to_ascii_lowercase();
    let after = &text[memmem::find(&text, b"charset")? + b"charset".len()..];
    let value = after.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\'' | b';' | b'/') || byte.is_ascii_whitespace();
    Encoding::for_label(value.split(is_end).next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_names_an_encoding_decides() {
        let utf_8 = Some("text/html; charset=utf-8");
        for (document, content_type, name) in [
            (&b"\xef\xbb\xbf<meta charset=koi8-r>"[..], Some("text/html;charset=latin1"), "UTF-8"),
            (b"\xff\xfea\0", utf_8, "UTF-16LE"),
            (b"\xfe\xff\0a", None, "UTF-16BE"),
            (b"<meta charset=koi8-r>", utf_8, "UTF-8"),
            (b"<meta charset=koi8-r>", Some("text/html; Charset = \"Shift_JIS\" "), "Shift_JIS"),
            (b"<meta charset=koi8-r>", Some("text/html; charset=nothing"), "KOI8-R"),
            (b"<meta charset=koi8-r>", Some("text/html"), "KOI8-R"),
            (b"<p><META\nCHARSET = 'KOI8-R' >\xff", None, "KOI8-R"),
            (b"<meta http-equiv=content-type content='text/html; charset=latin1'>", None, "windows-1252"),
            (b"<meta name=a><meta charset=utf-16/>", None, "UTF-8"),
            (b"<meta charset=nothing><meta charset=big5>", None, "Big5"),
            (b"<meta charset", None, "UTF-8"),
            (b"<p>charset=koi8-r", None, "UTF-8"),
            (b"\xc3\xa9", None, "UTF-8"),
            (b"\xc3\xa9\xc3", None, "UTF-8"),
            (b"\xe9", None, "UTF-8"), // might be a beginning
            (b"\xe9a", None, "windows-1252"),
            (b"", None, "UTF-8"),
        ] {
            assert_eq!(decode(document, content_type).1.name(), name, "{document:?} {content_type:?}");
        }
        let late = format!("{}<meta charset=koi8-r>", " ".repeat(PRESCAN));
        assert_eq!(decode(late.as_bytes(), None).1, UTF_8);
    }
}
