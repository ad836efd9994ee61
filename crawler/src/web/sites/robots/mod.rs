//! `robots.txt`: which URLs of its site a crawler may fetch (RFC 9309).
//!
//! A file has groups of rules, each for some crawlers. All groups that name this crawler count together; if
//! no group names it, those for `*` count. Of the rules that match a URL the longest decides.

use super::urls::{LONGEST, Octet, encode, is_unreserved, is_web, normalise, octets};
use memchr::memmem;
use std::collections::HashSet;
use std::time::Duration;
use url::Url;

/// How many bytes of a file are looked at; RFC 9309, section 2.5, asks for 500 KiB at least. A line that is
/// cut off there is left out.
pub const LOOKED_AT: usize = 512 << 10;

/// The longest pause between two requests that a file may ask for. Longer pauses are shortened to this.
pub const LONGEST_DELAY: Duration = Duration::from_mins(1);

/// How many sitemaps of a file are kept.
const MOST_SITEMAPS: usize = 1000;

/// What a site asks of one crawler.
///
/// The answers are for URLs of the site from which the file comes, that is, for URLs with the same
/// [`host_key`](super::urls::host_key).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Robots {
    /// The rules, the longest first. Of equally long rules, those that allow come first.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<Box<str>>,
}

impl Robots {
    /// Reads a file for the crawler named `agent`: its product token, such as `scout`, also with a version
    /// after it as in the header `User-Agent`. Whatever the bytes contain, there is no error: lines without a
    /// meaning are left out.
    pub fn parse(file: &[u8], agent: &str) -> Robots {
        let agent = product(agent.as_bytes());
        let mut reader = Reader::default();
        for line in lines(file) {
            reader.line(line, agent);
        }
        let Reader { named, any, sitemaps, .. } = reader;
        let Part { mut rules, delay, .. } = if named.is_there { named } else { any };
        rules.sort_by_key(|rule| (usize::MAX - rule.length, !rule.is_allowing));
        Robots { rules, crawl_delay: delay, sitemaps }
    }

    /// Everything is allowed: the site has no such file (a status of 4xx; section 2.3.1.3).
    pub fn all() -> Robots {
        Robots { rules: Vec::new(), crawl_delay: None, sitemaps: Vec::new() }
    }

    /// Nothing is allowed: the file could not be fetched (a status of 5xx, or no answer; section 2.3.1.4).
    pub fn none() -> Robots {
        Robots { rules: vec![Rule::new(b"/", false)], ..Robots::all() }
    }

    /// Whether the crawler may fetch the URL. The longest rule that matches decides; of several equally long
    /// rules, one that allows decides; if none matches, the URL is allowed (section 2.2.2). `/robots.txt` is
    /// always allowed.
    pub fn allows(&self, url: &Url) -> bool {
        if url.path() == "/robots.txt" {
            return true;
        }
        let target = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let forms = Form::BOTH.map(|form| form.of(target.as_bytes(), false));
        self.rules.iter().find(|rule| rule.matches(&forms)).is_none_or(|rule| rule.is_allowing)
    }

    /// The pause that the site asks for between two requests, at most [`LONGEST_DELAY`]. The line
    /// `Crawl-delay` is in no RFC; its value is in seconds, which may have decimals. If there are several
    /// such lines, the longest pause counts.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps that the file at `base` names, whichever crawler it speaks to: each once and normalised,
    /// `http` and `https` only, at most a thousand. The sitemaps may be on other hosts. The URLs should be
    /// absolute; a relative URL is relative to the file, as in other crawlers.
    pub fn sitemaps(&self, base: &Url) -> Vec<Url> {
        let mut seen = HashSet::new();
        let urls = self.sitemaps.iter().filter_map(|text| base.join(text).ok()).map(|url| normalise(&url));
        urls.filter(|url| is_web(url) && seen.insert(url.clone())).collect()
    }
}

/// The lines of a file, without its byte order mark. Lines end with CR, LF or both, so there may be
/// additional empty lines.
fn lines(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let looked_at = match file.get(..LOOKED_AT) {
        Some(begin) if !file.get(LOOKED_AT).is_none_or(is_end) => {
            &begin[..begin.iter().rposition(is_end).unwrap_or(0)]
        }
        begin => begin.unwrap_or(file),
    };
    looked_at.strip_prefix(b"\xef\xbb\xbf").unwrap_or(looked_at).split(move |byte| is_end(byte))
}

/// The product token that a text begins with, without a version (section 2.2.1). Digits count as a part of
/// the token, because names of crawlers have digits.
fn product(text: &[u8]) -> &[u8] {
    let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    &text[..text.iter().position(|byte| !is_of_token(byte)).unwrap_or(text.len())]
}

/// What has been read of a file.
#[derive(Default)]
struct Reader {
    /// The groups that name the crawler.
    named: Part,
    /// The groups for all others.
    any: Part,
    /// Whether a rule was read since the last line that names a crawler. The next such line then begins a
    /// group.
    has_rules: bool,
    sitemaps: Vec<Box<str>>,
}

/// The groups for one crawler.
#[derive(Default)]
struct Part {
    /// Whether the file has such a group.
    is_there: bool,
    /// Whether the group that is being read is for this crawler.
    is_open: bool,
    rules: Vec<Rule>,
    delay: Option<Duration>,
}

impl Reader {
    fn line(&mut self, line: &[u8], agent: &[u8]) {
        let line = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return };
        let (key, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        let is = |name: &str| key.eq_ignore_ascii_case(name.as_bytes());
        if is("user-agent") {
            self.agent(value, agent);
        } else if is("allow") || is("disallow") {
            self.has_rules = true;
            for part in self.open().filter(|_| !value.is_empty()) {
                part.rules.push(Rule::new(value, is("allow")));
            }
        } else if is("crawl-delay") {
            for part in self.open() {
                part.delay = part.delay.max(delay(value));
            }
        } else if is("sitemap") {
            self.sitemap(value);
        }
    }

