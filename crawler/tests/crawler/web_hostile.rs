//! Tests of hostile or faulty sites: a crawl reaches its end, and its report names the pages that it could
//! not fetch.

use crate::child::{crawl, ended, report};
use crate::web_fetch::{Raw, gzip, request};
use crawler::web::crawl::frontier::{Job, Kind};
use crawler::web::crawl::rules::{Asking, Rules, Step};
use crawler::web::crawl::state::{Progress, Record, State};
use crawler::web::crawl::visit::Visit;
use crawler::web::crawl::visitor::Visitor;
use crawler::web::sites::urls::{LONGEST, Scope};
use executor::CancelToken;
use hypertext_http::{Fetcher, Options};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use url::Url;

/// The answer for a path: some bytes that are sent once, and then other bytes that are sent repeatedly.
struct Sent {
    once: Vec<u8>,
    again: Option<Vec<u8>>,
}

/// A page.
fn html(body: impl AsRef<[u8]>) -> Sent {
    answer("200 OK", "Content-Type: text/html\r\n", body)
}

fn answer(status: &str, fields: &str, body: impl AsRef<[u8]>) -> Sent {
    let body = body.as_ref();
    let head =
        format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    Sent { once: [head.as_bytes(), body].concat(), again: None }
}

fn not_found() -> Sent {
    answer("404 Not Found", "", "")
}

/// Returns an answer that consists of the given bytes and of the end of the connection.
fn bytes(once: impl AsRef<[u8]>) -> Sent {
    Sent { once: once.as_ref().to_vec(), again: None }
}

fn endless(once: &str, again: impl Into<Vec<u8>>) -> Sent {
    Sent { once: once.into(), again: Some(again.into()) }
}

/// A request to a site.
struct Asked<'a> {
    path: &'a str,
    /// The address of the site.
    start: &'a str,
}

/// A site, the requests that it has received, and a folder with the state of its crawl.
struct Site {
    server: Raw,
    asked: Arc<Mutex<Vec<String>>>,
    folder: TempDir,
}

impl Site {
    /// Creates a site that answers each request with the result of `page`.
    fn of(page: impl Fn(&Asked<'_>) -> Sent + Send + Sync + 'static) -> Site {
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let noted = Arc::clone(&asked);
        let server = Raw::start(move |_, mut stream| {
            let head = request(&mut stream)?;
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            noted.lock().unwrap().push(path.clone());
            let host = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("host: ").map(str::to_owned));
            let start = format!("http://{}/", host.expect("each request has one"));
            let sent = page(&Asked { path: &path, start: &start });
            stream.write_all(&sent.once)?;
            while let Some(again) = &sent.again {
                stream.write_all(again)?;
            }
            Ok(())
        });
        Site { server, asked, folder: tempfile::tempdir().unwrap() }
    }

    fn start(&self) -> String {
        format!("http://{}/", self.server.address())
    }

    /// Crawls the site to its end.
    fn crawl(&self, flags: &[&str]) -> (Option<i32>, Value) {
        let mut command = crawl(self.folder.path(), &self.start(), &["--allow-private", "--json"]);
        let (status, report) = report(&ended(command.args(flags).spawn().unwrap()));
        assert_eq!((&report["complete"], &report["waiting"]), (&true.into(), &0.into()), "{report}");
        (status, report)
    }

    /// Returns the records in the state, by path. Panics if the state has a record of another site.
    fn records(&self) -> BTreeMap<String, Record> {
        let mut records = BTreeMap::new();
        let note = |url: &str, record| {
            let path = url.strip_prefix(self.start().trim_end_matches('/'));
            records.insert(path.unwrap_or_else(|| panic!("{url} is elsewhere")).to_owned(), record);
            Ok(())
        };
        State::open(&self.folder.path().join("state")).unwrap().each(note).unwrap();
        records
    }

    fn asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| *asked == path).count()
    }
}

/// Returns the broken pages by path, each with the reason why it is broken.
fn broken(report: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let path = |value: &Value| Url::parse(value.as_str().unwrap()).unwrap().path().to_owned();
    report["broken"].as_array().unwrap().iter().map(|one| (path(&one["url"]), text(&one["why"]))).collect()
}

fn links<'l>(paths: impl IntoIterator<Item = &'l str>) -> String {
    paths.into_iter().map(|path| format!("<a href=\"{path}\">x</a>\n")).collect::<Vec<_>>().concat()
}

