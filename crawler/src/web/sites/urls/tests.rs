use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A URL with its normal form.
const FORMS: &[(&str, &str)] = &[
    // examples of RFC 3986, section 6.2.2 and 6.2.3
    ("eXAMPLE://a/./b/../b/%63/%7bfoo%7d", "example://a/b/c/%7Bfoo%7D"),
    ("HTTP://www.EXAMPLE.com/", "http://www.example.com/"),
    ("http://example.com", "http://example.com/"),
    ("http://example.com:/", "http://example.com/"),
    ("http://example.com:80/", "http://example.com/"),
    ("https://example.com:443/", "https://example.com/"),
    ("https://example.com:80/", "https://example.com:80/"),
    // URLs with a fragment, a user name, or an empty query
    ("http://a/b#c", "http://a/b"),
    ("http://a/b?c#d?e", "http://a/b?c"),
    ("http://me:secret@a/", "http://a/"),
    ("http://me@a/", "http://a/"),
    ("http://a/b?", "http://a/b"),
    ("http://a/b?#c", "http://a/b"),
    // percent-encoding
    ("http://a/%7Euser/%41%5A%61%30%2D%2E%5f", "http://a/~user/AZa0-._"),
    ("http://a/%2f%3f%23%25%2b%c3%a9", "http://a/%2F%3F%23%25%2B%C3%A9"),
    ("http://a/é b", "http://a/%C3%A9%20b"),
    ("http://a/%zz%4", "http://a/%zz%4"),
    ("http://a/%2541", "http://a/%2541"),
    ("http://a/%%32e/%a%31", "http://a/%%32e/%a%31"),
    ("http://a%2e:80/b.", "http://a/b."),
    ("http://a.b./", "http://a.b/"),
    ("http://a../", "http://a../"),
    ("http://./", "http://./"),
    ("http://a/?q=%7e%2f%26", "http://a/?q=~%2F%26"),
    // dot segments
    ("http://a/b/../../c/.", "http://a/c/"),
    ("http://a/b/%2e%2E/c", "http://a/c"),
    ("http://a/..%2Fb", "http://a/..%2Fb"),
    // URLs with characters that have a meaning
    ("http://a/?b=2&a=1&b=2", "http://a/?b=2&a=1&b=2"),
    ("http://a//b//", "http://a//b//"),
    ("http://a/B", "http://a/B"),
    ("http://a/b?c?", "http://a/b?c?"),
    ("http://a/b?=", "http://a/b?="),
    ("http://a/b+c?d+e", "http://a/b+c?d+e"),
    // hosts
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://%65xample.org/", "http://example.org/"),
    ("http://[2001:DB8::0:1]/", "http://[2001:db8::1]/"),
    ("mailto:a%41@b#c", "mailto:a%41@b"),
];

#[test]
fn a_url_has_one_normal_form() {
    for (text, normal) in FORMS {
        let found = normalise(url(text));
        assert_eq!(found.as_str(), *normal, "{text}");
        assert_eq!(normalise(found.clone()), found, "{text} again");
        assert_eq!(Url::parse(found.as_str()).as_ref(), Ok(&found), "{text} as text");
    }
}

#[test]
fn a_megabyte_is_normalised() {
    let found = normalise(url(&format!("http://a/{}?{}", "%7e%2f".repeat(200_000), "%61".repeat(300_000))));
    assert_eq!(found.as_str(), format!("http://a/{}?{}", "~%2F".repeat(200_000), "a".repeat(300_000)));
}

#[test]
fn a_site_is_a_scheme_a_host_and_a_port() {
    for (text, key) in [
        ("http://example.org/a?b#c", "http://example.org"),
        ("http://example.org:80/", "http://example.org"),
        ("http://example.org:8080/", "http://example.org:8080"),
        ("https://me@EXAMPLE.org/", "https://example.org"),
        ("https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443"),
        ("file:///etc/passwd", "null"),
    ] {
        assert_eq!(host_key(&url(text)), key, "{text}");
    }
}

/// Returns a scope with the hosts `example.org`, `[2600::1]`, and, because of the allow list, all hosts
/// below `example.com` and `other.net`.
fn scope(is_private_allowed: bool) -> Scope {
    let starts = [url("http://example.org:8080/a"), url("https://[2600::1]/"), url("http://10.0.0.1/")];
    Scope::new(&starts, &[".example.com", "Other.NET"], is_private_allowed).expect("these are hosts")
}

