//! What a site asks of crawlers: `robots.txt`, as RFC 9309 has it, and `Crawl-delay`, which it does not have.

use super::urls::normalise;
use std::time::Duration;
use url::Url;

/// Bytes that are looked at. The RFC (section 2.5) asks for 500 KiB at least.
const MOST_BYTES: usize = 500 << 10;

/// The longest delay that a site is granted.
const LONGEST_DELAY: Duration = Duration::from_mins(1);

/// The rules of a site for one crawler.
#[derive(Debug, Clone, Default)]
pub struct Robots {
    rules: Vec<Rule>,
    delay: Option<Duration>,
    sitemaps: Vec<Url>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    allows: bool,
    /// In the form of an address, so that `%7e` and `~` are the same.
    pattern: String,
}

impl Robots {
    /// For a site that has no rules: all may be fetched (RFC 9309, section 2.3.1.3).
    pub fn all() -> Robots {
        Robots::default()
    }

    /// For a site whose rules cannot be had, since its server fails: nothing may be fetched (section 2.3.1.4).
    pub fn none() -> Robots {
        Robots { rules: vec![Rule { allows: false, pattern: "/".to_owned() }], ..Robots::default() }
    }

    // ANCHOR: parse
    /// The rules for the crawler of this name, without a version: those of all groups that name it, or else those for `*`.
    pub fn parse(file: &[u8], crawler: &str) -> Robots {
        let file = String::from_utf8_lossy(&file[..file.len().min(MOST_BYTES)]);
        let (mut own, mut other) = (None::<Robots>, Robots::default());
        let mut sitemaps = Vec::new();
        // Whom the group that is being read is for; agents that follow each other share a group.
        let (mut is_own, mut is_other, mut has_rules) = (false, false, true);
        for (key, value) in file.trim_start_matches('\u{feff}').split(['\n', '\r']).filter_map(line) {
            match key.as_str() {
                "user-agent" => {
                    if std::mem::take(&mut has_rules) {
                        (is_own, is_other) = (false, false);
                    }
                    is_other |= value == "*";
                    if value.eq_ignore_ascii_case(crawler) {
                        is_own = true;
                        own.get_or_insert_default();
                    }
                }
                "sitemap" => sitemaps.extend(Url::parse(value)),
                _ => {
                    has_rules = true;
                    let own = own.as_mut().filter(|_| is_own);
                    for robots in own.into_iter().chain(Some(&mut other).filter(|_| is_other)) {
                        robots.rule(&key, value);
                    }
                }
            }
        }
        Robots { sitemaps, ..own.unwrap_or(other) }
    }
    // ANCHOR_END: parse

    fn rule(&mut self, key: &str, value: &str) {
        match key {
            "allow" | "disallow" if !value.is_empty() => {
                let rule = Rule { allows: key == "allow", pattern: normal(value) };
                self.rules.push(rule);
            }
            "crawl-delay" => {
                let seconds = value.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0);
                let delay =
                    seconds.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST_DELAY));
                self.delay = delay.map(|delay| delay.min(LONGEST_DELAY)).or(self.delay);
            }
            _ => (), // rules of other crawlers
        }
    }

    /// Whether a page may be fetched: the longest pattern that fits decides, and of two that are as long, the one that allows.
    pub fn allows(&self, url: &Url) -> bool {
        let url = normalise(url);
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        if path == "/robots.txt" {
            return true;
        }
        let fits = self.rules.iter().filter(|rule| fits(&rule.pattern, path));
        fits.max_by_key(|rule| (rule.pattern.len(), rule.allows)).is_none_or(|rule| rule.allows)
    }

    /// How long to wait between two pages, if the site says so; a minute at most.
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Lists of pages that the site has.
    pub fn sitemaps(&self) -> &[Url] {
        &self.sitemaps
    }
}

/// The key of a line, in small letters, and its value.
fn line(line: &str) -> Option<(String, &str)> {
    let (key, value) = line.split('#').next()?.split_once(':')?;
    Some((key.trim().to_ascii_lowercase(), value.trim()))
}

/// A pattern in the form that addresses have: what is not ASCII is percent-encoded, and what need not be is not.
fn normal(pattern: &str) -> String {
    let mut url = Url::parse("http://site/").expect("an address");
    let (pattern, end) = pattern.strip_suffix('$').map_or((pattern, ""), |pattern| (pattern, "$"));
    let (path, query) = pattern.split_once('?').map_or((pattern, None), |(path, query)| (path, Some(query)));
    url.set_path(path);
    url.set_query(query);
    let url = normalise(&url);
    let written = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let question = if query == Some("") { "?" } else { "" };
    let written = if path.starts_with('/') { written } else { written.trim_start_matches('/') };
    format!("{written}{question}{end}")
}

