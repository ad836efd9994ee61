//! Tests how documents are parsed: the pages of `tests/pages`, with a dump of each page in the same
//! directory, and short cases that need no file.
//!
//! `RECORD=1 cargo test --test renderer pages` writes the dumps; without `RECORD`, the test
//! compares them.

use executor::CancelToken;
use renderer::page::{NoPage, PageLimits, Source, TextKind, Viewport};
use renderer::{Element, Page};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use url::Url;

const LIMITS: PageLimits = PageLimits { elements: 20_000, text: 4 << 20, viewport: Viewport::USUAL };

/// If a page has more elements than this, the dump has the beginning and the end of the page, and a digest of
/// all elements.
const MANY: usize = 120;

fn parse(document: impl AsRef<[u8]>) -> Page {
    parse_as(document, Some("text/html")).unwrap()
}

fn parse_as(document: impl AsRef<[u8]>, content_type: Option<&str>) -> Result<Page, NoPage> {
    Page::parse(document.as_ref(), content_type, &Url::parse("http://h.example/dir/page").unwrap(), LIMITS)
}

/// Returns the text of each block.
fn texts<'p>(page: &'p Page) -> Vec<&'p str> {
    let block = |element: &'p Element| match element {
        Element::Text(block) => Some(&*block.text),
        Element::Image(_) => None,
    };
    page.elements.iter().filter_map(block).collect()
}

#[test]
fn pages_are_taken_apart_as_recorded() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let mut seen = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "html") {
            continue;
        }
        seen += 1;
        let found = dump(&parse(fs::read(&path).unwrap()));
        let beside = path.with_extension("txt");
        if std::env::var_os("RECORD").is_some() {
            fs::write(beside, found).unwrap();
        } else {
            let recorded = fs::read_to_string(&beside).unwrap_or_default().replace("\r\n", "\n");
            assert_eq!(found, recorded, "{}: if it is right, run with RECORD=1", path.display());
        }
    }
    assert!(seen >= 40, "{seen} pages");
}

/// Returns one line for each element.
fn dump(page: &Page) -> String {
    let lines: Vec<_> = page.elements.iter().enumerate().map(line).collect();
    let mut dump = format!("title: {:?}\n", page.title);
    let images = page.images().count();
    writeln!(dump, "{} elements, {images} images, {} left out", lines.len(), page.left_out).unwrap();
    if lines.len() <= MANY {
        return lines.iter().fold(dump, |dump, line| dump + line + "\n");
    }
    let digest = lines.concat().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3) // FNV-1a
    });
    let (begin, end) = (lines[..30].join("\n"), lines[lines.len() - 5..].join("\n"));
    writeln!(dump, "digest: {digest:016x}\n{begin}\n...\n{end}").unwrap();
    dump
}

fn line((place, element): (usize, &Element)) -> String {
    match element {
        Element::Text(block) => {
            let mut line = format!("{place} ");
            match &block.kind {
                TextKind::Item { depth, marker } => write!(line, "item {depth} {marker:?}").unwrap(),
                kind => write!(line, "{}", format!("{kind:?}").to_lowercase()).unwrap(),
            }
            if block.right_to_left {
                line.push_str(" rtl");
            }
            write!(line, " {:?}", block.text).unwrap();
            for (range, style) in &block.spans {
                write!(line, " {style:?}[{}]", &block.text[range.clone()]).unwrap();
            }
            for (at, place) in &block.images {
                write!(
                    line,
                    " image {place} before {:?}",
                    block.text[*at..].chars().take(4).collect::<String>()
                )
                .unwrap();
            }
            line
        }
        Element::Image(image) => {
            let mut line = format!("{place} image ");
            match &image.source {
                Ok(Source::Url(url)) => write!(line, "{url}").unwrap(),
                Ok(Source::Data(bytes)) => write!(line, "{} bytes of data", bytes.len()).unwrap(),
                Err(gap) => write!(line, "none: {gap}").unwrap(),
            }
            write!(line, " {:?} {:?} x {:?}", image.alt, image.width, image.height).unwrap();
            if image.is_advertisement {
                line.push_str(" advertisement");
            }
            line
        }
    }
}

