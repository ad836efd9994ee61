//! The links of an HTML document.
//!
//! A tokenizer finds the tags as browsers do. No tree is built: which tags are links does not depend on where they stand, except in
//! scripts, comments and the like, and in templates.

mod charset;

use super::urls::{LONGEST, is_web, normalise};
use encoding_rs::Encoding;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use url::Url;

/// Bytes that the tokenizer gets at once.
const PIECE: usize = 1 << 10;

/// Bytes that one tag may have until it is [`shortened`]. The tokenizer compares each attribute of a tag with all that came before,
/// so a tag with a million of them would keep it busy for hours.
const LONGEST_TAG: usize = 16 << 10;

/// Quotes that are kept of a tag that is shortened.
const MOST_QUOTES: usize = 1000;

/// Schemes of links that are not meant to be fetched.
const NO_PAGES: [&str; 8] = ["about", "blob", "data", "javascript", "mailto", "sms", "tel", "urn"];

/// Stands for what is left out of a tag that is shortened, so that a value that was cut can be told. It is no character, and no URL has it.
const CUT: char = '\u{fdd0}';

/// What a document says about others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Where its links lead, in the order of the document: each URL once and [normalised](normalise), none longer than [`LONGEST`], but of any
    /// scheme and host. It is empty if the document is `nofollow`.
    pub links: Vec<Url>,
    /// The URL under which the document wants to be known: the first `<link rel=canonical>` with a valid one. It is not among the links.
    pub canonical: Option<Url>,
    /// Whether the document asks crawlers not to follow its links: `nofollow` or `none` in a `<meta name=robots>`.
    pub nofollow: bool,
    /// How many links were left out because there are too many or because they are too long. Beyond the limit, a link that comes twice
    /// counts twice.
    pub left_out: usize,
}

/// Finds the links of a document: `href` of `<a>`, `<area>`, and of `<link>` with `rel` `next` or `prev`; `src` of `<iframe>` and `<frame>`.
/// They are relative to the first `<base href>`, wherever it stands, or else to `url`, the document's own.
///
/// A link with `rel=nofollow` is not taken, nor is one with a scheme that is not fetched (`javascript:`, `mailto:`, `data:` and the
/// like), nor what is no URL.
///
/// `content_type` is the header of that name. The encoding of the document is found as browsers do, and as they do, the query of a link
/// is written in that encoding.
///
/// At most `limit` links are looked at, where those that are written alike are one. Time and memory grow with the length of the document
/// and with `limit`. Whatever is in the bytes, it is no error.
pub fn links(document: &[u8], content_type: Option<&str>, url: &Url, limit: usize) -> Links {
    let (text, encoding) = charset::decode(document, content_type);
    tags(&text, limit).resolved(url, encoding)
}

/// Reads the tags of a document.
fn tags(document: &str, limit: usize) -> Page {
    let sink = Sink { page: RefCell::new(Page { limit, ..Page::default() }), tokens: Cell::new(0) };
    let (input, tokenizer) = (BufferQueue::default(), Tokenizer::new(sink, TokenizerOpts::default()));
    let (mut rest, mut tokens, mut bytes, mut quotes) = (document, 0, 0, 0);
    while !rest.is_empty() {
        let piece;
        (piece, rest) = rest.split_at(rest.floor_char_boundary(PIECE));
        if tokenizer.sink.tokens.get() != tokens {
            (tokens, bytes, quotes) = (tokenizer.sink.tokens.get(), 0, 0);
        }
        bytes += piece.len();
        let is_long = bytes > LONGEST_TAG;
        input.push_back(if is_long { shortened(piece, &mut quotes) } else { StrTendril::from_slice(piece) });
        let _ = tokenizer.feed(&input); // it pauses at scripts only if told to
    }
    tokenizer.end();
    tokenizer.sink.page.into_inner()
}

/// Of a piece of a tag or comment that is too long: what may end it. What comes behind an end is content again.
fn shortened(piece: &str, quotes: &mut usize) -> StrTendril {
    let (tag, after) = piece.split_at(piece.find('>').unwrap_or(piece.len()));
    let mut kept = String::with_capacity(piece.len());
    for c in tag.chars() {
        let is_quote = matches!(c, '"' | '\'');
        *quotes += usize::from(is_quote);
        if c == '-' || is_quote && *quotes <= MOST_QUOTES {
            kept.push(c);
        } else if !kept.ends_with([CUT, ' ']) {
            // No two dashes come together that were apart, and what ends a value still does.
            kept.extend(if c.is_ascii_whitespace() { [' ', CUT] } else { [CUT, ' '] });
        }
    }
    kept.push_str(after);
    StrTendril::from_slice(&kept)
}

/// Gets the tokens of a document.
struct Sink {
    page: RefCell<Page>,
    /// How many there were.
    tokens: Cell<usize>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.tokens.set(self.tokens.get() + 1);
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        let mut page = self.page.borrow_mut();
        if tag.kind == TagKind::StartTag {
            page.start(&tag);
            return raw(&tag.name);
        }
        if &*tag.name == "template" {
            page.templates = page.templates.saturating_sub(1);
        }
        TokenSinkResult::Continue
    }
}

