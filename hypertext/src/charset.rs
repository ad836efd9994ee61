//! Decodes bytes to characters, with the encoding that follows from the rules of the HTML standard.
//!
//! The encoding comes from the first of these sources that is present: a byte order mark, the header
//! `Content-Type`, a `<meta>` near the beginning, and an XML declaration. If no source is present, the
//! program's assumption decides.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use std::borrow::Cow;

/// The number of bytes at the beginning of a document in which a `<meta>` may name the encoding.
const PRESCAN: usize = 1024;

/// Returns the characters of a document, without a byte order mark, and its encoding. Bytes that do not
/// form a character are replaced by the replacement character.
///
/// `content_type` is the value of the header `Content-Type`. `assumed` chooses an encoding if the document
/// names no encoding; [`utf_8_or_windows`] makes the same choice as browsers.
pub fn decode<'d>(
    document: &'d [u8],
    content_type: Option<&str>,
    assumed: impl FnOnce(&[u8]) -> &'static Encoding,
) -> (Cow<'d, str>, &'static Encoding) {
    let marked = || Encoding::for_bom(document).map(|(encoding, _)| encoding);
    let declared = marked().or_else(|| content_type.and_then(label)).or_else(|| prescan(document));
    let encoding = declared.unwrap_or_else(|| assumed(document));
    let (text, _) = encoding.decode_with_bom_removal(document);
    (text, encoding)
}

/// Returns UTF-8 if the document is valid UTF-8, and otherwise windows-1252. The last character of the
/// document may be cut off, because a fetch ends at a limit.
pub fn utf_8_or_windows(document: &[u8]) -> &'static Encoding {
    let is_utf_8 = str::from_utf8(document).err().is_none_or(|error| error.error_len().is_none());
    if is_utf_8 { UTF_8 } else { WINDOWS_1252 }
}

/// Returns the encoding that the header `Content-Type` names in its first parameter `charset`.
fn label(content_type: &str) -> Option<&'static Encoding> {
    let mut is_quoted = false;
    let parameters = content_type.split(|c| {
        is_quoted ^= c == '"';
        c == ';' && !is_quoted
    });
    let charset = parameters.skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim_ascii().eq_ignore_ascii_case("charset").then_some(value)
    })?;
    Encoding::for_label(charset.trim_ascii().trim_matches('"').as_bytes())
}

/// Returns the encoding that the beginning of a document names, by the rules of the HTML standard. The first
/// `<meta>` with a `charset`, or with `http-equiv=content-type` and a `charset` in its `content`, decides.
/// Without such a `<meta>`, the XML declaration decides. Comments and other tags are skipped.
fn prescan(document: &[u8]) -> Option<&'static Encoding> {
    let begin = &document[..document.len().min(PRESCAN)];
    if begin.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if begin.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    Scan { rest: begin }.meta().or_else(|| of_xml(begin))
}

/// Returns the encoding to use for a document that names the given encoding. The name UTF-16 cannot be
/// right, because this name was read as ASCII.
fn readable(encoding: &'static Encoding) -> &'static Encoding {
    match encoding {
        _ if encoding == UTF_16LE || encoding == UTF_16BE => UTF_8,
        _ if encoding == X_USER_DEFINED => WINDOWS_1252,
        _ => encoding,
    }
}

/// Returns the encoding of an XML declaration, `<?xml version="1.0" encoding="koi8-r"?>`.
fn of_xml(begin: &[u8]) -> Option<&'static Encoding> {
    let begin = begin.strip_prefix(b"<?xml")?;
    let declaration = &begin[..memchr::memchr(b'>', begin)?];
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value =
        declaration[at + b"encoding".len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    let end = value.iter().position(|byte| byte == quote)?;
    let is_blank = value[..end].iter().any(|byte| *byte <= b' ');
    Encoding::for_label(&value[..end]).filter(|_| !is_blank).map(readable)
}

/// Returns the encoding that the attributes of a `<meta>` name, or `None` if they name no encoding. If two
/// attributes have the same name, the first attribute counts.
fn of_meta(attributes: &[(Vec<u8>, Vec<u8>)]) -> Option<&'static Encoding> {
    let get = |name: &[u8]| attributes.iter().find_map(|(other, value)| (other == name).then_some(&**value));
    if let Some(charset) = get(b"charset") {
        return Encoding::for_label(charset);
    }
    get(b"http-equiv").filter(|kind| *kind == b"content-type").and_then(|_| of_content(get(b"content")?))
}