#[test]
fn the_server_says_which_charset_it_is() {
    let page = parse_as(b"<meta charset=utf-8><p>\xf7\xc5\xd3\xce\xc1", Some("text/html; charset=KOI8-R"));
    assert_eq!(texts(&page.unwrap()), ["Весна"]);
    let page = parse_as("\u{feff}<p>Größe", Some("text/html; charset=koi8-r"));
    assert_eq!(texts(&page.unwrap()), ["Größe"], "a byte order mark has the last word");
    let page = parse_as("<p>Größe", Some("text/html; charset=no-such-thing"));
    assert_eq!(texts(&page.unwrap()), ["Größe"]);
}

#[test]
fn what_is_no_page_is_said_in_words() {
    for (document, content_type, sentence) in [
        (&b""[..], Some("text/html"), "there is nothing in it"),
        (b"x", Some("image/png"), "it is \"image/png\" and no page"),
        (b"x", Some("application/octet-stream"), "it is \"application/octet-stream\" and no page"),
        (b"\x89PNG\r\n\x1a\n", Some("text/html"), "it is a PNG image and no page"),
        (b"\xff\xd8\xff\xe0", None, "it is a JPEG image and no page"),
        (b"GIF89a", None, "it is a GIF image and no page"),
        (b"%PDF-1.7", None, "it is a PDF document and no page"),
        (b"PK\x03\x04", None, "it is an archive and no page"),
        (b"\x7fELF\x02", None, "it is a program and no page"),
        (b"<p>\0\0\0", None, "it is no text"),
    ] {
        assert_eq!(parse_as(document, content_type).unwrap_err().to_string(), sentence);
    }
    assert_eq!(texts(&parse_as("<p>x", Some("application/xhtml+xml")).unwrap()), ["x"]);
    assert_eq!(parse(" \n").elements.len(), 0, "blanks are a page without anything on it");
}

/// If neither the server nor the name gives the type of a document, the first tag decides.
#[test]
fn what_begins_with_no_tag_of_html_is_plain_text() {
    let texts_of = |name: &str, document: &str| {
        let base = Url::parse("file:///srv/").unwrap().join(name).unwrap();
        let page = Page::parse(document.as_bytes(), None, &base, LIMITS).unwrap();
        texts(&page).join("|")
    };
    let text = "Read me\n=======\n  <p> is a tag\n";
    assert_eq!(texts_of("README", text), text.trim_end());
    assert_eq!(texts_of("README.html", text), "Read me =======|is a tag");
    for html in
        ["\u{feff} \n<!DOCTYPE html>x", "<html lang=de>x", "<!--y-->x", "<?xml version='1.0'?><p>x", "<P\n>x"]
    {
        assert_eq!(texts_of("page", html), "x", "{html}");
        assert!(texts_of("page.txt", html).contains('<'), "{html}");
    }
    let utf_16: Vec<u8> = "\u{feff}<html>x".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(texts(&parse_as(utf_16, None).unwrap()), ["x"]);
    for plain in ["<pkg@example.org>", "<abc>x", "a <p>x", "<", "<p"] {
        assert_eq!(texts_of("page", plain), plain);
    }
}

#[test]
fn plain_text_is_preformatted() {
    let page = parse_as("a  <b>\r\n\tb\r\n\r\nc &amp;\n", Some("text/plain")).unwrap();
    assert_eq!(texts(&page), ["a  <b>\n    b", "c &amp;"]);
}