/// Returns invalid answers, each with a word of the reason that the crawl reports. The tests of `web_fetch`
/// have more invalid answers.
fn answers_that_break() -> Vec<(&'static str, Sent, &'static str)> {
    let half = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\nhalf";
    vec![
        ("/nothing", bytes(""), "instead of answering"),
        ("/garbage", bytes([0, 1, 2, 255, 254].repeat(10_000)), "answer is broken"),
        ("/half-a-body", bytes(half), "4 of 500 bytes"),
        ("/no-zip", answer("200 OK", "Content-Encoding: gzip\r\n", "not compressed at all"), "decompressed"),
        ("/gone", answer("404 Not Found", "Content-Encoding: br\r\n", "x"), "status 404"),
        ("/endless-field", endless("HTTP/1.1 200 OK\r\nX:", "and on ".repeat(1000)), "head is larger"),
    ]
}

#[test]
fn answers_that_are_none_are_entries_in_the_report() {
    let broken_paths: Vec<_> = answers_that_break().into_iter().map(|(path, ..)| path).collect();
    let all = links(broken_paths);
    let site = Site::of(move |&Asked { path, .. }| match path {
        "/" => html(&all),
        "/robots.txt" => not_found(),
        _ => answers_that_break().into_iter().find(|(known, ..)| *known == path).expect("a path").1,
    });
    let (status, report) = site.crawl(&["--retries", "0", "--max-bytes", "1000000"]);
    assert_eq!((status, &report["fetched"]), (Some(3), &2.into()), "{report}"); // the start, and /gone
    let broken = broken(&report);
    for (path, _, why) in answers_that_break() {
        assert!(broken.get(path).is_some_and(|said| said.contains(why)), "{path}: {:?}", broken.get(path));
    }
    assert!(report["broken"].as_array().unwrap().iter().all(|one| one["linked_from"][0] == site.start()));
}

#[test]
fn what_is_odd_and_readable_is_read() {
    let site = Site::of(|&Asked { path, .. }| match path {
        "/" => {
            let page: [&[u8]; 4] = [
                b"<\0 a href=/no>\0<a href=/a>\xc3\x28\0</a><a href=\"/b\0\">\x80<a href='/c\x1b[31m'>",
                b"<a href=/hints>",
                b"<a href=/lie>",
                b"<a href=/no-length>",
            ];
            html(page.concat())
        }
        "/robots.txt" => not_found(),
        "/hints" => {
            let hints = "HTTP/1.1 103 Early Hints\r\nLink: </no>; rel=preload\r\n\r\n";
            bytes([hints.as_bytes(), hints.as_bytes(), &html("<a href=/after-hints>").once].concat())
        }
        "/lie" => answer("200 OK", "Content-Type: image/png\r\n", "<a href=/no>"),
        "/no-length" => bytes("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/after-no-length>"),
        "/no" => panic!("it is no link"),
        _ => html(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR<a href=/>"),
    });
    let (status, report) = site.crawl(&["--retries", "0"]);
    assert_eq!(status, Some(0), "{report}");
    let records = site.records();
    let fetched: Vec<_> = records.iter().filter(|(_, record)| record.status == Some(200)).collect();
    let paths: Vec<_> = fetched.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "/",
            "/a",
            "/after-hints",
            "/after-no-length",
            "/b%EF%BF%BD",
            "/c%1B[31m",
            "/hints",
            "/lie",
            "/no-length"
        ]
    );
}

/// A terminal obeys control characters, including those beyond ASCII.
#[test]
fn nothing_that_a_site_says_reaches_the_terminal_as_it_is() {
    let site = Site::of(|&Asked { path, .. }| match path {
        "/" => html(links([
            "/\x1b[31mred",
            "/\u{9b}31m?\u{7}",
            "/\u{202e}back",
            "/reason",
            "/to",
            "http://[\x1b",
            "/nothing\x1b",
        ])),
        "/robots.txt" => not_found(),
        "/reason" => bytes("HTTP/1.1 404 \u{9b}31mNo\r\nContent-Length: 0\r\n\r\n"),
        "/to" => answer("302 Found", "Location: /\u{9b}31m\r\n", ""),
        _ if path.starts_with("/nothing") => bytes("\x1b[31m"),
        _ => not_found(),
    });
    let mut command = crawl(site.folder.path(), &site.start(), &["--allow-private", "--retries", "0"]);
    let output = ended(command.spawn().unwrap());
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(printed.contains("/reason: ") && printed.contains("%1B[31mred"), "{printed:?}");
    let is_tame = |c: char| matches!(c, '\n' | ' ') || c.is_ascii_graphic();
    assert!(printed.chars().all(is_tame), "{printed:?}");
}

