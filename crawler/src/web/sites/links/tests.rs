use super::*;
use std::time::{Duration, Instant};

const MANY: usize = 1_000_000;

fn own() -> Url {
    Url::parse("http://example.org/dir/page?q").expect("a URL")
}

fn of(document: &[u8], content_type: Option<&str>) -> Links {
    of_most(document, content_type, MANY)
}

fn of_most(document: &[u8], content_type: Option<&str>, limit: usize) -> Links {
    links(document, content_type, &own(), limit, &CancelToken::new()).expect("the token is not cancelled")
}

fn texts(links: &Links) -> Vec<&str> {
    links.links.iter().map(Url::as_str).collect()
}

/// In XHTML, an element that is closed in its own tag has no content. In HTML, `/>` at the end of a script
/// tag does not close the script.
#[test]
fn a_script_is_closed_in_its_own_tag_in_xhtml_only() {
    let document = b"<script src='x'/><a href='a'>";
    assert_eq!(
        texts(&of(document, Some("application/xhtml+xml; charset=utf-8"))),
        ["http://example.org/dir/a"]
    );
    assert!(of(document, Some("text/html")).links.is_empty());
}

/// Documents, each with the targets of its links; targets on `http://example.org/` are written without that
/// prefix.
const DOCUMENTS: &[(&str, &[&str])] = &[
    ("", &[]),
    ("<a href=a>x</a><A HREF='/b'>y<a/href=\"c\"><area href=?d>", &["dir/a", "b", "dir/c", "dir/page?d"]),
    ("<a href=//other.net/a><a href=https://example.org/>", &["http://other.net/a", "https://example.org/"]),
    (
        "<link rel=next href=2><link rel='x PREV' href=0><link rel=stylesheet href=s><link href=t>",
        &["dir/2", "dir/0"],
    ),
    ("<iframe src=a></iframe><frame src=b><iframe src=' '></iframe><iframe></iframe>", &["dir/a", "dir/b"]),
    ("<img src=a><form action=b><script src=c></script><a name=d><a src=e><iframe href=f>", &[]),
    (
        "<meta http-equiv=Refresh content='5; URL=a'><meta http-equiv=refresh content=\"0;url = 'b' \"><meta http-equiv=refresh content='0, c'><meta http-equiv=refresh content=' .5 urls?d'>",
        &["dir/a", "dir/b", "dir/c", "dir/urls?d"],
    ),
    (
        "<meta http-equiv=refresh content=5><meta http-equiv=refresh content='5;'><meta http-equiv=refresh content='a;b'><meta http-equiv=refresh content='5s;a'><meta name=refresh content='0;url=a'>",
        &[],
    ),
    // each link once, in order
    ("<a href=b><a href=a><a href=./b><a href=b#c><a href=%62><a href=../dir/b?>", &["dir/b", "dir/a"]),
    ("<a href=><a href=#top>", &["dir/page?q"]),
    ("<a href=a href=b>", &["dir/a"]),
    // the base
    ("<a href=a><base href=/x/><a href=b><base href=/y/><a href=/c>", &["x/a", "x/b", "c"]),
    ("<base target=_top><base href=x/><a href=a>", &["dir/x/a"]),
    ("<base href=http://other.net/x><a href=a><a href=>", &["http://other.net/a", "http://other.net/x"]),
    ("<base href='http://['><base href=/y/><a href=a>", &["dir/a"]),
    ("<base href='data:text/html,a'><a href=a>", &["dir/a"]),
    ("<base href=mailto:a><a href=a>", &["dir/a"]),
    ("<base href=ftp://f/x/><a href=a>", &["ftp://f/x/a"]),
    // links that must not be followed
    (
        "<a rel=nofollow href=a><a rel='ugc NoFollow\n' href=b><a rel=nofollows href=c><link rel='next nofollow' href=d>",
        &["dir/c"],
    ),
    ("<a rel=nofollow href=a><a href=a>", &["dir/a"]),
    // no markup
    (
        "<script>'<a href=a>'</script><style><a href=b></style><!-- <a href=c> --><textarea><a href=d></textarea>",
        &[],
    ),
    (
        "<title><a href=a></title><xmp><a href=b></xmp><noembed><a href=c></noembed><iframe><a href=d></iframe>",
        &[],
    ),
    ("<![CDATA[<a href=a>]]><?x <a href=b>?><a href=c>", &["dir/c"]),
    ("<script><!--<script></script><a href=a>--></script><a href=b>", &["dir/b"]),
    ("<noscript><a href=a></noscript><svg><a href=b></svg>", &["dir/a", "dir/b"]),
    (
        "<template><base href=/x/><a href=a><template></template><a href=b></template><a href=c></template>",
        &["dir/c"],
    ),
    ("<a href=a><plaintext><a href=b></plaintext><a href=c>", &["dir/a"]),
    ("<a href=a><script><a href=b>", &["dir/a"]),
    ("<a href=a", &[]),
    ("<a href='a><a href=b>", &[]),
    // ways to write a link
    ("<a href='?a=1&amp;b=2&#38;c=3&copy=4&lt'>", &["dir/page?a=1&b=2&c=3&copy=4%3C"]),
    ("<a href=' \n\t/a\n /b\tc \r\n'>", &["a%20/bc"]),
    ("<a href='ht\ntp://other.net/'><a href='\x01 /x \x02'>", &["http://other.net/", "x"]),
    ("<a href=\\a\\b><a href='http:\\\\other.net\\c'>", &["a/b", "http://other.net/c"]),
    ("<a href=/é?é><a href='/a b'>", &["%C3%A9?%C3%A9", "a%20b"]),
    ("<a href=http://me:secret@EXAMPLE.org:80/%7ea/../b/#c>", &["b/"]),
    // schemes
    (
        "<a href=javascript:a()><a href=mailto:a@b><a href=data:,a><a href=tel:1><a href='java\nscript:b'>",
        &[],
    ),
    (
        "<a href=' JavaScript:a()'><a href='javascript://x/%0aa()'><a href='\x01javascript://x/a()'><a href='x-own:a'>",
        &[],
    ),
    ("<a href=file:///etc/passwd><a href=ftp://a/b>", &["file:///etc/passwd", "ftp://a/b"]),
    ("<a href='http://['><a href=http://><a href='http://a b/'><a href=http:a>", &["dir/a"]),
];

