//! Parses sitemaps: lists of the pages of a site, and lists of sitemaps, as in
//! <https://www.sitemaps.org/protocol.html>.
//!
//! A sitemap is XML or plain text with a URL in each line. From XML, only the `<loc>` of each `<url>` or
//! `<sitemap>` is used. Entities that the document itself declares are not resolved, so such entities can
//! neither enlarge the document nor refer to files.

use super::urls::{LONGEST, is_web, normalise};
use encoding_rs::UTF_8;
use flate2::read::GzDecoder;
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, Event};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Read as _;
use url::Url;

/// The largest number of URLs in a sitemap, according to the sitemap protocol.
pub const MOST: usize = 50_000;

/// The largest number of bytes of a sitemap, according to the sitemap protocol, both compressed and
/// decompressed.
pub const LARGEST: usize = 50 << 20;

/// The largest depth of nested elements. The protocol needs three levels, and its extensions need some
/// more.
const DEEPEST: usize = 32;

/// The content of a sitemap. All URLs are `http` or `https` and [normalised](normalise), have at most
/// [`LONGEST`] bytes, and occur only once. The URLs may belong to any host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// The pages, in the order of the document.
    pub pages: Vec<Url>,
    /// The other sitemaps, if this sitemap is an index.
    pub indexes: Vec<Url>,
    /// True if the document has a fault: it is no sitemap, its XML is incomplete or not well-formed, its
    /// elements are nested too deeply, or it declares an entity. Damaged compressed data, or another text in
    /// the place of an `http` or `https` URL, is also a fault. The result still has the part before the
    /// fault; after XML that is not well-formed, nothing is read.
    pub is_broken: bool,
    /// True if the document is longer than [`LARGEST`].
    pub is_too_long: bool,
    /// The number of URLs that were left out because there are too many or because they are too long.
    /// Beyond the limit, a URL that occurs twice counts twice.
    pub left_out: usize,
}

impl Sitemap {
    /// Returns in words why the list could not be read completely, or `None` if the list is complete.
    pub fn trouble(&self) -> Option<String> {
        let is_empty = self.pages.is_empty() && self.indexes.is_empty();
        match self.left_out {
            _ if self.is_too_long => Some("it is longer than 50 MiB".to_owned()),
            _ if self.is_broken && is_empty => Some("it is no list".to_owned()),
            _ if self.is_broken => Some("it is damaged, or some of its addresses are none".to_owned()),
            0 => None,
            count => Some(format!("{count} of its addresses are too many or too long")),
        }
    }
}

/// Parses a sitemap that was fetched from `base`; the sitemap may be a gzip file, as on many sites. If the
/// document is longer than [`LARGEST`], only the beginning is parsed, without the line or the element that is
/// cut off. At most `limit` URLs are kept, and never more than [`MOST`]. Time and memory grow with the length
/// of the sitemap.
///
/// The protocol requires absolute URLs. Like other crawlers, this function also accepts a `<loc>` whose URL
/// is relative to `base`.
pub fn parse(document: &[u8], limit: usize, base: &Url) -> Sitemap {
    let (document, is_damaged) = unpacked(document);
    let is_too_long = document.len() > LARGEST;
    let (text, _, _) = UTF_8.decode(beginning(&document)); // unless a byte order mark says UTF-16
    let sitemap = Sitemap { is_broken: is_damaged, is_too_long, ..Sitemap::default() };
    let mut list = List { sitemap, seen: HashSet::new(), limit: limit.min(MOST), base: None };
    if text.trim_start().starts_with('<') {
        list.base = Some(base);
        xml(text.trim_start(), &mut list);
    } else {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            list.add(line, false);
        }
    }
    list.sitemap
}

/// Decompresses a document, up to one byte more than [`LARGEST`], and returns whether the compressed data is
/// damaged. If the data is damaged, the document contains the part before the damage.
fn unpacked(document: &[u8]) -> (Cow<'_, [u8]>, bool) {
    if !document.starts_with(&[0x1f, 0x8b]) {
        return (Cow::Borrowed(document), false);
    }
    let mut plain = Vec::new();
    let read = GzDecoder::new(document).take(LARGEST as u64 + 1).read_to_end(&mut plain);
    (Cow::Owned(plain), read.is_err())
}