/// Returns the encoding in the `content` of a `<meta>`: the text after the first `charset` that is followed
/// by a `=`.
fn of_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut ends = memchr::memmem::find_iter(content, b"charset").map(|at| at + b"charset".len());
    let value = ends.find_map(|end| content[end..].trim_ascii_start().strip_prefix(b"="))?.trim_ascii_start();
    match value.split_first()? {
        (quote @ (b'"' | b'\''), value) => {
            value.iter().position(|byte| byte == quote).and_then(|end| Encoding::for_label(&value[..end]))
        }
        _ => Encoding::for_label(value.split(|byte| *byte == b';' || byte.is_ascii_whitespace()).next()?),
    }
}

/// Searches the remaining bytes for a `<meta>`. Each method returns `None` if no bytes are left; this result
/// ends the search.
struct Scan<'d> {
    rest: &'d [u8],
}

impl Scan<'_> {
    fn meta(mut self) -> Option<&'static Encoding> {
        loop {
            self.skip_to(b"<")?;
            let is_end = self.rest.starts_with(b"</");
            let name = &self.rest[1 + usize::from(is_end)..];
            if self.rest.starts_with(b"<!--") {
                self.rest = &self.rest[2..]; // `<!-->` is a comment, too
                self.skip_to(b"-->")?;
            } else if is_meta(self.rest) {
                self.rest = &self.rest[b"<meta".len()..];
                if let Some(encoding) = of_meta(&self.attributes()?) {
                    return Some(readable(encoding));
                }
            } else if name.first().is_some_and(u8::is_ascii_alphabetic) {
                self.rest =
                    &self.rest[name.iter().position(|byte| ends_word(*byte))? + 1 + usize::from(is_end)..];
                self.attributes()?;
            } else if matches!(self.rest.get(1), Some(b'!' | b'/' | b'?')) {
                self.skip_to(b">")?;
            }
            self.rest = self.rest.get(1..)?;
        }
    }

    fn skip_to(&mut self, what: &[u8]) -> Option<()> {
        self.rest = &self.rest[memchr::memmem::find(self.rest, what)?..];
        Some(())
    }

    /// Returns the attributes up to the end of a tag, with names and values in lower case.
    fn attributes(&mut self) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut attributes = Vec::new();
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace() || byte == b'/')?;
            if self.rest[0] == b'>' {
                return Some(attributes);
            }
            // A `=` at the beginning is part of the name.
            let ends_name = |byte: &u8| matches!(byte, b'=' | b'/') || ends_word(*byte);
            let name = self.take(1 + self.rest[1..].iter().position(ends_name)?);
            self.skip_while(|byte| byte.is_ascii_whitespace())?;
            let value = if self.rest[0] == b'=' { self.value()? } else { Vec::new() };
            attributes.push((name, value));
        }
    }

    /// Returns the value after a `=`.
    fn value(&mut self) -> Option<Vec<u8>> {
        self.rest = &self.rest[1..];
        self.skip_while(|byte| byte.is_ascii_whitespace())?;
        let quote = self.rest[0];
        if !matches!(quote, b'"' | b'\'') {
            return Some(self.take(self.rest.iter().position(|byte| ends_word(*byte))?));
        }
        self.rest = &self.rest[1..];
        let value = self.take(self.rest.iter().position(|byte| *byte == quote)?);
        self.rest = &self.rest[1..];
        Some(value)
    }

    /// Skips bytes. Returns `None` if no other byte follows the skipped bytes.
    fn skip_while(&mut self, is_skipped: impl Fn(u8) -> bool) -> Option<()> {
        self.rest = &self.rest[self.rest.iter().position(|byte| !is_skipped(*byte))?..];
        Some(())
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let taken = self.rest[..length].to_ascii_lowercase();
        self.rest = &self.rest[length..];
        taken
    }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case(b"<meta"))
        && rest.get(5).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'>'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(document: &[u8], content_type: Option<&str>) -> &'static str {
        decode(document, content_type, utf_8_or_windows).1.name()
    }

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
            (b"<meta charset=koi8-r>", Some("charset=latin1"), "KOI8-R"),
            (b"<meta charset=koi8-r>", Some("a/b; x-charset=latin1; t=\"a; charset=latin1\""), "KOI8-R"),
            (b"<?xml encoding='latin1'?><meta charset=koi8-r>", None, "KOI8-R"),
            (b"\xc3\xa9", None, "UTF-8"),
            (b"\xc3\xa9\xc3", None, "UTF-8"),
            (b"\xe9", None, "UTF-8"), // might be a beginning
            (b"\xe9a", None, "windows-1252"),
            (b"", None, "UTF-8"),
        ] {
            assert_eq!(found(document, content_type), name, "{document:?} {content_type:?}");
        }
        assert_eq!(decode("\u{feff}é".as_bytes(), None, utf_8_or_windows).0, "é");
    }

    /// Beginnings of documents, each with the encoding that the steps of the standard find.
    const BEGINNINGS: &[(&str, Option<&str>)] = &[
        ("<p><META\nCHARSET = 'KOI8-R' >", Some("KOI8-R")),
        ("<meta/charset=\"koi8-r\">", Some("KOI8-R")),
        ("<meta name=a><meta charset=utf-16>", Some("UTF-8")),
        ("<meta charset=x-user-defined>", Some("windows-1252")),
        ("<meta charset=nothing><meta charset=big5>", Some("Big5")),
        ("<meta charset=koi8-r charset=big5>", Some("KOI8-R")),
        ("<meta http-equiv=Content-Type content='text/html; charset=latin1'>", Some("windows-1252")),
        ("<meta content='a;charset = \"koi8-r\" b' http-equiv='content-type'>", Some("KOI8-R")),
        ("<meta http-equiv=content-type content='charset; charset=koi8-r'>", Some("KOI8-R")),
        ("<meta http-equiv=content-type content=\"charset='koi8-r\">", None),
        ("<meta http-equiv=content-type content='charset=big5' charset=koi8-r>", Some("KOI8-R")),
        ("<meta charset=nothing http-equiv=content-type content='charset=koi8-r'>", None),
        // a `charset` in the description of something else
        ("<meta name=description content='charset=gbk'>", None),
        ("<meta name=description content='charset=gbk'><meta charset=utf-8>", Some("UTF-8")),
        ("<meta http-equiv=refresh content='0;url=?charset=gbk'>", None),
        ("<meta data-charset=gbk>", None),
        ("<metadata charset=gbk>", None),
        ("<p charset=gbk>", None),
        ("<p title='<meta charset=gbk>'>", None),
        ("</p title='<meta charset=gbk>'>", None),
        ("<!-- <meta charset=gbk> --><meta charset=koi8-r>", Some("KOI8-R")),
        ("<!--><meta charset=koi8-r>", Some("KOI8-R")),
        ("<!--- ><meta charset=koi8-r>", None),
        ("<!doctype a '<meta charset=koi8-r>'>", None),
        ("<!doctype a '<'><meta charset=koi8-r>", Some("KOI8-R")),
        ("<?php '<meta charset=gbk' ?><meta charset=koi8-r>", Some("KOI8-R")),
        ("</ ><meta charset=koi8-r>", Some("KOI8-R")),
        ("1 < 2 <meta charset=koi8-r>", Some("KOI8-R")),
        ("<<meta charset=koi8-r>", Some("KOI8-R")),
        ("<a =b='><meta charset=koi8-r>", None),
        ("<a =b><meta = charset=koi8-r>", Some("KOI8-R")),
        ("<p>charset=koi8-r", None),
        // documents that end too early
        ("<meta charset", None),
        ("<meta charset=koi8-r", None),
        ("<meta charset='koi8-r", None),
        ("<meta ", None),
        ("<", None),
        ("<!", None),
        ("</", None),
        // XML
        ("<?xml version=\"1.0\" encoding=\"iso-8859-2\"?>", Some("ISO-8859-2")),
        ("<?xml encoding = 'utf-16' ?>", Some("UTF-8")),
        ("<?xml encoding=koi8-r?>", None),
        ("<?xml encoding='koi8-r ' ?>", None),
        ("<?xml version='1.0'?> encoding='koi8-r'", None),
        ("<?xml encoding='koi8-r'", None),
        (" <?xml encoding='koi8-r'?>", None),
        ("<\0?\0x\0", Some("UTF-16LE")),
        ("\0<\0?\0x", Some("UTF-16BE")),
    ];

    #[test]
    fn the_beginning_of_a_document_names_its_encoding() {
        for (document, name) in BEGINNINGS {
            assert_eq!(prescan(document.as_bytes()).map(Encoding::name), *name, "{document}");
        }
        for (blanks, name) in [(PRESCAN - 21, Some("KOI8-R")), (PRESCAN - 20, None)] {
            let document = format!("{}<meta charset=koi8-r>", " ".repeat(blanks));
            assert_eq!(prescan(document.as_bytes()).map(Encoding::name), name, "{blanks} blanks");
        }
    }
}