/// Of some elements the content is no markup.
fn raw(name: &str) -> TokenSinkResult<()> {
    match name {
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

/// What the tags of a document say, as it is written there.
#[derive(Default)]
struct Page {
    base: Option<String>,
    canonical: Vec<String>,
    nofollow: bool,
    /// The links, without what no URL needs: each way of writing once.
    links: Vec<String>,
    seen: HashSet<String>,
    left_out: usize,
    limit: usize,
    /// Templates that are open. What is in one is not in the document.
    templates: usize,
}

impl Page {
    fn start(&mut self, tag: &Tag) {
        let name = &*tag.name;
        self.templates += usize::from(name == "template");
        if self.templates > 0 {
            return;
        }
        match name {
            "base" if self.base.is_none() => self.base = value(tag, "href").map(str::to_owned),
            "meta" => self.meta(tag),
            "a" | "area" if !has(tag, "rel", "nofollow") => self.link(value(tag, "href")),
            "link" => self.relation(tag),
            "iframe" | "frame" => self.link(value(tag, "src").filter(|src| !src.trim_ascii().is_empty())),
            _ => (),
        }
    }

    fn meta(&mut self, tag: &Tag) {
        let is_for_robots =
            value(tag, "name").is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case("robots"));
        let is_heeded = |word: &str| ["nofollow", "none"].iter().any(|no| no.eq_ignore_ascii_case(word));
        let mut words = value(tag, "content").unwrap_or_default().split([',', ' ', '\t', '\n', '\r', '\x0c']);
        self.nofollow |= is_for_robots && words.any(is_heeded);
    }

    fn relation(&mut self, tag: &Tag) {
        let Some(href) = value(tag, "href") else { return };
        if has(tag, "rel", "canonical")
            && href.len() <= LONGEST
            && !href.contains(CUT)
            && self.canonical.len() < self.limit
        {
            self.canonical.push(href.to_owned());
        }
        if (has(tag, "rel", "next") || has(tag, "rel", "prev")) && !has(tag, "rel", "nofollow") {
            self.link(Some(href));
        }
    }

    /// Keeps a link unless it is known, not to be fetched, or too much.
    fn link(&mut self, href: Option<&str>) {
        let Some(href) = href.and_then(|href| href.split('#').next()) else { return };
        let href = href.trim_matches(|c: char| c <= ' '); // as the URL standard has it
        if is_no_page(href) || self.seen.contains(href) {
            return;
        }
        if href.len() > LONGEST || href.contains(CUT) || self.links.len() >= self.limit {
            self.left_out += 1;
            return;
        }
        self.seen.insert(href.to_owned());
        self.links.push(href.to_owned());
    }

    fn resolved(mut self, url: &Url, encoding: &'static Encoding) -> Links {
        if self.nofollow {
            (self.left_out, self.links) = (0, Vec::new());
        }
        let mut found = Links { nofollow: self.nofollow, left_out: self.left_out, ..Links::default() };
        let encode: &dyn Fn(&str) -> Cow<[u8]> = &|text| encoding.encode(text).0;
        let options = Url::options().encoding_override(Some(encode));
        let is_cut = self.base.as_ref().is_some_and(|base| base.contains(CUT));
        let base = self.base.filter(|base| !is_no_page(base.trim_matches(|c: char| c <= ' ')));
        let base = base.and_then(|base| options.base_url(Some(url)).parse(&base).ok());
        let base = normalise(base.as_ref().unwrap_or(url));
        let is_fitting = |url: &Url| url.as_str().len() <= LONGEST;
        if is_cut || !is_fitting(&base) {
            // It would come before each link.
            return Links { left_out: found.left_out + self.links.len(), ..found };
        }
        let resolve =
            |href: &String| options.base_url(Some(&base)).parse(href).ok().map(|url| normalise(&url));
        found.canonical =
            self.canonical.iter().filter_map(resolve).find(|url| is_web(url) && is_fitting(url));
        let mut seen = HashSet::new();
        for url in self.links.iter().filter_map(resolve).filter(|url| !url.cannot_be_a_base()) {
            if !is_fitting(&url) {
                found.left_out += 1;
            } else if seen.insert(url.clone()) {
                found.links.push(url);
            }
        }
        found
    }
}

/// An attribute.
fn value<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

/// Whether an attribute that is a list of words has a word.
fn has(tag: &Tag, name: &str, word: &str) -> bool {
    value(tag, name).is_some_and(|list| list.split_ascii_whitespace().any(|w| w.eq_ignore_ascii_case(word)))
}

/// Whether a link has one of the schemes of [`NO_PAGES`]. The URL standard lets tabs and line ends stand anywhere in it.
fn is_no_page(href: &str) -> bool {
    let begin = href.split_once(':').map_or("", |(begin, _)| begin);
    let mut scheme =
        begin.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).map(|c| c.to_ascii_lowercase());
    let scheme: String = scheme.by_ref().take(16).collect();
    NO_PAGES.contains(&&*scheme)
}

#[cfg(test)]
mod tests;
