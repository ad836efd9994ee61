use super::*;
use std::time::Instant;

fn url(path: &str) -> Url {
    Url::parse(&format!("http://example.com{path}")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns, for each of the paths, whether the crawler `scout` may fetch it.
fn answers(file: &str, paths: &[&str]) -> Vec<bool> {
    let robots = Robots::parse(file.as_bytes(), "scout");
    paths.iter().map(|path| robots.allows(&url(path))).collect()
}

/// Checks a file and some paths: the crawler `scout` may fetch exactly those paths that have no `!` before
/// them.
fn check(file: &str, paths: &[&str]) {
    let robots = Robots::parse(file.as_bytes(), "scout");
    for path in paths {
        let (path, is_allowed) = path.strip_prefix('!').map_or((*path, true), |path| (path, false));
        assert_eq!(robots.allows(&url(path)), is_allowed, "{path} by {file:?}");
    }
}

#[test]
fn the_examples_of_the_rfc_hold() {
    // Section 5.1
    let simple = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\
                  User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\
                  User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\
                  User-Agent: quxbot\n";
    let paths =
        ["/", "/example/", "/example/page.html", "/example/allowed.gif", "/publications/a.gif", "/a.gif?b"];
    for (agent, allowed) in [
        ("scout", [true, false, false, false, true, true]),
        ("FooBot", [false, false, true, true, false, false]),
        ("barbot", [true, true, false, true, true, true]),
        ("bazbot/1.0", [true, true, false, true, true, true]),
        ("quxbot", [true; 6]),
    ] {
        let robots = Robots::parse(simple.as_bytes(), agent);
        assert_eq!(paths.map(|path| robots.allows(&url(path))), allowed, "{agent}");
    }
    // Section 5.2
    let longest = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    let robots = Robots::parse(longest.as_bytes(), "foobot");
    assert!(robots.allows(&url("/example/page/")) && !robots.allows(&url("/example/page/disallowed.gif")));
}

#[test]
fn groups_are_merged_and_chosen() {
    // Section 2.2.1
    let merged =
        "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: ExampleBot\ndisallow: /baz\n";
    let robots = Robots::parse(merged.as_bytes(), "examplebot");
    assert!(["/foo", "/bar", "/baz"].iter().all(|path| !robots.allows(&url(path))));

    check("User-agent: *\nDisallow: /a\nUser-agent: other\nDisallow: /b\n", &["!/a", "/b"]);
    check("User-agent: *\nDisallow: /a\nUser-agent: scout\nDisallow: /b\n", &["/a", "!/b"]);
    check("User-agent: scout\nUser-agent: *\nDisallow: /a\n", &["!/a"]);
    check("User-agent: scout\n\n# no rules\n\nUser-agent: *\nDisallow: /\n", &["!/a"]); // one group for both
    check("User-agent: scout\nDisallow:\nUser-agent: *\nDisallow: /\n", &["/a"]);
    check("User-agent: *\nDisallow: /\nUser-agent: scout", &["/a"]);
    check("Disallow: /\nUser-agent: scout\nDisallow: /a\n", &["/", "!/a"]); // a rule for no crawler
    check("User-agent: other\nDisallow: /\n", &["/a"]);
    check("", &["/a"]);
    // Lines that are neither rules nor names of crawlers do not separate groups.
    check(
        "User-agent: scout\nSitemap: http://a/\nNoise\nCrawl-delay: 1\nUser-agent: other\nDisallow: /a\n",
        &["!/a"],
    );
    check("User-agent: other\nCrawl-delay: 1\nUser-agent: scout\nDisallow: /a\n", &["!/a"]);
    check("User-agent: other\nDisallow: /a\nUser-agent: scout\nDisallow: /b\n", &["/a", "!/b"]);
}

#[test]
fn crawlers_are_known_by_their_product() {
    for (named, is_meant) in [
        ("scout", true),
        ("SCOUT", true),
        ("scout/2.0", true),
        ("scout (old)", true),
        ("  scout  ", true),
        ("scout*", true),
        ("*", true),
        ("* all", true),
        ("*all", false),
        ("scouts", false),
        ("scout2", false),
        ("scout-news", false),
        ("sco", false),
        ("a scout", false),
        ("", false),
    ] {
        let file = format!("User-agent: {named}\nDisallow: /\n");
        for agent in ["scout", "Scout/2.0", "scout/2.0 (+http://example.com/)"] {
            assert_eq!(
                Robots::parse(file.as_bytes(), agent).allows(&url("/a")),
                !is_meant,
                "{named:?} {agent}"
            );
        }
    }
    assert!(Robots::parse(b"User-agent:\nDisallow: /", "").allows(&url("/a")));
    assert!(!Robots::parse(b"User-agent: *\nDisallow: /", "").allows(&url("/a")));
}

#[test]
fn lines_are_read_however_they_are_written() {
    for file in [
        "User-agent: scout\nDisallow: /a",
        "\u{feff}User-agent: scout\nDisallow: /a\n",
        "User-agent: scout\r\nDisallow: /a\r\n",
        "User-agent: scout\rDisallow: /a\r",
        "uSER-aGENT:scout\nDISALLOW:/a",
        "  User-agent : scout \t\n\t Disallow\t:\t /a  ",
        "# c\nUser-agent: scout # c\n#c\nDisallow: /a# c: d\n",
        "User-agent: scout\n\n\nDisallow: /a",
        "User-agent: scout\nNoindex: /b\n: \n:::\n\0\nDisallow /b\nDisallow: /a\nfoo: bar",
        "User-agent: scout\nDisallow: /a\nDisallow: #/b\nDisallow: a\nDisallow: http://example.com/b\n",
    ] {
        check(file, &["!/a", "!/ab", "/b", "/", "/A"]);
    }
    let mixed = b"User-agent: scout\nDisallow: /\xff\xfe\nDisallow: /a";
    assert!(
        !Robots::parse(mixed, "scout").allows(&url("/a"))
            && !Robots::parse(mixed, "scout").allows(&url("/%FF%fe"))
    );
}

/// A pattern, paths that the pattern matches, and paths that it does not match. The first cases are the
/// published table of a large search engine ("URL matching based on path values").
const PATTERNS: &[(&str, &[&str], &[&str])] = &[
    ("/", &["/", "/a?b", "//"], &[]),
    ("/*", &["/", "/a"], &[]),
    ("/$", &["/"], &["/a", "/?a"]),
    (
        "/fish",
        &[
            "/fish",
            "/fish.html",
            "/fish/salmon.html",
            "/fishheads",
            "/fishheads/yummy.html",
            "/fish.php?id=anything",
        ],
        &["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"],
    ),
    (
        "/fish*",
        &[
            "/fish",
            "/fish.html",
            "/fish/salmon.html",
            "/fishheads",
            "/fishheads/yummy.html",
            "/fish.php?id=anything",
        ],
        &["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"],
    ),
    (
        "/fish/",
        &["/fish/", "/fish/?id=anything", "/fish/salmon.htm"],
        &["/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"],
    ),
    (
        "/*.php",
        &[
            "/index.php",
            "/filename.php",
            "/folder/filename.php",
            "/folder/filename.php?parameters",
            "/folder/any.php.file.html",
            "/filename.php/",
        ],
        &["/", "/windows.PHP"],
    ),
    (
        "/*.php$",
        &["/filename.php", "/folder/filename.php"],
        &["/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"],
    ),
    ("/fish*.php", &["/fish.php", "/fishheads/catfish.php?parameters"], &["/Fish.PHP"]),
    // examples of RFC 9309, section 2.2.2 and 2.2.3
    ("/foo/bar?baz=quz", &["/foo/bar?baz=quz"], &["/foo/bar", "/foo/bar%3Fbaz=quz"]),
    (
        "/foo/bar?baz=https://foo.bar",
        &["/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"],
        &[],
    ),
    (
        "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
        &["/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"],
        &[],
    ),
    ("/foo/bar/ツ", &["/foo/bar/%E3%83%84", "/foo/bar/ツ", "/foo/bar/%e3%83%84"], &["/foo/bar/%E3%83%85"]),
    ("/foo/bar/%E3%83%84", &["/foo/bar/%E3%83%84", "/foo/bar/ツ"], &[]),
    ("/foo/bar/%62%61%7A", &["/foo/bar/baz", "/foo/bar/%62a%7a"], &[]),
    ("/path/file-with-a-%2A.html", &["/path/file-with-a-*.html"], &["/path/file-with-a-b.html"]),
    ("/path/foo-%24", &["/path/foo-$"], &["/path/foo-"]),
    ("/allow/*/here", &["/allow//here", "/allow/a/b/here/c"], &["/allow/here"]),
    ("/this/path/exactly$", &["/this/path/exactly"], &["/this/path/exactly/", "/this/path/exactly?"]),
    // reserved characters differ from their encoded forms
    ("/a%2Fb", &["/a%2fb"], &["/a/b"]),
    ("/a/b", &["/a/b"], &["/a%2Fb"]),
    ("/*=http%3A%2F%2F", &["/?a=http%3a%2f%2f"], &[]),
    ("/?a%26b", &["/?a%26b"], &["/?a&b"]),
    ("/a b", &["/a%20b", "/a b"], &["/a+b"]),
    ("/a'b?c'd", &["/a'b?c'd", "/a%27b?c%27d"], &[]),
    ("/a{|}^\"", &["/a{|}^\"", "/a%7B%7C%7D%5E%22"], &[]),
    ("/%zz%", &["/%zz%", "/%25zz%25"], &[]),
    // patterns with stars and ends
    ("*", &["/", "/a"], &[]),
    ("*/b", &["/b", "/a/b/c"], &["/a", "/ab"]),
    ("**b***c", &["/bc", "/a/bxxc"], &["/cb"]),
    ("/a*a", &["/aa", "/aba"], &["/a"]),
    ("/a*a$", &["/aa", "/aba", "/abaa"], &["/a", "/abab"]),
    ("/*ab*b$", &["/abb", "/abab"], &["/ab", "/aba"]),
    ("/a*$", &["/a", "/ab"], &["/b"]),
    ("/a$b", &["/a$b", "/a$bc", "/a%24b"], &["/a", "/ab"]),
    ("/a$$", &["/a$"], &["/a", "/a$b"]),
    ("/a%24$", &["/a$"], &["/a$b"]),
    ("$", &[], &["/"]),
    ("a", &[], &["/a", "/"]),
];

#[test]
fn patterns_match_what_they_say() {
    for (pattern, matched, others) in PATTERNS {
        let file = format!("User-agent: *\nDisallow: {pattern}\n");
        assert_eq!(answers(&file, matched), vec![false; matched.len()], "{pattern}: {matched:?}");
        assert_eq!(answers(&file, others), vec![true; others.len()], "{pattern}: {others:?}");
    }
}

#[test]
fn the_longest_rule_decides() {
    // Cases: the published table of a large search engine ("order of precedence for rules"), and then further
    // cases.
    for (allow, disallow, path, is_allowed) in [
        ("/p", "/", "/page", true),
        ("/folder", "/folder", "/folder/page", true),
        ("/page", "/*.htm", "/page.htm", false),
        ("/page", "/*.ph", "/page.php5", true),
        ("/$", "/", "/", true),
        ("/$", "/", "/page.htm", false),
        ("/", "/a", "/a", false),
        ("/a/*", "/a/b", "/a/b", true),
        ("/%61%61", "/aaa", "/aaa", false),
        ("/ツ", "/*******", "/ツ", true),
        ("/a$", "/aa*", "/a", true),
    ] {
        let (allow, disallow) = (format!("Allow: {allow}\n"), format!("Disallow: {disallow}\n"));
        for file in [[&*allow, &*disallow], [&*disallow, &*allow]] {
            let file = format!("User-agent: *\n{}", file.concat());
            assert_eq!(answers(&file, &[path]), [is_allowed], "{path} by {file:?}");
        }
    }
}

#[test]
fn the_file_itself_is_always_allowed() {
    for robots in [Robots::none(), Robots::parse(b"User-agent: *\nDisallow: /robots.txt", "scout")] {
        assert!(robots.allows(&url("/robots.txt")));
        assert!(!robots.allows(&url("/robots.txt/a")) && !robots.allows(&url("/robots.txta")));
    }
}

#[test]
fn a_site_without_a_file_allows_all_and_one_without_an_answer_nothing() {
    assert!(Robots::all().allows(&url("/")) && Robots::all().allows(&url("/a?b")));
    assert!(!Robots::none().allows(&url("/")) && !Robots::none().allows(&url("/a?b")));
    assert_eq!((Robots::all().crawl_delay(), Robots::none().sitemaps(&url("/"))), (None, Vec::new()));
    assert_eq!(Robots::all(), Robots::parse(b"", "scout"));
}

#[test]
fn a_delay_is_in_seconds_and_bounded() {
    for (value, milliseconds) in [
        ("1", Some(1_000)),
        ("0.5", Some(500)),
        (".25", Some(250)),
        ("2.", Some(2_000)),
        ("0", Some(0)),
        ("60", Some(60_000)),
        ("61", Some(60_000)),
        ("99999999999999999999999999", Some(60_000)),
        (&"9".repeat(100_000), Some(60_000)),
        ("", None),
        (".", None),
        ("-1", None),
        ("+1", None),
        ("1.2.3", None),
        ("1e3", None),
        ("inf", None),
        ("NaN", None),
        ("5s", None),
        ("1,5", None),
        ("٣", None),
    ] {
        let file = format!("User-agent: *\nCrawl-delay: {value}\n");
        let delay = Robots::parse(file.as_bytes(), "scout").crawl_delay();
        assert_eq!(delay, milliseconds.map(Duration::from_millis), "{value:.20}");
    }
}

#[test]
fn a_delay_is_for_the_crawlers_of_its_group() {
    for (file, seconds) in [
        ("User-agent: scout\nCrawl-delay: 2\nUser-agent: *\nDisallow: /\nCrawl-delay: 5\n", Some(5)), // one group
        ("User-agent: scout\nDisallow:\nCrawl-delay: 2\nUser-agent: *\nDisallow:\nCrawl-delay: 5\n", Some(2)),
        ("User-agent: scout\nDisallow:\nUser-agent: *\nDisallow:\nCrawl-delay: 5\n", None),
        ("User-agent: other\nDisallow:\nCrawl-delay: 5\n", None),
        (
            "User-agent: scout\nCrawl-delay: 3\nAllow: /\nCrawl-delay: 2\nUser-agent: scout\nCrawl-delay: 1\n",
            Some(3),
        ),
        ("Crawl-delay: 3\nUser-agent: scout\n", None),
    ] {
        let delay = Robots::parse(file.as_bytes(), "scout").crawl_delay();
        assert_eq!(delay, seconds.map(Duration::from_secs), "{file:?}");
    }
}

#[test]
fn sitemaps_are_for_all() {
    let long = format!("http://a/{}", "é".repeat(500_000 / 2));
    let file = format!(
        "Sitemap: http://EXAMPLE.com/%7ea.xml#b\nUser-agent: other\nsitemap:https://example.net/b.xml # c\nDisallow: /\n\
         Sitemap: /c.xml\nSitemap: //example.org/d.xml\nSitemap: ftp://a/b\nSitemap:\nSitemap: http://example.com/~a.xml\nSitemap: {long}\n"
    );
    let robots = Robots::parse(file.as_bytes(), "scout");
    let sitemaps = robots.sitemaps(&url("/robots.txt"));
    assert_eq!(
        sitemaps.iter().map(Url::as_str).collect::<Vec<_>>(),
        [
            "http://example.com/~a.xml",
            "https://example.net/b.xml",
            "http://example.com/c.xml",
            "http://example.org/d.xml"
        ]
    );
}

#[test]
fn a_megabyte_is_looked_at_as_far_as_the_rfc_asks() {
    let begin = "User-agent: *\nDisallow: /a\n#";
    let filled = |to: usize| format!("{begin}{}", "x".repeat(to - begin.len()));
    check(&format!("{}\nDisallow: /bc\n", filled(LOOKED_AT - 14)), &["!/a", "!/bc", "/b"]);
    check(&format!("{}\nDisallow: /bc\n", filled(LOOKED_AT - 13)), &["!/a", "/bc"]);
    check(&format!("{}\nDisallow: /bc", filled(LOOKED_AT - 14)), &["!/a", "!/bc", "/b"]);
    check(&format!("{}\nDisallow: /bc", filled(LOOKED_AT - 13)), &["!/a", "/bc"]);
    check(&format!("{}\nDisallow: /bc\n", filled(1 << 20)), &["!/a", "/bc"]);
    check(&"User-agent: *".repeat(100_000), &["/a"]);
}

#[test]
fn hostile_patterns_are_matched_in_time() {
    let target = url(&format!("/{}", "a".repeat(7_900)));
    for pattern in
        ["*a".repeat(3_900), "*a*aa".repeat(1_500), "a".repeat(3_900), format!("{}b", "a".repeat(3_900))]
    {
        let line = format!("Disallow: /{pattern}*b\nDisallow: *{pattern}b$\n");
        let file = format!("User-agent: *\n{}", line.repeat(LOOKED_AT / line.len()));
        let begin = Instant::now();
        assert!(Robots::parse(file.as_bytes(), "scout").allows(&target));
        assert!(begin.elapsed() < Duration::from_secs(10), "it took {:?}", begin.elapsed());
    }
    let file = format!("User-agent: *\n{}", "Allow:*b\n".repeat(50_000));
    let begin = Instant::now();
    assert!(Robots::parse(file.as_bytes(), "scout").allows(&target));
    assert!(begin.elapsed() < Duration::from_secs(10), "it took {:?}", begin.elapsed());
}

#[test]
fn no_bytes_are_an_error() {
    let sample = "User-agent: *\nUser-agent: scout\r\nDisallow: /*a%62$\nAllow: *é\nCrawl-delay: 1.5\nSitemap: http://a/b\n";
    let mut random = fastrand::Rng::with_seed(9309);
    for _ in 0..3_000 {
        let mut bytes = sample.as_bytes().to_vec();
        for _ in 0..random.usize(1..20) {
            let at = random.usize(..bytes.len());
            match random.u8(..3) {
                0 => bytes[at] = random.u8(..),
                1 => bytes.insert(at, *random.choice(b"%*$#:\r\n\xff/".iter()).expect("some")),
                _ => drop(bytes.drain(at..(at + 3).min(bytes.len() - 1).max(at))),
            }
        }
        let robots = Robots::parse(&bytes, "scout");
        let _ = robots.allows(&url("/xab?y*z$"));
        assert!(robots.crawl_delay() <= Some(LONGEST_DELAY));
    }
}