/// Returns a bomb of 4 GiB, compressed into 4 MiB.
#[cfg(target_os = "linux")]
fn bomb(first: &str, fill: u8) -> Vec<u8> {
    let piece = gzip(&vec![fill; 1 << 20]);
    [gzip(first.as_bytes()), piece.repeat(4096)].concat()
}

/// The memory limit of the crawl is lower than the memory that one of the bombs would need.
#[cfg(target_os = "linux")]
#[test]
fn what_grows_without_an_end_costs_no_memory() {
    for is_bomb in [true, false] {
        let zipped = move |first: &str, fill| {
            if is_bomb {
                answer("200 OK", "Content-Type: text/html\r\nContent-Encoding: gzip\r\n", bomb(first, fill))
            } else {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{first}");
                endless(&head, vec![fill; 100_000])
            }
        };
        let site = Site::of(move |&Asked { path, start, .. }| match path {
            "/" => html(links(["/endless", "/forbidden", "/last"])),
            "/robots.txt" => {
                let rules = format!("User-agent: *\nDisallow: /forbidden\nSitemap: {start}list\n");
                zipped(&rules, b'\n')
            }
            "/list" => zipped(&format!("{start}listed\n"), b' '),
            "/endless" => zipped("<a href=/after-endless>", b'a'),
            _ => html("<p>a page"),
        });
        let limited = format!(
            "ulimit -v 2000000; exec '{}' {} --state state --delay 0 --json --allow-private --threads 2 --retries 0",
            env!("CARGO_BIN_EXE_crawl"),
            site.start()
        );
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &limited]).current_dir(site.folder.path());
        shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let (status, report) = report(&ended(shell.spawn().unwrap()));
        assert_eq!((status, &report["refused"]), (Some(0), &1.into()), "{report}");
        let records = site.records();
        let fetched = |path| records.get(path).is_some_and(|record: &Record| record.status == Some(200));
        for path in ["/", "/endless", "/after-endless", "/last", "/listed"] {
            assert!(fetched(path), "{path}, {is_bomb}: {records:?}");
        }
        assert_eq!(site.asked("/forbidden"), 0);
    }
}

#[test]
fn of_rules_of_a_megabyte_the_first_512_kib_count() {
    let filling = |length: usize| format!("# {}\n", "x".repeat(98)).repeat(length / 101);
    let rules = format!(
        "User-agent: *\nDisallow: /first\n{}Disallow: /last\n{}Disallow: /beyond\n",
        filling((512 << 10) - 300),
        filling(512 << 10)
    );
    let site = Site::of(move |&Asked { path, .. }| match path {
        "/" => html(links(["/first", "/last", "/beyond"])),
        "/robots.txt" => answer("200 OK", "Content-Type: text/plain\r\n", &rules),
        _ => html(""),
    });
    let (status, report) = site.crawl(&["--max-bytes", "1000"]); // of a page
    assert_eq!((status, &report["refused"], &report["fetched"]), (Some(0), &2.into(), &2.into()), "{report}");
    assert!(report["notes"].to_string().contains("is longer than 512 KiB"), "{report}");
    assert_eq!((site.asked("/first"), site.asked("/last"), site.asked("/beyond")), (0, 0, 1));
}