/// Whether a pattern fits the beginning of a path: `*` is anything, `$` at the end is the end. In time of pattern × path at most.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = pattern.strip_suffix('$').map_or((pattern, false), |pattern| (pattern, true));
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| path.strip_prefix(first)) else { return false };
    let mut last = None;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        last = Some((rest, piece));
        rest = &rest[at + piece.len()..];
    }
    match last {
        _ if !is_whole => true,
        None => rest.is_empty(),
        Some((before, piece)) => before.ends_with(piece), // `*` takes as much as it has to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn allows(robots: &Robots, path: &str) -> bool {
        robots.allows(&Url::parse("http://example.org").unwrap().join(path).unwrap())
    }

    fn rules(lines: &str) -> Robots {
        Robots::parse(format!("User-agent: *\n{lines}").as_bytes(), "crawler")
    }

    /// A rule that disallows, what it fits, and what not. The patterns are those that the RFC (section 2.2.3) and search engines explain.
    #[test]
    fn patterns_fit() {
        let table: [(&str, &[&str], &[&str]); 12] = [
            ("/", &["/", "/x?y"], &[]),
            (
                "/fish",
                &["/fish", "/fish.html", "/fishheads/yummy", "/fish?id=1"],
                &["/Fish", "/catfish", "/"],
            ),
            ("/fish*", &["/fish", "/fish/salmon.html", "/fishheads"], &["/Fish.asp", "/desert/fish"]),
            ("/fish/", &["/fish/", "/fish/?id=1"], &["/fish", "/fish.html"]),
            ("/*.php", &["/index.php", "/f.php?p", "/a/b.php/"], &["/", "/windows.PHP"]),
            ("/*.php$", &["/a.php", "/b/a.php.php"], &["/a.php?p", "/a.php/", "/a.php5"]),
            ("/fish*.php", &["/fish.php", "/fishheads/cat.php?p"], &["/Fish.PHP"]),
            ("/a$", &["/a"], &["/ab", "/a?b", "/a/"]),
            ("/~joe", &["/%7Ejoe", "/~joe/x"], &["/joe"]),
            ("/%7ejoe", &["/~joe", "/%7ejoe/x"], &["/joe"]),
            ("/ü", &["/%C3%BC", "/ü/x"], &["/u"]),
            ("/a?b", &["/a?b", "/a?bc"], &["/a", "/a?c"]),
        ];
        for (pattern, fitting, others) in table {
            let robots = rules(&format!("Disallow: {pattern}"));
            for path in fitting {
                assert!(!allows(&robots, path), "{pattern} fits {path}");
            }
            for path in others {
                assert!(allows(&robots, path), "{pattern} does not fit {path}");
            }
        }
    }

    #[test]
    fn the_longest_pattern_decides_and_allow_wins_a_tie() {
        let table = [
            ("Disallow: /\nAllow: /p", "/page", true),
            ("Allow: /folder\nDisallow: /folder", "/folder/page", true),
            ("Allow: /page\nDisallow: /*.htm", "/page.htm", false),
            ("Allow: /$\nDisallow: /", "/", true),
            ("Allow: /$\nDisallow: /", "/page.htm", false),
            ("Disallow:", "/", true),
            ("Disallow: /\n", "/robots.txt", true),
        ];
        for (lines, path, expected) in table {
            assert_eq!(allows(&rules(lines), path), expected, "{lines:?} {path}");
        }
    }

    #[test]
    fn groups_are_for_those_whom_they_name() {
        let file = b"\xef\xbb\xbfUSER-AGENT : other # a comment\r\nDisallow: /a\r\rUser-agent: Crawler\nUser-agent: third\n\
            Unknown: line\nDisallow: /b\n\nUser-agent: *\nDisallow: /c\nSitemap: http://example.org/map.xml\nUser-agent: crawler\nDisallow: /d\n";
        let seen = |crawler: &str| {
            let robots = Robots::parse(file, crawler);
            let paths = ["/a", "/b", "/c", "/d"].into_iter();
            (paths.filter(|path| !allows(&robots, path)).collect::<String>(), robots.sitemaps().len())
        };
        assert_eq!(seen("crawler"), ("/b/d".to_owned(), 1));
        assert_eq!(seen("OTHER"), ("/a".to_owned(), 1));
        assert_eq!(seen("third"), ("/b".to_owned(), 1));
        assert_eq!(seen("fourth"), ("/c".to_owned(), 1));
        assert!(allows(&Robots::parse(b"Disallow: /\n", "crawler"), "/x"), "a rule without a group");
        assert!(!allows(&Robots::none(), "/x") && allows(&Robots::all(), "/x"));
    }

    #[test]
    fn delays_have_a_bound() {
        for (written, delay) in
            [("2", Some(2.0)), ("0.5", Some(0.5)), ("1e9", Some(60.0)), ("-1", None), ("soon", None)]
        {
            let delay = delay.map(Duration::from_secs_f64);
            assert_eq!(rules(&format!("Crawl-delay: {written}")).delay(), delay, "{written}");
        }
    }

    #[test]
    fn hostile_rules_take_no_endless_time() {
        let begin = Instant::now();
        let pattern = format!("Disallow: /{}b$\n", "*a".repeat(2000));
        let robots = rules(&pattern.repeat(100));
        assert!(allows(&robots, &format!("/{}", "a".repeat(3000))));
        let large = rules(&"Disallow: /x*y\n".repeat(200_000));
        assert!(allows(&large, "/z"));
        assert!(begin.elapsed() < Duration::from_secs(20), "it took {:?}", begin.elapsed());
    }
}