/// Returns the beginning of a document that is too long, up to the end of a line or of a tag.
fn beginning(document: &[u8]) -> &[u8] {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'>');
    match document.get(..LARGEST) {
        Some(begin) if document.len() > LARGEST => &begin[..begin.iter().rposition(is_end).unwrap_or(0)],
        _ => document,
    }
}

/// The URLs that were found, and the set of known URLs.
struct List<'b> {
    sitemap: Sitemap,
    seen: HashSet<Url>,
    limit: usize,
    /// The base of relative URLs. A line of text is never a relative URL, because otherwise any word would
    /// be a page.
    base: Option<&'b Url>,
}

impl List<'_> {
    fn add(&mut self, text: &str, is_index: bool) {
        let text = text.trim();
        if text.len() > LONGEST {
            self.sitemap.left_out += 1;
            return;
        }
        let url = Url::options().base_url(self.base.filter(|_| !text.is_empty())).parse(text);
        let Some(url) = url.ok().filter(is_web).map(normalise) else {
            self.sitemap.is_broken = true;
            return;
        };
        if self.seen.contains(&url) {
            return;
        }
        if self.seen.len() >= self.limit || url.as_str().len() > LONGEST {
            self.sitemap.left_out += 1;
            return;
        }
        self.seen.insert(url.clone());
        if is_index { &mut self.sitemap.indexes } else { &mut self.sitemap.pages }.push(url);
    }
}

/// An element; the prefix of its name is ignored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    UrlSet,
    SitemapIndex,
    Url,
    Sitemap,
    Loc,
    Other,
}

impl Element {
    fn named(name: &str) -> Element {
        match name {
            "urlset" => Element::UrlSet,
            "sitemapindex" => Element::SitemapIndex,
            "url" => Element::Url,
            "sitemap" => Element::Sitemap,
            "loc" => Element::Loc,
            _ => Element::Other,
        }
    }
}

fn xml(text: &str, list: &mut List<'_>) {
    let mut reader = Reader::from_str(text);
    reader.config_mut().allow_dangling_amp = true; // many write `?a&b`
    let mut place = Place::default();
    let is_well_formed = loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) if place.open.len() < DEEPEST => {
                place.enter(Element::named(tag.local_name().as_ref()));
            }
            Ok(Event::End(_)) => place.leave(list),
            Ok(Event::Text(text)) => place.text(&text),
            Ok(Event::CData(text)) => place.text(&text),
            Ok(Event::GeneralRef(entity)) => place.entity(&entity),
            Ok(Event::Eof) => break place.open.is_empty(),
            Ok(Event::Start(_)) | Err(_) => break false,
            Ok(_) => (),
        }
    };
    list.sitemap.is_broken |= !is_well_formed || !place.is_sitemap || place.has_own_entity;
}

/// The reader's position in a document.
#[derive(Default)]
struct Place {
    /// The open elements, beginning with the outermost element.
    open: Vec<Element>,
    /// The text of the current `<loc>`, if it belongs to a page or a sitemap. The text is `None` after an
    /// unknown entity.
    loc: Option<String>,
    /// True if the outermost element belongs to a sitemap or an index.
    is_sitemap: bool,
    has_own_entity: bool,
}

impl Place {
    fn enter(&mut self, element: Element) {
        self.open.push(element);
        match self.open[..] {
            [Element::UrlSet | Element::SitemapIndex] => self.is_sitemap = true,
            [Element::UrlSet, Element::Url, Element::Loc]
            | [Element::SitemapIndex, Element::Sitemap, Element::Loc] => self.loc = Some(String::new()),
            _ => (),
        }
    }

    fn leave(&mut self, list: &mut List<'_>) {
        if self.open.len() == 3
            && let Some(loc) = self.loc.take()
        {
            list.add(&loc, self.open[0] == Element::SitemapIndex);
        }
        self.open.pop();
    }