/// The renderer hides the same content as browsers.
#[test]
fn what_attributes_hide_is_left_out() {
    for (html, words) in [
        ("<p style='color: red; DISPLAY : None !important'>x<p style='display:block'>y", "y"),
        ("<p style='display:none;display:block'>x<p style='content:\"display\"'>y", "x|y"),
        ("<dialog>x</dialog><dialog open>y</dialog>", "y"),
        (
            "<details><summary>a<b>b</b></summary>x<details open><summary>y</summary></details>z</details>w",
            "ab|w",
        ),
        ("<details open><summary>a</summary>x</details>w", "a|x|w"),
        ("<details hidden><summary>a</summary>x</details>w", "w"),
        (
            "v<details><ul><li><details><summary>a</summary></details></ul><summary>b</summary>x</details>w",
            "v|b|w",
        ),
        ("<details>x<p>y</details>w<details><summary>a</details>b", "w|a|b"),
        ("<img hidden src=a><img style=display:none src=b><image hidden src=c><br hidden>y", "y"),
        ("<html hidden><body style=display:none>y", "y"),
        ("<base hidden href=http://x.example/><img src=a alt=y>", "http://x.example/a"),
    ] {
        let page = parse(html);
        let images = page.images().filter_map(|image| match &image.source {
            Ok(Source::Url(url)) => Some(url.as_str()),
            _ => None,
        });
        let all: Vec<_> = texts(&page).into_iter().chain(images).collect();
        assert_eq!(all.join("|"), words, "{html}");
    }
}

#[test]
fn words_of_controls_are_apart_and_a_word_has_chances_to_break() {
    for (html, words) in [
        ("<button>Save</button><button>Close</button>", "Save Close"),
        ("<label>Name<input></label><label>Town</label>", "Name Town"),
        ("Press (<button>OK</button>), or <button>No</button>.", "Press (OK), or No."),
        ("a<select><option>x</select>b<br><button>c</button>d", "a b\nc d"),
        ("<wbr>long<wbr>name <wbr>of", "long\u{200b}name of"),
        ("a&nbsp;<button>b</button>&nbsp;c", "a\u{a0}b\u{a0}c"),
        ("<pre>a<button>b</button></pre>", "ab"),
    ] {
        assert_eq!(texts(&parse(html)), [words], "{html}");
    }
}

#[test]
fn files_are_shown_by_files_only() {
    let document = b"<img src='file:///etc/hostname'><img src=a.png>";
    let sources = |base: &str| {
        let page = Page::parse(document, None, &Url::parse(base).unwrap(), LIMITS).unwrap();
        page.images().map(|image| image.source.is_ok()).collect::<Vec<_>>()
    };
    assert_eq!(sources("file:///srv/page.html"), [true, true]);
    assert_eq!(sources("http://h.example/page.html"), [false, true]);
    let page = parse("<base href='file:///etc/'><img src=hostname>");
    assert!(page.images().all(|image| image.source.is_err()));
}

#[test]
fn another_screen_is_given_other_files() {
    let document = b"<img src=a srcset='b 2x'><img srcset='c 300w, d 800w, e 900w'>\
        <picture><source media='(max-width: 500px)' srcset=f><img src=g></picture>";
    let files = |width, scale| {
        let limits = PageLimits { viewport: Viewport { width, scale }, ..LIMITS };
        let page =
            Page::parse(document, Some("text/html"), &Url::parse("http://h.example/").unwrap(), limits)
                .expect("a page");
        let file = |image: &std::sync::Arc<renderer::ImageRef>| match &image.source {
            Ok(Source::Url(url)) => url.path().rsplit('/').next().unwrap_or_default().to_owned(),
            other => panic!("{other:?}"),
        };
        page.images().map(file).collect::<String>()
    };
    assert_eq!(["aeg", "adf", "bdf"], [files(960, 1.0), files(400, 1.0), files(400, 2.0)]);
}

#[test]
fn what_is_beyond_the_limits_is_counted() {
    let limits = PageLimits { elements: 3, text: 10, viewport: Viewport::USUAL };
    let base = Url::parse("http://h.example/").unwrap();
    let parse = |html: &str| Page::parse(html.as_bytes(), None, &base, limits).unwrap();
    let page = parse("<p>a<img src=b><p>c<p>d<img src=e>");
    assert_eq!((page.elements.len(), page.left_out), (3, 2));
    let page = parse("<p>1234567<p>1234567<p>123");
    assert_eq!((texts(&page), page.left_out), (vec!["1234567", "123"], 1));
}