#[test]
fn links_are_found_where_browsers_find_them() {
    for (document, expected) in DOCUMENTS {
        let expected = expected.iter().map(|text| {
            let begin = if text.contains("://") { "" } else { "http://example.org/" };
            format!("{begin}{text}")
        });
        let found = of(document.as_bytes(), None);
        assert_eq!(texts(&found), expected.collect::<Vec<_>>(), "{document}");
        assert_eq!((found.left_out, found.nofollow, &found.canonical), (0, false, &None), "{document}");
    }
}

#[test]
fn a_document_may_ask_that_no_link_is_followed() {
    for (meta, nofollow) in [
        ("<meta name=robots content=nofollow>", true),
        ("<META NAME=' Robots ' CONTENT='noindex, NoFollow'>", true),
        ("<meta content='noindex,nofollow' name=robots>", true),
        ("<meta name=robots content=index><meta name=robots content=none>", true),
        ("<meta name=robots content='nofollowed, noindex'>", false),
        ("<meta name=robots>", false),
        ("<meta name=other content=nofollow>", false),
        ("<!-- <meta name=robots content=nofollow> -->", false),
        ("<template><meta name=robots content=nofollow></template>", false),
    ] {
        let found = of(format!("<a href=a>{meta}<link rel=canonical href=/c><a href=b>").as_bytes(), None);
        assert_eq!((found.nofollow, found.links.is_empty()), (nofollow, nofollow), "{meta}");
        assert_eq!(found.canonical.as_ref().map(Url::as_str), Some("http://example.org/c"), "{meta}");
    }
}

