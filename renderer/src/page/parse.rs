//! Makes a page from bytes: finds the type of the document, and keeps as much of the document as the limits
//! allow.

use super::Page;
use super::blocks::Blocks;
use super::tags::is_void;
use executor::{CancelToken, Cancelled};
use hypertext::charset;
use hypertext::html::{Reader, Tag, read};
use std::fmt;
use std::path::Path;
use url::Url;

/// How many bytes of a document are checked to find out whether it is text.
const LOOK: usize = 1024;

/// The extensions of HTML files; a file with such a name is HTML, even if its first bytes look different.
const HTML_NAMES: [&str; 4] = ["html", "htm", "xhtml", "xht"];

/// If nothing else gives the type of a document, one of these first tags shows that it is HTML.
const FIRST_TAGS: [&str; 17] = [
    "!doctype", "html", "head", "body", "title", "meta", "style", "script", "iframe", "h1", "div", "font",
    "table", "a", "b", "br", "p",
];

/// The limits on the parts of a page that are kept.
#[derive(Debug, Clone, Copy)]
pub struct PageLimits {
    /// The largest number of elements. [`Page::left_out`] counts the elements beyond this limit.
    pub elements: usize,
    /// The largest number of bytes of text on the whole page.
    pub text: usize,
    /// The screen for which the page is drawn.
    pub viewport: Viewport,
}

/// The screen for which a page is drawn; if an image has several files, the screen decides which one is
/// chosen.
#[derive(Debug, Clone, Copy)]
pub struct Viewport {
    /// The width of the picture in CSS pixels.
    pub width: u32,
    /// The number of pixels in the picture for each CSS pixel.
    pub scale: f32,
}

impl Viewport {
    /// The screen that the programs use by default.
    pub const USUAL: Viewport = Viewport { width: 800, scale: 1.0 };
}

/// The reason why bytes are not a page, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoPage(pub String);

impl fmt::Display for NoPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoPage {}

impl Page {
    /// Parses a page from the bytes of a document. `content_type` is the type that the server named; relative
    /// references start from the address `base`, unless the page sets another base address (`<base href>`).
    ///
    /// Plain text becomes a page with one block. Invalid HTML also becomes a page, as in browsers. If the
    /// server does not say whether a document is HTML or text, the document's name (`.html`, `.txt`) decides,
    /// or else its first tag.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a page, for instance because there are no bytes, or because
    /// they are an image. Also returns an error if the current token is cancelled before the page is
    /// parsed completely.
    pub fn parse(
        document: &[u8],
        content_type: Option<&str>,
        base: &Url,
        limits: PageLimits,
    ) -> Result<Page, NoPage> {
        let is_plain = is_plain_text(document, content_type, base)?;
        let (text, _) = charset::decode(document, content_type, charset::utf_8_or_windows);
        let blocks = Blocks::new(base, limits, is_xhtml(content_type, base));
        let token = CancelToken::current();
        let read = if is_plain { blocks.plain(&text, &token) } else { read(&text, blocks, &token) };
        let blocks = read.map_err(|cancelled| NoPage(format!("it was not read to its end: {cancelled}")))?;
        Ok(blocks.finish())
    }
}

/// Returns whether a document is XHTML, in which any tag can close its own element (`<a/>`).
fn is_xhtml(content_type: Option<&str>, base: &Url) -> bool {
    content_type
        .map_or_else(|| has_extension(base, "xhtml"), |kind| kind.to_ascii_lowercase().contains("xhtml"))
}

fn has_extension(url: &Url, known: &str) -> bool {
    Path::new(url.path()).extension().is_some_and(|extension| extension.eq_ignore_ascii_case(known))
}

/// Returns whether a document is plain text and not HTML.
fn is_plain_text(document: &[u8], content_type: Option<&str>, base: &Url) -> Result<bool, NoPage> {
    if document.is_empty() {
        return Err(NoPage("there is nothing in it".to_owned()));
    }
    let kind =
        content_type.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    let kind = kind.filter(|kind| !kind.is_empty());
    match kind.as_deref() {
        Some("text/html" | "application/xhtml+xml") | None => (),
        Some(kind) if kind.starts_with("text/") => return Ok(true),
        Some(kind) => return Err(NoPage(format!("it is {kind:?} and no page"))),
    }
    let begin = &document[..document.len().min(LOOK)];
    let known: [(&[u8], &str); 7] = [
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"RIFF", "a WebP image or a recording"),
        (b"%PDF", "a PDF document"),
        (b"PK\x03\x04", "an archive"),
        (b"\x7fELF", "a program"),
    ];
    if let Some((_, what)) = known.iter().find(|(magic, _)| begin.starts_with(magic)) {
        return Err(NoPage(format!("it is {what} and no page")));
    }
    let has_mark = encoding_rs::Encoding::for_bom(begin).is_some(); // UTF-16 is full of zeros
    if begin.contains(&0) && !has_mark {
        return Err(NoPage("it is no text".to_owned()));
    }
    let is_declared = kind.is_some() || HTML_NAMES.iter().any(|name| has_extension(base, name));
    let (begin, _) = charset::decode(begin, None, charset::utf_8_or_windows);
    Ok(!is_declared && (has_extension(base, "txt") || !looks_like_html(&begin)))
}

/// Returns whether a document begins with a tag by which the standard on MIME sniffing recognises HTML.
fn looks_like_html(begin: &str) -> bool {
    let Some(tag) = begin.trim_ascii_start().strip_prefix('<') else { return false };
    let starts_with = |what: &str| tag.get(..what.len()).is_some_and(|it| it.eq_ignore_ascii_case(what));
    let ends = |what: &str| {
        tag.as_bytes().get(what.len()).is_some_and(|end| *end == b'>' || end.is_ascii_whitespace())
    };
    starts_with("!--") || starts_with("?xml") || FIRST_TAGS.iter().any(|name| starts_with(name) && ends(name))
}

/// Returns the attributes of a tag.
pub(super) use hypertext::html::Tag as Attributes;

impl Reader for Blocks {
    fn characters(&mut self, text: &str) {
        self.text(text);
    }

    fn tag(&mut self, tag: &Tag<'_>) {
        let name = tag.name();
        if !tag.is_end {
            self.start(name, tag);
        }
        if tag.is_end || (tag.is_empty && !is_void(name)) {
            self.end(name);
        }
    }

    fn is_xml(&self, name: &str) -> bool {
        self.is_xml || self.is_foreign(name)
    }
}

impl Blocks {
    /// Makes blocks of preformatted text from plain text.
    fn plain(mut self, text: &str, token: &CancelToken) -> Result<Blocks, Cancelled> {
        self.start("pre", &Attributes::default());
        for piece in text.replace("\r\n", "\n").split_inclusive("\n\n") {
            token.check()?;
            self.text(piece);
            self.end_block();
        }
        Ok(self)
    }
}
