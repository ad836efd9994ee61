//! `robots.txt`: the rules that say which URLs of its site a crawler may fetch (RFC 9309).
//!
//! A file has groups of rules, and each group applies to some crawlers. All groups that name this crawler
//! apply together; if no group names it, the groups for `*` apply. Among the rules that match a URL, the
//! longest rule decides.

use super::urls::{LONGEST, Octet, encode, is_unreserved, is_web, normalise, octets};
use memchr::memmem;
use std::collections::HashSet;
use std::time::Duration;
use url::Url;

/// The number of bytes of a file that are read; RFC 9309, section 2.5, demands at least 500 KiB. A line that
/// is cut off at this limit is ignored.
pub const LOOKED_AT: usize = 512 << 10;

/// The longest pause that a file may ask for between two requests. If a file asks for a longer pause, the
/// pause is reduced to this value.
pub const LONGEST_DELAY: Duration = Duration::from_mins(1);

/// The largest number of sitemaps that are kept from one file.
const MOST_SITEMAPS: usize = 1000;

/// The rules of a site that apply to one crawler.
///
/// The rules apply to URLs of the site from which the file comes, that is, to URLs with the same
/// [`host_key`](super::urls::host_key).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Robots {
    /// The rules, sorted by length, with the longest rule first. Among rules of equal length, the rules that
    /// allow URLs come first.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<Box<str>>,
}

impl Robots {
    /// Parses a file for the crawler with the name `agent`: its product token, such as `scout`, possibly
    /// followed by a version as in the header `User-Agent`. No bytes of a file cause an error: lines
    /// without a meaning are ignored.
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

    /// Returns rules that allow everything, for a site without `robots.txt` (a status of 4xx; section
    /// 2.3.1.3).
    pub fn all() -> Robots {
        Robots { rules: Vec::new(), crawl_delay: None, sitemaps: Vec::new() }
    }

    /// Returns rules that allow nothing, for a site whose `robots.txt` could not be fetched (a status of
    /// 5xx, or no answer; section 2.3.1.4).
    pub fn none() -> Robots {
        Robots { rules: vec![Rule::new(b"/", false)], ..Robots::all() }
    }

    /// Returns true if the crawler may fetch the URL. Among the rules that match the URL, the longest rule
    /// decides. Among several rules of equal length, a rule that allows the URL has priority. If no rule
    /// matches, the URL is allowed (section 2.2.2). `/robots.txt` is always allowed.
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

    /// Returns the pause that the site asks for between two requests, but at most [`LONGEST_DELAY`]. The line
    /// `Crawl-delay` is in no RFC; its value is in seconds and may have decimals. If there are several lines
    /// `Crawl-delay`, the longest pause applies.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// Returns the sitemaps that the file at `base` names for any crawler: each sitemap once and
    /// normalised, `http` and `https` only, at most a thousand. The sitemaps may be on other hosts. The
    /// URLs of sitemaps should be absolute; like other crawlers, this function resolves a relative URL
    /// against the file.
    pub fn sitemaps(&self, base: &Url) -> Vec<Url> {
        let mut seen = HashSet::new();
        let urls = self.sitemaps.iter().filter_map(|text| base.join(text).ok()).map(normalise);
        urls.filter(|url| is_web(url) && seen.insert(url.clone())).collect()
    }
}

/// Returns the lines of a file, without its byte order mark. Lines end with CR, LF or both, so there may be
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

/// Returns the product token at the beginning of a text, without a version (section 2.2.1). Digits count as
/// part of the token, because names of crawlers contain digits.
fn product(text: &[u8]) -> &[u8] {
    let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    &text[..text.iter().position(|byte| !is_of_token(byte)).unwrap_or(text.len())]
}

/// The part of a file that has been parsed.
#[derive(Default)]
struct Reader {
    /// The groups that name the crawler.
    named: Part,
    /// The groups for all other crawlers.
    any: Part,
    /// True if a rule was read since the last line that names a crawler. After a rule, the next line that
    /// names a crawler begins a new group.
    has_rules: bool,
    sitemaps: Vec<Box<str>>,
}

/// The groups for one crawler.
#[derive(Default)]
struct Part {
    /// True if the file has a group for the crawler.
    is_there: bool,
    /// True if the current group of the file applies to the crawler.
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

    /// Parses a line that names the crawler to which the following rules apply.
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

/// Parses seconds: digits with at most one decimal point. Returns `None` for a text that is not a number of
/// seconds.
fn delay(value: &[u8]) -> Option<Duration> {
    let is_number = value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let seconds: f64 = str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()?;
    Some(Duration::from_secs_f64(seconds.min(LONGEST_DELAY.as_secs_f64())))
}

/// A line `Allow` or `Disallow`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    is_allowing: bool,
    /// The length of the pattern in bytes.
    length: usize,
    /// The pattern in each form of [`Form::BOTH`]. The second form is stored only if it differs from the
    /// first form.
    patterns: (Box<[u8]>, Option<Box<[u8]>>),
    /// True if a `$` ends the pattern, so that it must match the whole URL.
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

/// Returns true if a text begins with a pattern, or, if `is_whole` is true, matches it completely. In the
/// pattern, `*` stands for any number of any bytes.
///
/// Each part between two `*` is matched at its first occurrence, because a later occurrence would leave less
/// text for the following parts. So each text is read only once, even if the pattern has many `*`.
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

/// The forms in which URLs and patterns are compared (section 2.2.2).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Unreserved characters are decoded, reserved characters stay as they are written, and all other
    /// characters are encoded.
    Plain,
    /// Like [`Form::Plain`], but `:`, `/`, `?` and `@` in a query are decoded, because they have no meaning
    /// in a query (RFC 3986, section 3.4). In the RFC's table, `?baz=https://foo.bar` is equal to
    /// `?baz=https%3A%2F%2Ffoo.bar`.
    Loose,
}

impl Form {
    const BOTH: [Form; 2] = [Form::Plain, Form::Loose];

    /// Returns the text, converted to this form. A `*` is encoded in a URL, but has a meaning in a pattern.
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

/// Returns true for reserved characters that stay as they are written. The characters `*` and `$` do not
/// stay as they are written, because they have a meaning in patterns. The characters `#`, which no path
/// has, and `'`, which `url` encodes only in queries, do not stay as they are written either.
fn is_kept(byte: u8) -> bool {
    matches!(
        byte,
        b':' | b'/' | b'?' | b'[' | b']' | b'@' | b'!' | b'&' | b'(' | b')' | b'+' | b',' | b';' | b'='
    )
}

#[cfg(test)]
mod tests;