#[test]
fn a_document_may_have_another_name() {
    for (document, canonical) in [
        ("<link rel=canonical href=/a#b>", Some("http://example.org/a")),
        ("<link rel='x Canonical' href=a><base href=http://other.net/>", Some("http://other.net/a")),
        ("<link rel=canonical><link rel=canonical href=/b>", Some("http://example.org/b")),
        (
            "<link rel=canonical href='http://['><link rel=canonical href=/b><link rel=canonical href=/c>",
            Some("http://example.org/b"),
        ),
        ("<link rel=canonical href=mailto:a>", None),
        ("<link rel=canonical href=file:///a>", None),
        ("<a rel=canonical href=/a>", None),
        ("<link rel=next href=/a>", None),
    ] {
        let found = of(document.as_bytes(), None);
        assert_eq!(found.canonical.as_ref().map(Url::as_str), canonical, "{document}");
        assert!(found.links.iter().all(|url| Some(url.as_str()) != canonical), "{document}");
    }
}

#[test]
fn a_document_is_read_in_its_encoding() {
    let koi8 = "text/html; charset=koi8-r";
    let utf_16: Vec<u8> = "\u{feff}<a href=/é>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (document, content_type, link) in [
        (&b"<a href=/\xc6>"[..], Some(koi8), "%D1%84"),
        (b"<meta charset=koi8-r><a href=/\xc6>", None, "%D1%84"),
        (b"<a href=/\xe9>.", None, "%C3%A9"),
        (b"<a href=/\xc3\xa9>\xc3", None, "%C3%A9"),
        (b"\xef\xbb\xbf<a href=/\xc3\xa9>", Some(koi8), "%C3%A9"),
        (&utf_16, None, "%C3%A9"),
        // The query is in the document's encoding, but the path is not.
        (b"<a href=/\xc6?\xc6>", Some(koi8), "%D1%84?%C6"),
        (b"<a href=/?%E9\xe9>", Some("text/html; charset=latin1"), "?%E9%E9"),
        (&utf_16, Some(koi8), "%C3%A9"),
    ] {
        assert_eq!(
            texts(&of(document, content_type)),
            [format!("http://example.org/{link}")],
            "{document:?}"
        );
    }
}

#[test]
fn what_is_too_much_is_counted() {
    let document = b"<a href=1><a href=2><a href=1><a href=javascript:a><a href=3><a href=4>";
    let found = of_most(document, None, 2);
    assert_eq!(texts(&found), ["http://example.org/dir/1", "http://example.org/dir/2"]);
    assert_eq!(found.left_out, 2);
    assert_eq!(of_most(document, None, 0).left_out, 5); // the first link counts twice
    assert_eq!(of_most(document, None, 4).left_out, 0);

    let begin = "http://example.org/dir/".len();
    let fitting = format!("<a href={}>", "a".repeat(LONGEST - begin));
    let too_long = format!("<a href={}>", "a".repeat(LONGEST - begin + 1));
    let megabyte = format!("<a href='http://{}/'>", "é".repeat(500_000));
    let found = of([&*fitting, &*too_long, &*megabyte, "<a href=b>"].concat().as_bytes(), None);
    assert_eq!((found.links.len(), found.links[1].path(), found.left_out), (2, "/dir/b", 2));
}

