//! Lists of pages that a site gives: <https://www.sitemaps.org/protocol.html>.

use super::urls::normalise;
use quick_xml::Reader;
use quick_xml::events::Event;
use url::Url;

/// Addresses that a list may have, as the protocol says.
const MOST: usize = 50_000;

/// What is in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// Pages, in their order.
    pub pages: Vec<Url>,
    /// Other lists.
    pub lists: Vec<Url>,
}

/// Reads a list: XML, or text with an address in each line. Of one that is broken, what comes before that.
pub fn parse(list: &[u8]) -> Sitemap {
    let begin = list.trim_ascii_start();
    let begin = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin);
    if begin.starts_with(b"<") { xml(begin) } else { text(begin) }
}

fn text(list: &[u8]) -> Sitemap {
    let list = String::from_utf8_lossy(list);
    Sitemap { pages: list.lines().filter_map(address).take(MOST).collect(), lists: Vec::new() }
}

fn xml(list: &[u8]) -> Sitemap {
    let mut reader = Reader::from_reader(list);
    let (mut sitemap, mut location, mut is_index) = (Sitemap::default(), None::<String>, false);
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(tag) if tag.local_name().as_ref() == "sitemapindex" => is_index = true,
            Event::Start(tag) if tag.local_name().as_ref() == "loc" => location = Some(String::new()),
            Event::Text(text) => {
                if let Some(location) = &mut location {
                    location.push_str(&text);
                }
            }
            Event::GeneralRef(name) => {
                if let Some(location) = &mut location {
                    let written = format!("&{};", &*name);
                    location.push_str(&quick_xml::escape::unescape(&written).unwrap_or_default());
                }
            }
            Event::End(tag) if tag.local_name().as_ref() == "loc" => {
                let into = if is_index { &mut sitemap.lists } else { &mut sitemap.pages };
                into.extend(location.take().as_deref().and_then(address));
                if into.len() >= MOST {
                    break;
                }
            }
            Event::Eof => break,
            _ => (),
        }
    }
    sitemap
}

fn address(written: &str) -> Option<Url> {
    Url::parse(written.trim()).ok().map(|url| normalise(&url))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &str) -> (Vec<String>, Vec<String>) {
        let Sitemap { pages, lists } = parse(list.as_bytes());
        let written = |urls: Vec<Url>| urls.iter().map(Url::to_string).collect();
        (written(pages), written(lists))
    }

    #[test]
    fn lists_of_every_kind() {
        let (a, b) = ("http://example.org/a?x=1&y=2".to_owned(), "http://example.org/b".to_owned());
        let xml = "<?xml version='1.0'?>\n<s:urlset xmlns:s='x'><s:url><s:loc>\n http://example.org/a?x=1&amp;y=2 </s:loc><lastmod>2026</lastmod></s:url>\
            <url><loc>no address</loc></url><url><loc>http://example.org/&#98;</loc></url></s:urlset>";
        assert_eq!(read(xml), (vec![a, b.clone()], vec![]));
        let index = "<sitemapindex><sitemap><loc>http://example.org/b</loc></sitemap></sitemapindex>";
        assert_eq!(read(index), (vec![], vec![b.clone()]));
        assert_eq!(read("\u{feff}http://example.org/b\r\n\nnothing\n"), (vec![b.clone()], vec![]));
        assert_eq!(
            read("<urlset><url><loc>http://example.org/b</loc></url><url><"),
            (vec![b], vec![]),
            "broken"
        );
        assert_eq!(read(""), (vec![], vec![]));
    }

    #[test]
    fn entities_of_its_own_are_not_read() {
        let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><urlset><loc>http://example.org/&b;</loc></urlset>";
        assert_eq!(read(bomb).0, ["http://example.org/"]);
    }
}