#[test]
fn addresses_of_a_megabyte_lead_nowhere_and_cost_nothing_else() {
    let long = |begin: &str| format!("{begin}{}", "x".repeat(1 << 20));
    let site = Site::of(move |&Asked { path, start, .. }| match path {
        "/" => {
            html(links(["/a", &long("/"), &long("http://"), "/base", "/canonical", "/long-to", "/longer-to"]))
        }
        "/robots.txt" => answer("200 OK", "", format!("Sitemap: {start}list\nSitemap: {}\n", long(start))),
        "/list" => answer("200 OK", "", format!("{}\n{start}listed\n", long(start))),
        "/base" => html(format!("<base href='{}'><a href=no>", long("/"))),
        "/canonical" => html(format!("<link rel=canonical href='{}'><a href=/b>", long("/"))),
        "/long-to" => answer("302 Found", &format!("Location: /{}\r\n", "x".repeat(LONGEST)), ""),
        "/longer-to" => answer("302 Found", &format!("Location: {}\r\n", long("/")), ""),
        _ => html(""),
    });
    let (status, report) = site.crawl(&["--retries", "0"]);
    assert_eq!(status, Some(3), "{report}");
    let broken = broken(&report);
    assert_eq!(broken.keys().collect::<Vec<_>>(), ["/long-to", "/longer-to"]);
    assert!(broken["/longer-to"].contains("head is larger"), "{broken:?}");
    let records = site.records();
    let paths: Vec<_> = records.keys().map(String::as_str).collect();
    assert_eq!(paths, ["/", "/a", "/b", "/base", "/canonical", "/listed", "/long-to", "/longer-to"]);
    assert!(broken["/long-to"].ends_with("longer than 8000 bytes"), "{broken:?}");
    assert!(site.asked.lock().unwrap().iter().all(|path| path.len() <= LONGEST));
}

/// Crawls a site that seems to be on the public internet: a proxy answers requests for this site and for
/// all other addresses.
#[test]
fn a_public_site_leads_to_no_private_address_and_to_no_file() {
    let private = [
        "http://127.0.0.1/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://localhost/",
        "http://a.localhost./",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/",
        "http://10.0.0.1/",
        "http://0/",
    ];
    let others = ["file:///etc/passwd", "ftp://site.example/", "gopher://site.example/"];
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let noted = Arc::clone(&asked);
    let proxy = Raw::start(move |_, mut stream| {
        let connect = request(&mut stream)?;
        noted.lock().unwrap().push(connect.lines().next().unwrap_or_default().to_owned());
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            let head = request(&mut stream)?;
            let path = head.split(' ').nth(1).unwrap_or_default();
            let all = private.iter().chain(&others);
            let sent = match path {
                "/" => {
                    let redirects =
                        (0..all.clone().count()).map(|number| format!("/to/{number}")).collect::<Vec<_>>();
                    html(links(all.copied().chain(redirects.iter().map(String::as_str))))
                }
                "/robots.txt" => {
                    let lists =
                        private.iter().map(|list| format!("Sitemap: {list}\n")).collect::<Vec<_>>().concat();
                    answer("200 OK", "", lists)
                }
                _ => {
                    let number: usize =
                        path.strip_prefix("/to/").and_then(|number| number.parse().ok()).expect("a number");
                    answer(
                        "302 Found",
                        &format!("Location: {}\r\n", all.clone().nth(number).expect("one")),
                        "",
                    )
                }
            };
            stream.write_all(&sent.once)?;
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let through = format!("http://{}/", proxy.address());
    // The private hosts are refused even if the command line includes them in the crawl.
    let hosts =
        private.map(|url| Url::parse(url).unwrap().host_str().unwrap().trim_end_matches('.').to_owned());
    let mut command = crawl(folder.path(), "http://site.example/", &["--json", "--proxy", &through]);
    for host in &hosts {
        command.args(["--allow", host]);
    }
    let (status, report) = report(&ended(command.spawn().unwrap()));
    let pages = 1 + private.len() + others.len();
    assert_eq!((status, &report["fetched"]), (Some(3), &pages.into()), "{report}");
    assert_eq!(broken(&report).len(), private.len() + others.len(), "{report}");
    let asked = asked.lock().unwrap();
    assert!(asked.iter().all(|line| line == "CONNECT site.example:80 HTTP/1.1"), "{asked:?}");
    let mut refused = BTreeMap::<String, usize>::new();
    for why in broken(&report).into_values() {
        *refused.entry(why.rsplit(": ").next().unwrap().to_owned()).or_default() += 1;
    }
    let note = |url: &str, record: Record| {
        assert!(url.starts_with("http://site.example/") && record.progress == Progress::Fetched, "{url}");
        Ok(())
    };
    State::open(&folder.path().join("state")).unwrap().each(note).unwrap();
    assert_eq!(refused.remove("the address is private"), Some(private.len()), "{refused:?}");
    assert_eq!(refused.values().sum::<usize>(), others.len(), "{refused:?}");
}

#[test]
fn pages_of_a_host_without_an_address_wait_and_the_report_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--json", "--patience", "0"];
    let (status, report) =
        report(&ended(crawl(folder.path(), "http://unknown.invalid/", &flags).spawn().unwrap()));
    assert_eq!((status, &report["waiting"]), (Some(4), &1.into()), "{report}");
    assert!(report["notes"][0].as_str().unwrap().contains("cannot be resolved"), "{report}");
}

#[cfg(not(feature = "tls"))]
#[test]
fn without_tls_a_page_that_needs_it_waits_for_a_crawler_that_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--json", "--ignore-robots", "--allow-private"];
    let (status, report) =
        report(&ended(crawl(folder.path(), "https://127.0.0.1:9/", &flags).spawn().unwrap()));
    assert_eq!((status, &report["waiting"]), (Some(4), &1.into()), "{report}");
    assert!(report["notes"][0].as_str().unwrap().contains("feature tls"), "{report}");
}

