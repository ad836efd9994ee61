//! HTML to links: where a page leads.

use super::urls::normalise;
use crate::html::{self, Reader};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use html5ever::tokenizer::{Tag, TagKind};
use std::collections::HashSet;
use std::mem;
use url::Url;

/// Where a page leads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    /// In the order of the document, each once, in the form of [`normalise`]. Which of them are crawled is not decided here.
    pub links: Vec<Url>,
    /// The address that the page says is its real one.
    pub canonical: Option<Url>,
    /// The page asks that none of its links be followed.
    pub nofollow: bool,
    /// Links that were too many.
    pub left_out: usize,
}

/// The links of a document that came from `url`: of `a`, `area`, `iframe`, `frame`, and of `link` to the next page and the one before.
/// A link with `rel=nofollow` is left out. At most `most` are taken, the rest is counted.
///
/// Anything is a document: what is no HTML has no links.
pub fn links(document: &[u8], content_type: Option<&str>, url: &Url, most: usize) -> Links {
    let encoding = Encoding::for_bom(document).map(|(encoding, _)| encoding);
    let named = || content_type.and_then(of_content_type).or_else(|| html::encoding(document));
    let guessed = || if str::from_utf8(document).is_ok() { UTF_8 } else { WINDOWS_1252 };
    let encoding = encoding.or_else(named).unwrap_or_else(guessed);
    let text = encoding.decode(document).0;
    let read = html::read(&text, Found { base: None, hrefs: Vec::new(), canonical: None, nofollow: false });
    read.resolve(url, most)
}

/// The encoding that a header names.
fn of_content_type(header: &str) -> Option<&'static Encoding> {
    let value = header.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value.trim().trim_matches('"'))
    });
    Encoding::for_label(value?.as_bytes())
}

/// Links as they are written.
struct Found {
    /// What they are relative to: the first `<base>` says it for the whole document.
    base: Option<String>,
    hrefs: Vec<String>,
    canonical: Option<String>,
    nofollow: bool,
}

impl Reader for Found {
    fn characters(&mut self, _: &str) {}

    fn tag(&mut self, tag: &Tag) {
        if tag.kind == TagKind::EndTag {
            return;
        }
        let get = |name: &str| {
            tag.attrs
                .iter()
                .find(|attribute| &*attribute.name.local == name)
                .map(|attribute| &*attribute.value)
        };
        let has = |attribute: &str, word: &str| {
            get(attribute).is_some_and(|words| {
                words.split([' ', ',', '\t', '\n']).any(|one| one.eq_ignore_ascii_case(word))
            })
        };
        let mut href = None;
        match &*tag.name {
            "base" if self.base.is_none() => self.base = get("href").map(str::to_owned),
            "a" | "area" if !has("rel", "nofollow") => href = get("href"),
            "iframe" | "frame" => href = get("src"),
            "link" if has("rel", "canonical") && self.canonical.is_none() => {
                self.canonical = get("href").map(str::to_owned);
            }
            "link" if has("rel", "next") || has("rel", "prev") => href = get("href"),
            "meta" if get("name").is_some_and(|name| name.eq_ignore_ascii_case("robots")) => {
                self.nofollow |= has("content", "nofollow") || has("content", "none");
            }
            _ => (),
        }
        self.hrefs.extend(href.map(str::to_owned));
    }
}

