//! Bytes to characters: which encoding a document is in, as the HTML standard has it, shortened.
//!
//! The first of these that names an encoding decides: a byte order mark, the header `Content-Type`, a `<meta>` near the beginning. Without
//! any, a document that is valid UTF-8 is UTF-8, and every other one windows-1252, as browsers assume.

use crate::html::{encoding, label};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use std::borrow::Cow;

/// The characters of a document, and its encoding. Bytes that are no character become the replacement character.
pub fn decode<'d>(document: &'d [u8], content_type: Option<&str>) -> (Cow<'d, str>, &'static Encoding) {
    let declared = content_type.and_then(|value| label(value.as_bytes())).or_else(|| encoding(document));
    let guessed = || if is_utf_8(document) { UTF_8 } else { WINDOWS_1252 };
    let (text, encoding, _) = declared.unwrap_or_else(guessed).decode(document);
    (text, encoding)
}

/// Whether the document is UTF-8. Its last character may be cut, because a fetch ends at a limit.
fn is_utf_8(document: &[u8]) -> bool {
    str::from_utf8(document).err().is_none_or(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::PRESCAN;

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