#[test]
fn redirects_count_as_links_and_those_that_lead_nowhere_are_broken() {
    let site = Site::of(|&Asked { path, .. }| {
        match path.strip_prefix("/chain/").map(|number| number.parse::<usize>().expect("a number")) {
            Some(19) => html("<a href=/end-of-the-chain>"),
            Some(number) => answer("301 Moved", &format!("Location: /chain/{}\r\n", number + 1), ""),
            None => match path {
                "/" => html(links(["/chain/0", "/loop/a", "/self", "/to-gone", "/endless/"])),
                "/to-gone" => answer("301 Moved", "Location: /gone\r\n", ""),
                "/gone" => not_found(),
                path if path.starts_with("/endless/") => {
                    answer("302 Found", &format!("Location: {path}x\r\n"), "")
                }
                "/robots.txt" => not_found(),
                "/loop/a" => answer("302 Found", "Location: /loop/b\r\n", ""),
                "/loop/b" => answer("302 Found", "Location: /loop/a\r\n", ""),
                "/self" => answer("302 Found", "Location: /self\r\n", ""),
                _ => html(""),
            },
        }
    });
    let (status, report) = site.crawl(&[]);
    assert_eq!(
        (status, site.asked("/chain/19"), site.asked("/end-of-the-chain")),
        (Some(3), 1, 0),
        "{report}"
    );
    assert_eq!((site.asked("/loop/a"), site.asked("/loop/b"), site.asked("/self")), (1, 1, 1));
    let endless = format!("/endless/{}", "x".repeat(20));
    let broken: Vec<_> = report["broken"].as_array().unwrap().iter().collect();
    let whys = broken.iter().map(|broken| {
        assert_eq!(
            (&broken["links"], &broken["linked_from"][0]),
            (&1.into(), &site.start().into()),
            "{report}"
        );
        let url = broken["url"].as_str().unwrap().strip_prefix(site.start().trim_end_matches('/')).unwrap();
        (url, broken["why"].as_str().unwrap())
    });
    let (circle, more) = ("it redirects in a circle", "it redirects again, more often than --depth allows");
    assert_eq!(
        whys.collect::<BTreeMap<_, _>>(),
        BTreeMap::from([("/gone", "status 404"), ("/loop/a", circle), ("/self", circle), (&*endless, more)])
    );
    // If one more link is allowed, the chain is followed to its end, and the page at its end is fetched.
    site.crawl(&["--depth", "21"]);
    assert_eq!(site.asked("/end-of-the-chain"), 1);
}

/// The start address that a new user types may redirect to another site. Checks that a crawl reports a
/// redirect of the start address to another site.
#[test]
fn a_start_that_leads_elsewhere_is_told() {
    for (location, why) in [
        ("http://other.example/", "it leads to another host: say --allow other.example"),
        ("/", "it redirects in a circle"),
    ] {
        let site = Site::of(move |&Asked { path, .. }| match path {
            "/robots.txt" => not_found(),
            _ => answer("302 Found", &format!("Location: {location}\r\n"), ""),
        });
        let (status, report) = site.crawl(&[]);
        assert_eq!((status, &report["broken"][0]["why"]), (Some(3), &why.into()), "{report}");
    }
}