impl Found {
    fn resolve(mut self, url: &Url, most: usize) -> Links {
        let base = self.base.as_deref().and_then(|base| url.join(base).ok()).unwrap_or_else(|| url.clone());
        let resolve = |href: &String| {
            let link = base.join(href.trim()).ok()?;
            link.has_host().then(|| normalise(&link)) // not mailto:, javascript:, data:
        };
        let canonical = self.canonical.as_ref().and_then(resolve);
        let mut seen = HashSet::new();
        let hrefs = mem::take(&mut self.hrefs);
        let mut links: Vec<_> =
            hrefs.iter().filter_map(resolve).filter(|link| seen.insert(link.clone())).collect();
        let left_out = links.len().saturating_sub(most);
        links.truncate(most);
        Links { links, canonical, nofollow: self.nofollow, left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(document: &str) -> Vec<String> {
        let url = Url::parse("http://example.org/dir/page.html?x#y").unwrap();
        links(document.as_bytes(), None, &url, 100).links.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_of_every_kind() {
        let table = [
            ("<a href=a.html>", "http://example.org/dir/a.html"),
            ("<A/HREF=a.html>", "http://example.org/dir/a.html"),
            ("<area href='/a?b=1&amp;c=2#z'>", "http://example.org/a?b=1&c=2"),
            ("<iframe src=//other.org/x>", "http://other.org/x"),
            ("<frame src=../up>", "http://example.org/up"),
            ("<link rel=next href=2>", "http://example.org/dir/2"),
            ("<a href='  /sp\na\tce '>", "http://example.org/space"),
            ("<base href=/b/><base href=/c/><a href=x>", "http://example.org/b/x"),
            ("<a href=x><base href=/b/>", "http://example.org/b/x"),
            ("<a href=?q>", "http://example.org/dir/page.html?q"),
            ("<a href=''>", "http://example.org/dir/page.html?x"),
            ("<a href=http://EXAMPLE.org:80/%7ea>", "http://example.org/~a"),
        ];
        for (document, link) in table {
            assert_eq!(found(document), [link], "{document}");
        }
    }

    #[test]
    fn what_is_no_link() {
        for document in [
            "<a>",
            "<p href=x>",
            "<!-- <a href=x> -->",
            "<script>'<a href=x>'</script>",
            "<style><a href=x></style>",
            "<textarea><a href=x></textarea>",
            "<a href=mailto:a@b>",
            "<a href=javascript:x()>",
            "<a href='data:text/html,x'>",
            "<a rel='me nofollow' href=x>",
            "<link rel=stylesheet href=x>",
            "<a href=http://[::>",
            "</a href=x>",
            "",
        ] {
            assert_eq!(found(document), [""; 0], "{document}");
        }
    }

    #[test]
    fn what_a_page_says_of_itself() {
        let url = Url::parse("http://example.org/a?session=1").unwrap();
        let page = b"<link rel=canonical href=/a><meta name=ROBOTS content='noindex, NoFollow'><a href=b><a href=b><a href=c><a href=d>";
        let links = links(page, None, &url, 2);
        assert_eq!(links.canonical.unwrap().as_str(), "http://example.org/a");
        assert!(links.nofollow);
        assert_eq!((links.links.len(), links.left_out), (2, 1));
    }

    #[test]
    fn a_link_in_any_encoding() {
        let url = Url::parse("http://example.org/").unwrap();
        let page = "<a href='/größe'>";
        let expected = "http://example.org/gr%C3%B6%C3%9Fe";
        let latin = WINDOWS_1252.encode(page).0;
        let wide: Vec<u8> = format!("\u{feff}{page}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        let cases: [(&[u8], Option<&str>); 4] = [
            (page.as_bytes(), None),
            (&latin, None),
            (&latin, Some("text/html; charset=\"ISO-8859-1\"")),
            (&wide, Some("text/html; charset=utf-8")),
        ];
        for (bytes, header) in cases {
            assert_eq!(links(bytes, header, &url, 9).links[0].as_str(), expected, "{header:?}");
        }
    }

    #[test]
    fn any_bytes_are_a_document() {
        let mut random = fastrand::Rng::with_seed(24);
        let url = Url::parse("http://example.org/").unwrap();
        let page = "<base href=x><a href='y&amp;'><meta name=robots content=none><!-- --><script>a</script>é"
            .repeat(20);
        for _ in 0..300 {
            let mut bytes = page.clone().into_bytes();
            for _ in 0..random.usize(1..60) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
            let _ = links(&bytes, None, &url, 50);
        }
    }
}