    /// Text counts only if it is directly in the `<loc>`.
    fn text(&mut self, text: &str) {
        if self.open.len() == 3
            && let Some(loc) = &mut self.loc
        {
            loc.push_str(text);
        }
    }

    fn entity(&mut self, entity: &BytesRef<'_>) {
        let character = entity.resolve_char_ref().ok().flatten().map(String::from);
        if let Some(text) = character.as_deref().or_else(|| resolve_xml_entity(entity)) {
            self.text(text);
        } else {
            (self.loc, self.has_own_entity) = (None, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    const DECLARATION: &str = "<?xml version='1.0' encoding='UTF-8'?>\n";

    fn parse(document: &[u8], limit: usize) -> Sitemap {
        super::parse(document, limit, &Url::parse("http://home/lists/one.xml").unwrap())
    }

    fn texts(urls: &[Url]) -> Vec<&str> {
        urls.iter().map(Url::as_str).collect()
    }

    fn set(content: &str) -> String {
        format!("{DECLARATION}<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{content}</urlset>")
    }

    fn page(loc: &str) -> String {
        format!("<url><loc>{loc}</loc></url>")
    }

    #[test]
    fn the_examples_of_the_protocol_are_read() {
        let pages = set(
            "\n<url>\n<loc>http://www.example.com/</loc>\n<lastmod>2005-01-01</lastmod>\n<changefreq>monthly</changefreq>\n\
                         <priority>0.8</priority>\n</url>\n<url><loc>\n http://www.example.com/catalog?item=12&amp;desc=vacation_hawaii \n\
                         </loc></url><!-- <url><loc>http://no/</loc></url> -->",
        );
        let found = parse(pages.as_bytes(), MOST);
        assert_eq!(
            texts(&found.pages),
            ["http://www.example.com/", "http://www.example.com/catalog?item=12&desc=vacation_hawaii"]
        );
        assert_eq!((found.indexes.len(), found.is_broken, found.left_out), (0, false, 0));

        let index = "<sitemapindex><sitemap><loc>http://www.example.com/sitemap1.xml.gz</loc><lastmod>2004-10-01</lastmod></sitemap>\
                     <sitemap><loc>https://www.example.com/2.xml</loc></sitemap></sitemapindex>";
        let found = parse(index.as_bytes(), MOST);
        assert_eq!(
            texts(&found.indexes),
            ["http://www.example.com/sitemap1.xml.gz", "https://www.example.com/2.xml"]
        );
        assert_eq!((found.pages.len(), found.is_broken), (0, false));

        let found = parse(
            b"http://www.example.com/a\r\n\n  http://www.example.com/b \nhttp://www.example.com/a",
            MOST,
        );
        assert_eq!(texts(&found.pages), ["http://www.example.com/a", "http://www.example.com/b"]);
        assert!(!found.is_broken);
    }

    /// Cases: the content of a `<urlset>`, the expected pages, and whether the sitemap counts as broken.
    const CONTENTS: &[(&str, &[&str], bool)] = &[
        ("", &[], false),
        ("<url><loc>http://a/b</loc></url><url><loc>http://a/%62#c</loc></url>", &["http://a/b"], false),
        ("<url><loc><![CDATA[http://a/?b&c]]></loc></url>", &["http://a/?b&c"], false),
        ("<url><loc>http://a/?b=1&amp;c=&#50;&#x33;&apos;</loc></url>", &["http://a/?b=1&c=23%27"], false),
        ("<url><loc>http://a/?b&c&d=1</loc></url>", &["http://a/?b&c&d=1"], false),
        ("<url><loc>http://a/<!-- x -->b</loc></url>", &["http://a/b"], false),
        ("<url><loc>http://a/<x>y</x>b</loc></url>", &["http://a/b"], false),
        ("<url><loc >http://a/é</loc ></url>", &["http://a/%C3%A9"], false),
        (
            "<url><image:image><image:loc>http://no/</image:loc></image:image><loc>http://a/</loc></url>",
            &["http://a/"],
            false,
        ),
        (
            "<loc>http://no/</loc><sitemap><loc>http://no/</loc></sitemap><x><url><loc>http://no/</loc></url></x>",
            &[],
            false,
        ),
        ("<url><loc/><loc>http://a/</loc></url>", &["http://a/"], false),
        ("<url><loc></loc></url><url><loc>http://a/</loc></url>", &["http://a/"], true),
        (
            "<url><loc>/a</loc></url><url><loc>b?c</loc></url>",
            &["http://home/a", "http://home/lists/b?c"],
            false,
        ),
        ("<url><loc>//a/b</loc></url>", &["http://a/b"], false),
        ("<url><loc>ftp://a/</loc></url><url><loc>file:///etc/passwd</loc></url>", &[], true),
        ("<url><loc>http://a/&own;</loc></url><url><loc>http://b/</loc></url>", &["http://b/"], true),
        ("<url><loc>http://a/&#x110000;</loc></url><url><loc>http://b/</loc></url>", &["http://b/"], true),
        ("<url><loc>http://a/</loc></url><url><loc>http://b/</lok></url>", &["http://a/"], true),
        ("<url><loc>http://a/</loc></url></x>", &["http://a/"], true),
        ("<url><loc>http://a/</loc></url><!--", &["http://a/"], true),
        ("<url><loc>http://a/</loc></url><url", &["http://a/"], true),
        ("<url><loc>http://a/</loc></url><url><loc>http://b/", &["http://a/"], true),
    ];

    #[test]
    fn what_could_be_read_is_there() {
        for (content, pages, is_broken) in CONTENTS {
            let found = parse(set(content).as_bytes(), MOST);
            assert_eq!((texts(&found.pages), found.is_broken), (pages.to_vec(), *is_broken), "{content}");
            assert_eq!((found.indexes.len(), found.left_out), (0, 0), "{content}");
        }
    }

    #[test]
    fn a_document_that_is_cut_has_what_was_before() {
        let whole = set(&[page("http://a/1"), page("http://a/2"), page("http://a/3")].concat());
        for length in DECLARATION.len()..whole.len() {
            let found = parse(&whole.as_bytes()[..length], MOST);
            let ends = whole[..length].matches("</loc>").count();
            assert_eq!((found.pages.len(), found.is_broken), (ends, true), "{length} bytes");
        }
    }

    #[test]
    fn other_forms_are_read_and_other_things_are_not() {
        let prefixed = "<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'><s:url><s:loc>http://a/</s:loc></s:url></s:urlset>";
        let own = "<!DOCTYPE urlset [<!ENTITY x SYSTEM 'file:///etc/passwd'><!ENTITY y 'http://y/'>]><urlset><url><loc>&y;</loc></url>\
                   <url><loc>http://a/&x;</loc></url><url><loc>http://a/</loc></url></urlset>";
        let utf_16 = |text: &str| -> Vec<u8> {
            format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect()
        };
        for (document, count, is_broken) in [
            (prefixed.as_bytes(), 1, false),
            (format!("\u{feff} \n{}", set(&page("http://a/"))).as_bytes(), 1, false),
            (&utf_16(&set(&page("http://a/"))), 1, false),
            (&utf_16("http://a/\nhttp://b/"), 2, false),
            (own.as_bytes(), 1, true),
            (b"", 0, false),
            (b" \n", 0, false),
            (b"no sitemap\nhttp://a/\n", 1, true),
            (b"<!doctype html><html><body><p>Not found<br></body></html>", 0, true),
            (b"<html><url><loc>http://a/</loc></url></html>", 0, true),
            (b"<", 0, true),
            (b"\x1f\x8b\x08\0", 0, true),
        ] {
            let found = parse(document, MOST);
            assert_eq!(
                (found.pages.len(), found.is_broken),
                (count, is_broken),
                "{}",
                String::from_utf8_lossy(document)
            );
        }
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let pages: String = (0..10).chain(0..10).map(|n| page(&format!("http://a/{n}"))).collect();
        for (limit, kept, left_out) in [(0, 0, 20), (3, 3, 14), (10, 10, 0), (usize::MAX, 10, 0)] {
            let found = parse(set(&pages).as_bytes(), limit);
            assert_eq!(
                (found.pages.len(), found.left_out, found.is_broken),
                (kept, left_out, false),
                "{limit}"
            );
        }
        let lines = (0..=MOST).map(|n| format!("http://a/{n}\n")).collect::<Vec<_>>().concat();
        let found = parse(lines.as_bytes(), usize::MAX);
        assert_eq!((found.pages.len(), found.left_out), (MOST, 1));

        let begin = "http://a/";
        let fitting = format!("{begin}{}", "a".repeat(LONGEST - begin.len()));
        let grows = format!("{begin}{}", "é".repeat(LONGEST / 2 - begin.len()));
        let document =
            set(&[page(&fitting), page(&(fitting + "a")), page(&grows), page(&"http://é".repeat(200_000))]
                .concat());
        let found = parse(document.as_bytes(), MOST);
        assert_eq!((found.pages.len(), found.left_out), (1, 3));
    }

    /// Checks that a URL beyond the limit is not read, and that a URL that the limit cuts off is not read.
    #[test]
    fn a_list_has_a_length() {
        for (beyond, count, is_too_long) in [(0, 2, false), (1, 1, true)] {
            let long = "x".repeat(LARGEST + beyond - "http://a/\n\nhttp://b/1".len());
            let text = format!("http://a/\n{long}\nhttp://b/1");
            let found = parse(text.as_bytes(), MOST);
            assert_eq!((found.pages.len(), found.is_too_long), (count, is_too_long));
        }
    }

    #[test]
    fn hostile_documents_are_read_in_time() {
        let deep = |depth: usize| {
            set(&format!("{}{}", page("http://a/"), "<x>".repeat(depth) + &"</x>".repeat(depth)))
        };
        assert!(!parse(deep(DEEPEST - 1).as_bytes(), MOST).is_broken);
        assert!(parse(deep(DEEPEST).as_bytes(), MOST).is_broken);
        let attributes = (0..200_000).map(|n| format!(" a{n}=''")).collect::<Vec<_>>().concat();
        for content in [
            format!("<x{attributes}/>"),
            "<x>".repeat(1_000_000),
            "<x/>".repeat(500_000),
            "<".repeat(1_000_000),
            format!("<url><loc>{}</loc></url>", "&amp;".repeat(400_000)),
            format!("<url><loc>{}</loc></url>", "&".repeat(500_000)),
            format!("<!--{}", "<!--".repeat(500_000)),
            format!("<![CDATA[{}", "]]".repeat(500_000)),
            format!("<!DOCTYPE x [{}", "<!ENTITY a '&b;&b;'>".repeat(100_000)),
        ] {
            let begin = Instant::now();
            assert_eq!(
                texts(&parse(set(&(page("http://a/") + &content)).as_bytes(), MOST).pages),
                ["http://a/"]
            );
            assert!(begin.elapsed() < Duration::from_secs(20), "{content:.20}: {:?}", begin.elapsed());
        }
    }

    #[test]
    fn no_bytes_are_an_error() {
        let sample = CONTENTS.iter().map(|(content, ..)| *content).take(10).collect::<String>();
        let mut random = fastrand::Rng::with_seed(9);
        for round in 0..2_000 {
            let mut document = set(&sample).into_bytes();
            for _ in 0..random.usize(1..8) {
                let at = random.usize(..document.len());
                if random.bool() {
                    document[at] = random.u8(..);
                } else {
                    let bit = random
                        .choice(["<", ">", "&", "<![CDATA[", "]]>", "<!--", "<loc>", "</"])
                        .expect("some");
                    document.splice(at..at, bit.bytes());
                }
            }
            let (limit, mut seen) = (random.usize(..10), HashSet::new());
            let found = parse(&document, limit);
            assert!(found.pages.len() + found.indexes.len() <= limit, "round {round}");
            assert!(found.pages.iter().all(|url| is_web(url) && seen.insert(url)), "round {round}");
        }
    }
}
