//! Finds the links of an HTML document.
//!
//! A tokenizer finds the tags in the same way as browsers. No tree is built, because the position of a tag
//! matters only in templates, scripts, comments and similar elements.

mod fields;

pub use fields::of_head;

use super::urls::{LONGEST, is_web, normalise};
use encoding_rs::Encoding;
use executor::{CancelToken, Cancelled};
use hypertext::charset;
use hypertext::html::{Reader, Tag, read};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::collections::HashSet;
use url::Url;

/// Schemes of links that are not meant to be fetched.
const NO_PAGES: [&str; 8] = ["about", "blob", "data", "javascript", "mailto", "sms", "tel", "urn"];

/// The links of a document to other documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The targets of the document's links, in order: each URL once and [normalised](normalise), with at
    /// most [`LONGEST`] bytes, but with any scheme and host. The list is empty if the document is
    /// `nofollow`.
    pub links: Vec<Url>,
    /// The URL that the document itself names as its canonical URL: the first `<link rel=canonical>` with a
    /// valid URL. The canonical URL is not among the links.
    pub canonical: Option<Url>,
    /// The names of the document's parts: each `id`, and the `name` of each `<a>`.
    pub parts: Vec<String>,
    /// Parts of documents to which the links lead: each URL with the text after its `#`, in the form in which
    /// a browser looks for this text.
    pub fragments: Vec<(String, String)>,
    /// True if the document asks crawlers not to follow its links: it has the word `nofollow` or `none` in a
    /// `<meta name=robots>`.
    pub nofollow: bool,
    /// The number of links that were left out because there are too many or because they are too long.
    /// Beyond the limit, a link that occurs twice counts twice.
    pub left_out: usize,
}

/// Finds the links of a document, which are `href` of `<a>`, `<area>`, and of `<link>` with `rel` `next` or
/// `prev`; `src` of `<iframe>` and `<frame>`; and the URL of `<meta http-equiv=refresh>`. Links are relative
/// to the first `<base href>`, at any position, or else to `url`, the document's own URL.
///
/// The result leaves out links with `rel=nofollow`, links with a scheme that is not fetched (`javascript:`,
/// `mailto:`, `data:` and similar schemes), and texts that are not URLs.
///
/// `content_type` is the value of the header `Content-Type`. The encoding of the document is determined as
/// in browsers; also as in browsers, the query of a link is written in that encoding.
///
/// At most `limit` links are examined; links with the same text count as one link. Time and memory grow
/// with the length of the document and with `limit`. No bytes of a document cause an error.
///
/// # Errors
/// Fails if `token` is cancelled before the end of the document.
pub fn links(
    document: &[u8],
    content_type: Option<&str>,
    url: &Url,
    limit: usize,
    token: &CancelToken,
) -> Result<Links, Cancelled> {
    let (text, encoding) = charset::decode(document, content_type, charset::utf_8_or_windows);
    let is_xml = content_type.is_some_and(|kind| kind.to_ascii_lowercase().contains("xml"));
    Ok(read(&text, Page { limit, is_xml, ..Page::default() }, token)?.resolved(url, encoding))
}

/// The tags of a document, with their texts unchanged.
#[derive(Default)]
struct Page {
    base: Option<String>,
    canonical: Vec<String>,
    nofollow: bool,
    /// The links as they are written, without spaces and `#` parts, and without duplicates.
    links: Vec<String>,
    seen: HashSet<String>,
    parts: Vec<String>,
    fragments: Vec<String>,
    left_out: usize,
    limit: usize,
    /// The number of open templates. The content of a template is not part of the document.
    templates: usize,
    is_xml: bool,
}

impl Reader for Page {
    fn is_xml(&self, _: &str) -> bool {
        self.is_xml
    }

    fn tag(&mut self, tag: &Tag<'_>) {
        if !tag.is_end {
            self.start(tag);
        }
        if (tag.is_end || tag.is_empty) && tag.name() == "template" {
            self.templates = self.templates.saturating_sub(1);
        }
    }
}

impl Page {
    fn start(&mut self, tag: &Tag<'_>) {
        let name = tag.name();
        self.templates += usize::from(name == "template");
        if self.templates > 0 {
            return;
        }
        let part = tag.get("id").or_else(|| tag.get("name").filter(|_| name == "a"));
        if let Some(part) = part.filter(|part| part.len() <= LONGEST && self.parts.len() < self.limit) {
            self.parts.push(part.to_owned());
        }
        match name {
            "base" if self.base.is_none() => self.base = tag.get("href").map(str::to_owned),
            "meta" => self.meta(tag),
            "a" | "area" if !has(tag, "rel", "nofollow") => self.link(tag.get("href")),
            "link" => self.relation(tag),
            "iframe" | "frame" => self.link(tag.get("src").filter(|src| !src.trim_ascii().is_empty())),
            _ => (),
        }
    }