/// Each document repeats a single construct for hundreds of kilobytes, and is parsed three times.
#[test]
fn large_documents_are_no_trouble() {
    for (name, once, times) in [
        ("directions", "<table dir=rtl><td dir=rtl><p dir=rtl>", 10_000),
        ("tags that nest", "<div><b><ul><li><blockquote dir=rtl>", 6_000),
        ("end tags", "</b></p></ul></q>", 10_000),
        ("line breaks", "a<br>", 30_000),
        ("cells", "<td>", 30_000),
        ("listing", "<pre>x", 20_000),
        ("one word", "abcdefgh", 30_000),
        ("images", "<img src=a>", 10_000),
        ("styles", "<b>x</b>", 20_000),
        ("reversed lists", "<ol reversed><li>x", 5_000),
        ("hidden", "<p hidden>x", 10_000),
    ] {
        let began = Instant::now();
        for begin in ["x", "<pre>", "<title>"] {
            let page = parse(format!("{begin}{}", once.repeat(times)));
            assert!(page.elements.len() <= LIMITS.elements);
        }
        let took = began.elapsed();
        assert!(took < Duration::from_secs(20), "{name}: {took:?}");
    }
}

/// Returns the words of each block; the words are in capitals if the block reads from right to left.
fn directions(document: &str) -> String {
    let block = |element: &Element| match element {
        Element::Text(block) if block.right_to_left => block.text.to_uppercase(),
        Element::Text(block) => block.text.clone(),
        Element::Image(_) => String::new(),
    };
    parse(document).elements.iter().map(block).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_direction_ends_with_its_element() {
    for (document, expected) in [
        ("<p dir=rtl>a<p>b<p>c", "A b c"),
        ("<p dir=rtl>a<div>b</div>c", "A b c"),
        ("<div><p dir=RTL>a</div>b", "A b"),
        ("<p dir=rtl>a<b>b</b><br>c</p>d", "AB\nC d"),
        ("<ul><li dir=rtl>a<li>b<li dir=rtl>c</ul>d", "A b C d"),
        ("<ul dir=rtl><li>a<ul><li>b</ul><li>c</ul>d", "A B C d"),
        ("<ul><li dir=rtl>a<ol><li>b<li>c</ol>d<li>e</ul>", "A B C D e"),
        ("<dl><dt dir=rtl>a<dd>b<dd dir=rtl>c</dl>d", "A b C d"),
        ("<table><tr dir=rtl><td>a<tr><td>b</table>c", "A b c"),
        ("<table><tbody dir=rtl><tr><td>a<tbody><tr><td>b</table>c", "A b c"),
        ("<table><tr><td><p dir=rtl>a<td>b</table>c", "A b c"),
        ("<div dir=rtl>a<div>b</div>c<div dir=ltr>d</div>e</div>f", "A B C d E f"),
        ("<div dir=rtl>a<div hidden>x</div>b<p hidden>y</div>c", "AB c"),
        ("<div dir=rtl>a<svg><div></svg>b</div>c", "AB c"),
    ] {
        assert_eq!(directions(document), expected, "{document}");
    }
}

#[test]
fn an_element_is_closed_in_its_own_tag_in_xhtml_only() {
    let document = "a<script/>b<div hidden=''/>c<br/>d<i/>e";
    let xhtml = parse_as(document, Some("application/xhtml+xml; charset=utf-8")).unwrap();
    assert_eq!(texts(&xhtml), ["abc\nde"]);
    assert_eq!(texts(&parse(document)), ["a"]);
    assert_eq!(texts(&parse("<svg/>a<svg><path/><title/></svg>b")), ["ab"]);
}

#[test]
fn a_long_value_is_read_to_its_end() {
    let picture = "data:image/png;base64,".to_owned() + &"////".repeat(100_000);
    let page = parse(format!("<img src='{picture}'>"));
    let sources: Vec<_> = page.images().map(|image| image.source.clone()).collect();
    assert!(matches!(&sources[..], [Ok(Source::Data(bytes))] if bytes.len() == 300_000));
}

#[test]
fn a_cancel_ends_the_reading_of_a_page() {
    let token = CancelToken::new();
    token.cancel();
    for content_type in ["text/html", "text/plain"] {
        let said = token.attach(|| parse_as("<p title='", Some(content_type))).unwrap_err().to_string();
        assert!(said.starts_with("it was not read to its end: "), "{said}");
    }
}