/// Redirects are judged by the flags of the run, and the next run may have other flags.
#[test]
fn what_is_wrong_with_a_redirect_is_judged_by_the_flags_of_the_run() {
    let site = Site::of(|&Asked { path, start, .. }| match path {
        "/" => answer("301 Moved", "Location: /en\r\n", ""),
        "/en" => answer(
            "302 Found",
            &format!("Location: {}\r\n", start.replace("127.0.0.1", "localhost") + "new"),
            "",
        ),
        "/new" => html("<a href=/twice>"),
        "/twice" => answer("301 Moved", "Location: /away\r\n", ""),
        "/away" => answer("301 Moved", "Location: http://elsewhere.example/\r\n", ""),
        _ => not_found(),
    });
    let why = |path: &str, why: &str| BTreeMap::from([(path.to_owned(), why.to_owned())]);
    let astray = "it leads where the crawl does not go: --only or --not excludes it";
    let deep = "it redirects again, more often than --depth allows";
    for (flags, status, expected) in [
        (&[][..], 3, why("/en", "it leads to another host: say --allow localhost")),
        (&["--not", "*/e*"], 3, why("/", astray)),
        (&["--allow", "localhost", "--depth", "0"], 3, why("/en", deep)),
        (&["--allow", "localhost", "--depth", "3"], 0, BTreeMap::new()),
    ] {
        let (ended, report) = site.crawl(flags);
        assert_eq!((ended, broken(&report)), (Some(status), expected), "{flags:?}: {report}");
    }
    assert_eq!(site.asked("/away"), 1);
}

#[test]
fn what_patterns_exclude_waits_for_other_patterns() {
    let site = Site::of(|&Asked { path, .. }| match path {
        "/" => html(links(["/docs/a", "/print/a", "/docs/b.pdf"])),
        "/robots.txt" => not_found(),
        _ => html(""),
    });
    let (status, report) = site.crawl(&["--only", "*/docs/*", "--not", "*.pdf"]);
    assert_eq!(
        (status, &report["fetched"], &report["elsewhere"]["excluded"]),
        (Some(0), &2.into(), &2.into()),
        "{report}"
    );
    let (status, report) = site.crawl(&["--not", "*/print/*"]);
    assert_eq!(
        (status, &report["fetched"], &report["elsewhere"]["excluded"]),
        (Some(0), &3.into(), &1.into()),
        "{report}"
    );
}

#[test]
fn of_a_hundred_thousand_links_as_many_are_followed_as_a_page_may_have() {
    let all = (0..100_000).map(|number| format!("<a href=/{number}>")).collect::<Vec<_>>().concat();
    let site = Site::of(move |&Asked { path, .. }| match path {
        "/" => html(&all),
        "/robots.txt" => not_found(),
        _ => html(""),
    });
    let (status, report) = site.crawl(&["--pages", "200", "--per-site", "4", "--max-bytes", "10000000"]);
    assert_eq!((status, &report["fetched"]), (Some(0), &200.into()), "{report}");
    assert_eq!(site.records()["/"].links.len(), 10_000);
}

fn visitor(url: &Url, fetcher: Fetcher) -> Visitor {
    Visitor {
        fetcher,
        scope: Scope::new(std::slice::from_ref(url), &[""; 0], true).unwrap(),
        name: "crawl".to_owned(),
        retries: 1,
        depth: 1,
        delay: Duration::ZERO,
        checks: false,
        looks_for_parts: false,
        accepted: Vec::new(),
        heeds_robots: true,
        save: None,
        notes: Mutex::default(),
    }
}

fn job(url: &Url, kind: Kind) -> Job {
    Job { kind, ..Job::page(url.as_str(), "", 0) }
}

/// Checks that a panic neither ends the crawl nor makes it wait for an answer, and that no page is fetched
/// while the rules are unknown.
#[test]
fn a_panic_is_as_if_there_had_been_no_answer() {
    let url = Url::parse("http://site.example/").unwrap();
    let panics = Fetcher::with_parts(Options::default(), |_| false, |_, _| panic!("looking up a name"));
    let (visitor, token) = (visitor(&url, panics.unwrap()), CancelToken::new());
    let asking = Asking::begin(job(&url, Kind::Robots));
    let step = asking.step(&visitor, &token).unwrap();
    assert!(matches!(&step, Step::Away(_, why, None) if why.contains("panicked")), "{step:?}");
    let visit = visitor.visit(&job(&url, Kind::Page), &Rules::none(), None, &token).unwrap();
    assert!(matches!(&visit, Visit::Over(record, _) if record.progress == Progress::Failed), "{visit:?}");
}

