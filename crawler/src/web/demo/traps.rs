//! The parts of the site that can mislead a crawler.

use super::answer::{Answer, Reply};
use encoding_rs::{Encoding, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::OnceLock;
use std::time::Duration;

/// Pages that a complete crawl keeps.
pub(super) const KEPT: [&str; 15] = [
    "/traps.html",
    "/original.html",
    "/moved-here.html",
    "/slow.html",
    "/healing.html",
    "/gzip.html",
    "/chunked.html",
    "/only-in-sitemap.html",
    "/base.html",
    "/deep/below.html",
    "/meta-nofollow.html",
    "/charset/latin-1.html",
    "/charset/cyrillic.html",
    "/charset/japanese.html",
    "/charset/utf-16.html",
];

/// Addresses that a crawler must not request, whatever page links to them. An entry that ends in `/` stands
/// for all paths below it.
pub(super) const FORBIDDEN: [&str; 3] = ["/private/", "/nofollow-only.html", "/behind-meta.html"];

/// Addresses that a crawler may keep but need not keep: there are endlessly many of them, or a body has no
/// end, or either choice is reasonable.
pub(super) const LOOSE: [&str; 7] =
    ["/calendar/", "/session/", "/files/", "/bomb.html", "/endless.html", "/copy.html", "/too-long.html"];

/// Paths that lead to no usable page: broken links, redirects and answers that break off.
const NOWHERE: [&str; 9] = [
    "/gone.html",
    "/moved.html",
    "/loop-a.html",
    "/to-private.html",
    "/to-file.html",
    "/reset.html",
    "/too-short.html",
    "/broken-chunks.html",
    "/endless-head.html",
];

/// The page that is unavailable at first, and the number of its failures.
pub(super) const HEALS: &str = "/healing.html";
pub(super) const HEALS_AFTER: usize = 2;

/// The time that the server takes to answer with the slow page.
pub(super) const SLOW: Duration = Duration::from_millis(300);

/// The size of the bomb after decompression, in MiB.
const BOMB: usize = 256;

/// Returns the answer at a path with traps, or `None` if there is no such page. `times` is the number of
/// earlier requests for the page that is unavailable at first.
pub(super) fn answer(target: &str, times: usize, origin: &str, takes_gzip: bool) -> Option<Answer> {
    let (path, _) = target.split_once('?').unwrap_or((target, ""));
    if let Some(reply) = nowhere(path, times).or_else(|| encoded(path)) {
        return Some(Answer::Whole(reply));
    }
    let page = page(path, target, origin);
    Some(match path {
        "/gzip.html" if takes_gzip => Answer::Whole(gzipped(gzip(page?.as_bytes()))),
        "/bomb.html" if takes_gzip => Answer::Whole(gzipped(bomb().to_vec())),
        "/chunked.html" => Answer::Chunked(Reply::html(page?)),
        "/broken-chunks.html" => {
            Answer::Broken { bytes: Reply::html("half").chunked(true, true), resets: false }
        }
        "/reset.html" => Answer::Broken { bytes: Vec::new(), resets: true },
        "/too-short.html" => Reply::html("<p>This is not all.").promising(500),
        "/too-long.html" => Reply::html("<p>This is enough. And this is more.").promising(18),
        "/endless.html" => {
            let first = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>".to_vec();
            Answer::Endless { first, again: b"and on and on and ".repeat(1000) }
        }
        "/endless-head.html" => {
            Answer::Endless { first: b"HTTP/1.1 200 OK\r\nX-More:".to_vec(), again: b" and on".repeat(1000) }
        }
        _ => Answer::Whole(Reply::html(page?)),
    })
}

/// Returns redirects, errors, and answers that are not pages.
fn nowhere(path: &str, times: usize) -> Option<Reply> {
    Some(match path {
        "/moved.html" => Reply::redirect(301, "moved-here.html"),
        "/loop-a.html" => Reply::redirect(302, "/loop-b.html"),
        "/loop-b.html" => Reply::redirect(302, "/loop-a.html"),
        "/to-private.html" => Reply::redirect(302, "http://127.0.0.2:9/secret.html"),
        "/to-file.html" => Reply::redirect(302, "file:///etc/passwd"),
        HEALS if times < HEALS_AFTER => Reply::error(503).field("Retry-After", "1"),
        "/files/notes.txt" => Reply::new(200, "text/plain; charset=utf-8", "notes <a href=\"/private/a\">\n"),
        "/files/data.json" => Reply::new(200, "application/json", "{\"a\": \"<a href='/private/b'>\"}\n"),
        "/files/picture.png" => Reply::new(200, "image/png", *b"\x89PNG\r\n\x1a\n<a href=/private/c>"),
        _ => return None,
    })
}

/// Returns pages whose bytes are not UTF-8.
fn encoded(path: &str) -> Option<Reply> {
    let page = |words: &str, meta: &str| format!("<!doctype html>{meta}<title>{words}</title><p>{words}\n");
    let bytes = |encoding: &'static Encoding, text: &str| encoding.encode(text).0.into_owned();
    Some(match path {
        "/charset/latin-1.html" => {
            let bytes = bytes(WINDOWS_1252, &page("Crème brûlée à la carte", ""));
            Reply::new(200, "text/html; charset=ISO-8859-1", bytes)
        }
        "/charset/cyrillic.html" => {
            let meta = "<meta charset=windows-1251>";
            Reply::new(200, "text/html", bytes(WINDOWS_1251, &page("Паук и паутина", meta)))
        }
        "/charset/japanese.html" => {
            let meta = "<meta http-equiv=content-type content='text/html; charset=Shift_JIS'>";
            Reply::new(200, "text/html", bytes(SHIFT_JIS, &page("蜘蛛の巣", meta)))
        }
        "/charset/utf-16.html" => {
            let text = format!("\u{feff}{}", page("Grüße", ""));
            Reply::new(200, "text/html", text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>())
        }
        _ => return None,
    })
}

/// Returns pages with text and links.
fn page(path: &str, target: &str, origin: &str) -> Option<String> {
    let (title, rest) = match path {
        "/traps.html" => ("Traps", list()),
        "/copy.html" => ("A copy", format!("<link rel=\"canonical\" href=\"{origin}/original.html\">")),
        "/original.html" => ("The original", "<link rel=canonical href=\"\">".to_owned()),
        "/moved-here.html" => ("Moved here", "<a href=\"/moved-here.html\">here</a>".to_owned()),
        "/slow.html" => ("Slow", String::new()),
        "/healing.html" => ("Healed", String::new()),
        "/gzip.html" => ("Compressed", String::new()),
        "/bomb.html" => ("No bomb without gzip", String::new()),
        "/chunked.html" => ("In chunks", String::new()),
        "/only-in-sitemap.html" => ("Only the sitemap knows this page", String::new()),
        "/base.html" => ("Base", "<base href=\"/deep/\"><a href=\"below.html\">below</a>".to_owned()),
        "/deep/below.html" => ("Below", String::new()),
        "/meta-nofollow.html" => {
            let meta = "<meta name=\"robots\" content=\"nofollow\"><a href=\"/behind-meta.html\">no</a>";
            ("Do not follow", meta.to_owned())
        }
        // The forbidden pages exist, because otherwise a test would not notice that a crawler requested one
        // of them.
        "/nofollow-only.html" | "/behind-meta.html" => ("Forbidden", String::new()),
        _ if path.starts_with("/private/") => {
            ("Private", "<a href=\"/private/more.html\">more</a>".to_owned())
        }
        _ if path.starts_with("/session/") => ("Session", session(target)),
        _ => ("Calendar", calendar(path)?),
    };
    Some(format!("<!doctype html>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<p>{title}\n{rest}\n"))
}

/// Returns links to all pages with traps.
fn list() -> String {
    let mut list = String::from("<ul>\n");
    let more = [
        "/calendar/2026/11/",
        "/session/index.html?sid=1",
        "/files/notes.txt",
        "/files/data.json",
        "/files/picture.png",
        "/private/secret.html",
        "mailto:crawler@example.com",
        "javascript:void(0)",
    ];
    let loose = LOOSE.iter().filter(|path| !path.ends_with('/'));
    for path in KEPT.iter().chain(loose).chain(&NOWHERE).chain(&more) {
        let is_found_otherwise =
            ["/only-in-sitemap.html", "/deep/below.html", "/moved-here.html"].contains(path);
        if !is_found_otherwise {
            let _ = writeln!(list, "<li><a href=\"{path}\">{path}</a></li>");
        }
    }
    list.push_str("<li><a rel=\"nofollow\" href=\"/nofollow-only.html\">not this</a></li>\n</ul>");
    list
}

/// Returns the page of a month, which links to the next month.
fn calendar(path: &str) -> Option<String> {
    let (year, month) = path.strip_prefix("/calendar/")?.strip_suffix('/')?.split_once('/')?;
    let (year, month) = (year.parse::<u32>().ok()?, month.parse::<u32>().ok()?);
    let (next_year, next_month) = if month >= 12 { (year.checked_add(1)?, 1) } else { (year, month + 1) };
    Some(format!("<p>{year}-{month:02}<a href=\"/calendar/{next_year}/{next_month:02}/\">next month</a>"))
}

/// Returns a page that gives each visitor a new session, and links to itself with that session.
fn session(target: &str) -> String {
    let number = target.bytes().fold(0_u32, |number, byte| number.wrapping_mul(31).wrapping_add(byte.into()));
    format!(
        "<a href=\"/session/index.html?sid={number:08x}\">again</a>\
         <a href=\"/session/{number:08x}/index.html;jsessionid={number:08x}\">elsewhere</a>"
    )
}

fn gzipped(bytes: Vec<u8>) -> Reply {
    Reply::html(bytes).field("Content-Encoding", "gzip")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes everything")
}

/// Returns the compressed bomb, which contains one MiB many times.
fn bomb() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| gzip(&vec![b' '; 1 << 20]).repeat(BOMB))
}
