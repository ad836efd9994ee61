//! Bytes to a page: what kind of document it is, and what is taken of it.

use super::blocks::Blocks;
use super::feed::feed;
use super::{Page, charset};
use html5ever::Attribute;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::Path;
use url::Url;

/// Bytes of a document that are looked at to tell whether it is text at all.
const LOOK: usize = 1024;

/// How much of a page is taken.
#[derive(Debug, Clone, Copy)]
pub struct PageLimits {
    /// Elements; what comes after them is counted in [`Page::left_out`].
    pub elements: usize,
    /// Bytes of text in all.
    pub text: usize,
}

/// Why bytes are no page: a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoPage(pub String);

impl fmt::Display for NoPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoPage {}

impl Page {
    /// Takes a page out of the bytes of a document. `content_type` is what the server said; `base` is the address that
    /// relative references start from, unless the page says otherwise (`<base href>`).
    ///
    /// Plain text is a page of one block. HTML that is wrong is a page, too, as it is for browsers.
    ///
    /// # Errors
    /// If the bytes are no page: none at all, an image, say, or a program.
    pub fn parse(
        document: &[u8],
        content_type: Option<&str>,
        base: &Url,
        limits: PageLimits,
    ) -> Result<Page, NoPage> {
        let is_plain = is_plain_text(document, content_type, base)?;
        let text = charset::decode(document, content_type);
        let mut blocks = Blocks::new(base, limits);
        if is_plain {
            blocks.plain(&text);
            return Ok(blocks.finish());
        }
        Ok(feed(&text, blocks).finish())
    }
}

/// Whether a document is plain text and not HTML.
fn is_plain_text(document: &[u8], content_type: Option<&str>, base: &Url) -> Result<bool, NoPage> {
    if document.is_empty() {
        return Err(NoPage("there is nothing in it".to_owned()));
    }
    let kind =
        content_type.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    match kind.as_deref() {
        Some("text/html" | "application/xhtml+xml" | "") | None => (),
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
    let is_named_so =
        Path::new(base.path()).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("txt"));
    Ok(kind.is_none() && is_named_so)
}

/// Gets the tokens of a document and passes them on.
pub(super) struct Sink {
    blocks: RefCell<Blocks>,
    /// How many tokens there were.
    tokens: Cell<usize>,
}

impl Sink {
    pub(super) fn new(blocks: Blocks) -> Sink {
        Sink { blocks: RefCell::new(blocks), tokens: Cell::new(0) }
    }

    pub(super) fn tokens(&self) -> usize {
        self.tokens.get()
    }

    pub(super) fn into_blocks(self) -> Blocks {
        self.blocks.into_inner()
    }
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if !matches!(token, Token::ParseError(_)) {
            self.tokens.set(self.tokens.get() + 1);
        }
        let mut blocks = self.blocks.borrow_mut();
        match token {
            Token::CharacterTokens(text) => blocks.text(&text),
            Token::TagToken(Tag { kind: TagKind::EndTag, name, .. }) => blocks.end(&name),
            Token::TagToken(Tag { name, self_closing: true, .. }) if blocks.is_foreign(&name) => (),
            Token::TagToken(Tag { name, attrs, .. }) => {
                blocks.start(&name, &Attributes(&attrs));
                return raw_text(&name);
            }
            _ => (),
        }
        TokenSinkResult::Continue
    }
}

/// Of some elements the content is no markup.
fn raw_text(name: &str) -> TokenSinkResult<()> {
    match name {
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

/// The attributes of a tag.
pub(super) struct Attributes<'t>(&'t [Attribute]);

impl Attributes<'_> {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
    }
}

impl Blocks {
    /// Plain text: one block after the other of preformatted text.
    fn plain(&mut self, text: &str) {
        self.start("pre", &Attributes(&[]));
        for piece in text.replace("\r\n", "\n").split_inclusive("\n\n") {
            self.text(piece);
            self.end_block();
        }
    }
}