    /// Reads a line that says for which crawler the rules after it are.
    fn agent(&mut self, value: &[u8], agent: &[u8]) {
        if self.has_rules {
            (self.has_rules, self.named.is_open, self.any.is_open) = (false, false, false);
        }
        let token = product(value);
        let is_any = value.first() == Some(&b'*') && value.get(1).is_none_or(u8::is_ascii_whitespace);
        let is_named = !token.is_empty() && token.eq_ignore_ascii_case(agent);
        for (part, is_meant) in [(&mut self.any, is_any), (&mut self.named, is_named)] {
            part.is_open |= is_meant;
            part.is_there |= is_meant;
        }
    }

    fn open(&mut self) -> impl Iterator<Item = &mut Part> {
        [&mut self.named, &mut self.any].into_iter().filter(|part| part.is_open)
    }

    fn sitemap(&mut self, value: &[u8]) {
        let text = str::from_utf8(value).ok().filter(|text| !text.is_empty() && text.len() <= LONGEST);
        self.sitemaps.extend(text.filter(|_| self.sitemaps.len() < MOST_SITEMAPS).map(Box::from));
    }
}

/// Reads seconds: digits with at most one point among them. `None` for anything else.
fn delay(value: &[u8]) -> Option<Duration> {
    let is_number = value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let seconds: f64 = str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()?;
    Some(Duration::from_secs_f64(seconds.min(LONGEST_DELAY.as_secs_f64())))
}

/// A line `Allow` or `Disallow`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    is_allowing: bool,
    /// How many bytes the pattern has.
    length: usize,
    /// The pattern in the forms of [`Form::BOTH`]. The second form is there only if it differs from the
    /// first.
    patterns: (Box<[u8]>, Option<Box<[u8]>>),
    /// Whether a `$` ends the pattern: it must match the whole URL.
    is_whole: bool,
}

impl Rule {
    fn new(pattern: &[u8], is_allowing: bool) -> Rule {
        let (text, is_whole) = match pattern.strip_suffix(b"$") {
            Some(text) => (text, true),
            None => (pattern, false),
        };
        let [plain, loose] = Form::BOTH.map(|form| form.of(text, true).into_boxed_slice());
        let length = plain.len() + usize::from(is_whole);
        let loose = (loose != plain).then_some(loose);
        Rule { is_allowing, length, patterns: (plain, loose), is_whole }
    }

    fn matches(&self, [plain, loose]: &[Vec<u8>; 2]) -> bool {
        let (pattern, loose_pattern) = &self.patterns;
        matches(pattern, self.is_whole, plain)
            || (loose_pattern.is_some() || loose != plain)
                && matches(loose_pattern.as_ref().unwrap_or(pattern), self.is_whole, loose)
    }
}

/// Whether a text begins with a pattern, or is the whole of it. In the pattern `*` stands for any bytes.
///
/// Each part between two `*` is matched at its first occurrence: a later one leaves less text for the parts
/// after it. So a text is read once, however many `*` there are.
fn matches(pattern: &[u8], is_whole: bool, text: &[u8]) -> bool {
    let mut parts = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some(at) = memmem::find(rest, before) else { return false };
            rest = &rest[at + before.len()..];
        }
    }
    match last {
        Some(last) if is_whole => rest.ends_with(last),
        Some(last) => memmem::find(rest, last).is_some(),
        None => !is_whole || rest.is_empty(),
    }
}

/// How URLs and patterns are written before they are compared (section 2.2.2).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Unreserved characters are themselves, reserved ones are as they were written, and all others are
    /// encoded.
    Plain,
    /// As [`Form::Plain`], but in a query `:`, `/`, `?` and `@` are themselves, because they mean nothing
    /// there (RFC 3986, section 3.4): in the RFC's table `?baz=https://foo.bar` is the same as
    /// `?baz=https%3A%2F%2Ffoo.bar`.
    Loose,
}

impl Form {
    const BOTH: [Form; 2] = [Form::Plain, Form::Loose];

    /// The text in this form. `*` is encoded in a URL, and means something in a pattern.
    fn of(self, text: &[u8], is_pattern: bool) -> Vec<u8> {
        let mut written = Vec::with_capacity(text.len());
        let mut is_query = false;
        for octet in octets(text) {
            match octet {
                Octet::Plain(b'*') if is_pattern => written.push(b'*'),
                Octet::Plain(byte) if is_unreserved(byte) || is_kept(byte) => {
                    is_query |= byte == b'?';
                    written.push(byte);
                }
                Octet::Encoded(byte) if is_unreserved(byte) => written.push(byte),
                Octet::Encoded(byte @ (b':' | b'/' | b'?' | b'@')) if self == Form::Loose && is_query => {
                    written.push(byte);
                }
                Octet::Plain(byte) | Octet::Encoded(byte) => encode(byte, &mut written),
            }
        }
        written
    }
}

/// Reserved characters that stay as they are written. `*` and `$` are not among them, because they mean
/// something in patterns, nor is `#`, which no path has, nor `'`, which `url` encodes in queries only.
fn is_kept(byte: u8) -> bool {
    matches!(
        byte,
        b':' | b'/' | b'?' | b'[' | b']' | b'@' | b'!' | b'&' | b'(' | b')' | b'+' | b',' | b';' | b'='
    )
}

#[cfg(test)]
mod tests;