/// Checks that a redirect is broken if its target does not exist, and is not broken if its target is on
/// another host.
#[test]
fn a_redirect_to_where_no_page_is_is_broken() {
    let site = Site::of(|&Asked { path, .. }| match path {
        "/" => html(links(["/file", "/nowhere", "/elsewhere"])),
        "/file" => answer("302 Found", "Location: file:///etc/passwd\r\n", ""),
        "/nowhere" => answer("302 Found", "", ""),
        "/elsewhere" => answer("302 Found", "Location: http://elsewhere.example/\r\n", ""),
        _ => not_found(),
    });
    let (status, report) = site.crawl(&[]);
    let broken = broken(&report);
    assert_eq!((status, broken.len()), (Some(3), 2), "{report}");
    assert!(
        broken["/file"].contains("the scheme is file") && broken["/nowhere"].contains("no address"),
        "{report}"
    );
}

/// Checks that each linked address is either a page of the crawl or counted in the report.
#[test]
fn no_link_is_left_out_without_a_word() {
    let long = format!("/{}", "x".repeat(LONGEST));
    let site = Site::of(move |&Asked { path, .. }| match path {
        "/" => html(links([
            "/a",
            "/b",
            "/c",
            "/c",
            "http://elsewhere.example/",
            "http://elsewhere.example/#there",
            "file:///etc/passwd",
            &long,
        ])),
        "/a" => html(format!("{}<a href=/lost>", " ".repeat(200_000))),
        "/robots.txt" => not_found(),
        _ => html(""),
    });
    let (status, report) = site.crawl(&["--pages", "3", "--max-bytes", "100000"]);
    assert_eq!(
        (status, &report["fetched"], &report["truncated"]),
        (Some(0), &3.into(), &1.into()),
        "{report}"
    );
    let elsewhere = serde_json::json!({ "other_hosts": 1, "private": 0, "no_page": 1, "excluded": 0, "beyond_limits": 1 });
    assert_eq!((&report["elsewhere"], &report["unlisted"]), (&elsewhere, &1.into()), "{report}");
}

/// The addresses of lists and of the pages in them are relative to the file that names them. The limits for
/// lists differ from the limits for pages.
#[test]
fn lists_that_are_not_whole_are_told() {
    let list = |pages: &str| format!("<urlset>{pages}</urlset>");
    let entry = |page: &str| format!("<url><loc>{page}</loc></url>");
    let [whole, cut] = ["/whole", "/cut"].map(|page| list(&entry(page)));
    let beyond = list(&[entry("//elsewhere.example/"), entry("http://192.0.2.1/"), entry("ftp:/x")].concat());
    let zipped = gzip(list(&entry("/zipped")).as_bytes());
    let site = Site::of(move |&Asked { path, .. }| match path {
        "/robots.txt" => answer(
            "200 OK",
            "",
            "Sitemap: lists/whole\nSitemap: /lists/cut\nSitemap: lists/html\nSitemap: lists/beyond\nSitemap: lists/zip\n",
        ),
        "/lists/whole" => answer("200 OK", "", &whole),
        "/lists/cut" => answer("200 OK", "", &cut[..cut.len() - 12]),
        "/lists/html" => html("<a href=/no>This is no list"),
        "/lists/beyond" => answer("200 OK", "", &beyond),
        "/lists/zip" => answer("200 OK", "", &zipped[..zipped.len() - 4]),
        _ => html(""),
    });
    let (status, report) = site.crawl(&["--max-bytes", "10"]);
    assert_eq!((status, &report["fetched"]), (Some(0), &4.into()), "{report}");
    let notes: Vec<_> =
        report["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    let told = ["cut, a", "html, a", "beyond, a", "zip, a"];
    assert!(notes.len() == 4 && told.iter().zip(&notes).all(|(word, note)| note.contains(word)), "{notes:?}");
    assert!(notes[1].ends_with("it is no list"), "{notes:?}");
}

/// Checks the report if two lists have more pages than the crawl may have, and if there are more lists than
/// a site may have.
#[test]
fn no_list_is_left_out_without_a_word() {
    let site = Site::of(|&Asked { path, start, .. }| match path {
        "/robots.txt" => answer(
            "200 OK",
            "",
            (0..40).map(|list| format!("Sitemap: {start}list/{list}\n")).collect::<Vec<_>>().concat(),
        ),
        _ if path.starts_with("/list/") => answer("200 OK", "", format!("{start}a\n{start}b\n{start}c\n")),
        _ => html(""),
    });
    let (_, report) = site.crawl(&["--pages", "2"]);
    let notes = report["notes"].to_string();
    assert!(notes.contains("pages more than --pages takes on"), "{report}");
    assert!(notes.contains("a list of pages, was left out: the site has too many"), "{report}");
}