    fn meta(&mut self, tag: &Tag<'_>) {
        let is_for_robots =
            tag.get("name").is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case("robots"));
        let is_heeded = |word: &str| ["nofollow", "none"].iter().any(|no| no.eq_ignore_ascii_case(word));
        let mut words = tag.get("content").unwrap_or_default().split([',', ' ', '\t', '\n', '\r', '\x0c']);
        self.nofollow |= is_for_robots && words.any(is_heeded);
        if tag.get("http-equiv").is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case("refresh")) {
            self.link(tag.get("content").and_then(refreshed));
        }
    }

    fn relation(&mut self, tag: &Tag<'_>) {
        let Some(href) = tag.get("href") else { return };
        if has(tag, "rel", "canonical") && href.len() <= LONGEST && self.canonical.len() < self.limit {
            self.canonical.push(href.to_owned());
        }
        if (has(tag, "rel", "next") || has(tag, "rel", "prev")) && !has(tag, "rel", "nofollow") {
            self.link(Some(href));
        }
    }

    /// Keeps a link, unless it is already known, has a scheme that is not fetched, or is beyond a limit.
    fn link(&mut self, href: Option<&str>) {
        // This line removes spaces and control characters at both ends, as the URL standard demands.
        let Some(href) = href.map(|href| href.trim_matches(|c: char| c <= ' ')) else { return };
        if href.contains('#') && href.len() <= LONGEST && self.fragments.len() < self.limit {
            self.fragments.push(href.to_owned());
        }
        let href = href.split('#').next().unwrap_or_default().trim_end_matches(|c: char| c <= ' ');
        if is_no_page(href) || self.seen.contains(href) {
            return;
        }
        if href.len() > LONGEST || self.links.len() >= self.limit {
            self.left_out += 1;
            return;
        }
        self.seen.insert(href.to_owned());
        self.links.push(href.to_owned());
    }

    fn resolved(mut self, url: &Url, encoding: &'static Encoding) -> Links {
        if self.nofollow {
            (self.left_out, self.links, self.fragments) = (0, Vec::new(), Vec::new());
        }
        let mut found = Links { nofollow: self.nofollow, left_out: self.left_out, ..Links::default() };
        let encode: &dyn Fn(&str) -> Cow<[u8]> = &|text| encoding.encode(text).0;
        let options = Url::options().encoding_override(Some(encode));
        let base = self.base.filter(|base| !is_no_page(base.trim_matches(|c: char| c <= ' ')));
        let base = base.and_then(|base| options.base_url(Some(url)).parse(&base).ok());
        let base = normalise(base.unwrap_or_else(|| url.clone()));
        let is_fitting = |url: &Url| url.as_str().len() <= LONGEST;
        if !is_fitting(&base) {
            // A base that is too long makes every link too long, because each link begins with the base.
            return Links { left_out: found.left_out + self.links.len(), ..found };
        }
        let resolve = |href: &String| options.base_url(Some(&base)).parse(href).ok().map(normalise);
        found.canonical =
            self.canonical.iter().filter_map(resolve).find(|url| is_web(url) && is_fitting(url));
        let fragment = |href: &String| {
            let url = options.base_url(Some(&base)).parse(href).ok().filter(is_web)?;
            let part = percent_decode_str(url.fragment()?).decode_utf8().ok()?.into_owned();
            // An empty part and the part `top` mean the beginning of a page. The text after `:~:` consists
            // of words that a browser searches on the page.
            let is_name = !part.is_empty() && !part.eq_ignore_ascii_case("top") && !part.contains(":~:");
            is_name.then(|| (normalise(url).into(), part))
        };
        found.fragments = self.fragments.iter().filter_map(fragment).collect();
        found.parts = self.parts;
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

/// Returns the target of `5; url=next.html`, a text of a `<meta http-equiv=refresh>` or of a field `Refresh`.
/// The text is parsed as in browsers: the `url=` after the time is optional.
fn refreshed(content: &str) -> Option<&str> {
    let content = content.trim_ascii();
    let behind = content.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let ends_time = |c: char| matches!(c, ';' | ',') || c.is_ascii_whitespace();
    if behind.len() == content.len() || !behind.starts_with(ends_time) {
        return None;
    }
    let behind = behind.trim_ascii_start();
    let behind = behind.strip_prefix([';', ',']).unwrap_or(behind).trim_ascii_start();
    let name = behind.get(..3).filter(|name| name.eq_ignore_ascii_case("url"));
    let named = name.and_then(|_| behind[3..].trim_ascii_start().strip_prefix('='));
    let url = named.map_or(behind, str::trim_ascii);
    let quote = url.chars().next().filter(|c| matches!(c, '"' | '\''));
    let url = quote.map_or(url, |quote| url[1..].split(quote).next().unwrap_or_default());
    (!url.is_empty()).then_some(url)
}

/// Returns true if an attribute that is a list of words contains the given word.
fn has(tag: &Tag<'_>, name: &str, word: &str) -> bool {
    tag.get(name).is_some_and(|list| list.split_ascii_whitespace().any(|w| w.eq_ignore_ascii_case(word)))
}

/// Returns true if a link has one of the schemes of [`NO_PAGES`]. The URL standard allows tabs and line
/// ends anywhere in a scheme.
fn is_no_page(href: &str) -> bool {
    let begin = href.split_once(':').map_or("", |(begin, _)| begin);
    let mut scheme =
        begin.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).map(|c| c.to_ascii_lowercase());
    let scheme: String = scheme.by_ref().take(16).collect();
    NO_PAGES.contains(&&*scheme)
}

#[cfg(test)]
mod tests;