#[test]
fn a_scope_has_hosts_and_what_is_below_names() {
    for (text, refused) in [
        ("http://example.org/", None),
        ("https://example.org:9/x", None),
        ("https://example.org./x", None),
        ("http://www.example.org/", None),
        ("http://www.other.net/", Some(Refused::Host)),
        ("http://a.example.org/", Some(Refused::Host)),
        ("http://example.org.evil.net/", Some(Refused::Host)),
        ("http://[2600::1]/", None),
        ("http://[2600::2]/", Some(Refused::Host)),
        ("http://a.example.com/", None),
        ("http://b.a.example.com./", None),
        ("http://example.com/", Some(Refused::Host)),
        ("http://.example.com/", Some(Refused::Host)),
        ("http://badexample.com/", Some(Refused::Host)),
        ("http://a.badexample.com/", Some(Refused::Host)),
        ("http://other.net/", None),
        ("http://a.other.net/", Some(Refused::Host)),
        ("ftp://example.org/", Some(Refused::Scheme("ftp".to_owned()))),
        ("file:///etc/passwd", Some(Refused::Scheme("file".to_owned()))),
        ("mailto:me@example.org", Some(Refused::Scheme("mailto".to_owned()))),
        ("http://10.0.0.1/", Some(Refused::Private)),
        ("http://localhost/", Some(Refused::Private)),
        ("http://LOCALHOST.:80/", Some(Refused::Private)),
        ("http://a.localhost/", Some(Refused::Private)),
        ("http://notlocalhost/", Some(Refused::Host)),
    ] {
        assert_eq!(scope(false).admits(&url(text)).err(), refused, "{text}");
    }
}

#[test]
fn patterns_say_which_pages_of_a_host_are_meant() {
    let start = url("http://example.org/");
    let scope = |only: &[&str], not: &[&str]| {
        let [only, not] =
            [only, not].map(|patterns| patterns.iter().map(ToString::to_string).collect::<Vec<_>>());
        Scope::new(&[url("http://example.org/")], &[""; 0], false).unwrap().with_patterns(&only, &not)
    };
    let docs = scope(&["*/docs/*", "*.html"], &["*.pdf", "*?print*"]).unwrap();
    for (path, is_meant) in [
        ("", true),
        ("docs/a/b", true),
        ("a/b.html", true),
        ("docs/a.pdf", false),
        ("a", false),
        ("docs/a?print=1", false),
    ] {
        assert_eq!(docs.admits(&start.join(path).unwrap()).is_ok(), is_meant, "{path}");
    }
    assert_eq!(docs.admits(&url("http://other.org/docs/")), Err(Refused::Host));
    assert!(scope(&["["], &[]).is_err());
}

#[test]
fn private_addresses_are_visited_only_if_that_is_allowed() {
    assert_eq!(scope(true).admits(&url("http://10.0.0.1/")), Ok(()));
    assert_eq!(scope(true).admits(&url("http://10.0.0.2/")), Err(Refused::Host));
    assert_eq!(scope(true).admits(&url("http://localhost/")), Err(Refused::Host));
    assert_eq!(scope(true).admits(&url("file:///tmp")), Err(Refused::Scheme("file".to_owned())));
}

#[test]
fn odd_forms_of_an_address_are_that_address() {
    for host in [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "0x7f000001",
        "017700000001",
        "127.1",
        "127.0.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "127。0。0。1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[0:0:0:0:0:0:0:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "0",
        "[::]",
    ] {
        let admitted = scope(false).admits(&url(&format!("http://{host}/")));
        assert_eq!(admitted, Err(Refused::Private), "{host}");
    }
}

#[test]
fn a_long_url_is_refused() {
    let begin = "http://example.org/";
    let fitting = format!("{begin}{}", "a".repeat(LONGEST - begin.len()));
    assert_eq!(scope(false).admits(&url(&fitting)), Ok(()));
    assert_eq!(scope(false).admits(&url(&format!("{fitting}a"))), Err(Refused::TooLong));
    assert_eq!(scope(false).admits(&url(&"file:///a".repeat(100_000))), Err(Refused::TooLong));
}

#[test]
fn what_is_no_host_is_not_allowed() {
    for entry in
        ["", ".", "..", "a b", "a:80", "http://a/", "*.a", ".*.a", ".127.0.0.1", ".[::1]", "[::1", "a/b"]
    {
        let scope = Scope::new(&[], &[entry], false);
        assert_eq!(scope.err(), Some(BadHost(entry.to_owned())), "{entry:?}");
    }
}

#[test]
fn a_refusal_says_why() {
    for (refused, text) in [
        (Refused::TooLong, "the URL is longer than 8000 bytes"),
        (Refused::Scheme("ftp".to_owned()), "the scheme is ftp, neither http nor https"),
        (Refused::Host, "the host is neither that of a start page nor allowed"),
        (Refused::Private, "the address is private"),
    ] {
        assert_eq!(refused.to_string(), text);
    }
}