#[test]
fn a_long_tag_is_read_to_its_end() {
    let long = "&amp".repeat(LONGEST / 2); // four times as long as the longest URL, until it is decoded
    let attributes = " a='b c' d".repeat(LONGEST / 4);
    for (document, paths, left_out) in [
        (format!("<a href='?{}'><a href=b>", &long[..LONGEST]), vec!["/dir/page", "/dir/b"], 0),
        (format!("<a href='?{long}x'><a href=b>"), vec!["/dir/page", "/dir/b"], 0),
        (format!("<a href='?{long}{long}x'><a href=b>"), vec!["/dir/b"], 1),
        (format!("<a href=a{attributes}><a href=b>"), vec!["/dir/a", "/dir/b"], 0),
        (format!("<a{attributes} href=a><a href=b>"), vec!["/dir/b"], 0),
        (format!("<base href='/?{long}{long}'><a href=b>"), vec![], 1),
        (format!("<link rel=canonical href='/?{long}{long}'><a href=b>"), vec!["/dir/b"], 0),
    ] {
        let found = of(document.as_bytes(), None);
        assert_eq!(found.links.iter().map(Url::path).collect::<Vec<_>>(), paths, "{document:.30}");
        assert_eq!((found.left_out, &found.canonical), (left_out, &None), "{document:.30}");
    }
}

#[test]
fn a_long_base_does_not_multiply() {
    let hrefs = (0..50_000).map(|n| format!("<a href={n}>")).collect::<Vec<_>>().concat();
    let base = |length: usize| format!("<base href=http://a/{}/>", "b".repeat(length - "http://a//".len()));
    let found = of((base(LONGEST + 1) + &hrefs).as_bytes(), None);
    assert_eq!((found.links.len(), found.left_out), (0, 50_000));
    let begin = Instant::now();
    let found = of_most((base(LONGEST - 2) + &hrefs).as_bytes(), None, 1000);
    assert_eq!((found.links.len(), found.left_out), (100, 49_900));
    assert!(begin.elapsed() < Duration::from_secs(10), "it took {:?}", begin.elapsed());
}

#[test]
fn hostile_documents_are_read_in_time() {
    for (what, document, count) in [
        ("links", "<a href=a".repeat(200_000), 0),
        ("entities", format!("<a href=1><a href='{}'><a href=2>", "&amp".repeat(300_000)), 2),
        ("templates", format!("<a href=1>{}<a href=2>", "<template>".repeat(100_000)), 1),
        ("parts", format!("{}<a href=1>", "<b id='#'>".repeat(100_000)), 1),
        ("canonicals", format!("{}<a href=1>", "<link rel=canonical href='http://['>".repeat(30_000)), 1),
    ] {
        let begin = Instant::now();
        assert_eq!(of(document.as_bytes(), None).links.len(), count, "{what}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}: {:?}", begin.elapsed());
    }
    let token = CancelToken::new();
    token.cancel();
    assert!(links(b"<a href=1", None, &own(), MANY, &token).is_err());
}

/// Tags that change how the rest of the document is parsed.
const BITS: [&str; 14] = [
    "<a href=",
    "<base href=",
    "'",
    "\"",
    ">",
    "<!--",
    "-->",
    "<script>",
    "</script>",
    "&#x",
    "\0",
    "<template>",
    ":",
    "\u{feff}",
];

#[test]
fn no_bytes_are_an_error() {
    let mut random = fastrand::Rng::with_seed(5);
    let all: String = DOCUMENTS.iter().map(|(document, _)| *document).collect();
    for round in 0..1_500 {
        let from = random.usize(..all.len());
        let mut document = all.as_bytes()[from..(from + random.usize(..1_000)).min(all.len())].to_vec();
        for _ in 0..random.usize(..30) {
            let at = random.usize(..=document.len());
            if random.bool() && at < document.len() {
                document[at] = random.u8(..);
            } else {
                document.splice(at..at, random.choice(BITS).expect("some").bytes());
            }
        }
        let content_type = random
            .choice([None, Some("text/html; charset=utf-16le"), Some("a;charset=gb18030")])
            .expect("some");
        let (limit, mut seen) = (random.usize(..20), HashSet::new());
        let found = of_most(&document, content_type, limit);
        assert!(found.links.len() <= limit, "round {round}");
        for url in &found.links {
            assert_eq!(&normalise(url.clone()), url, "round {round}");
            assert!(seen.insert(url), "round {round}: {url} twice");
        }
    }
}
