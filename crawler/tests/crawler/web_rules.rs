//! Tests of the rules, the lists and the pauses of a site. The file also tests crawls that have raised
//! limits, that cannot write their files, or that are stopped at a page of a list.

use crate::child::{WATCHDOG, ended, report};
use crawler::web::crawl::state::State;
#[cfg(target_os = "linux")]
use executor::Latch;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A request, with the times of its arrival and of its answer.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) head: String,
    came: Instant,
    answered: Option<Instant>,
}

/// The answer of a site. In the header fields and in the body, `ORIGIN` stands for the address of the site.
pub(crate) struct Answer {
    status: u16,
    fields: String,
    body: String,
}

impl Answer {
    fn written(&self, origin: &str) -> String {
        let (fields, body) = (self.fields.replace("ORIGIN", origin), self.body.replace("ORIGIN", origin));
        let length = if self.status == 304 { 1234 } else { body.len() }; // the length of the page, which is not sent
        format!("HTTP/1.1 {} As\r\n{fields}Content-Length: {length}\r\n\r\n{body}", self.status)
    }
}

type Log = Arc<(Mutex<Vec<Request>>, Condvar)>;

/// A site whose answers are returned by a function of a test. The function gets a path, and the number of
/// earlier requests for this path. If the function returns no answer, the client waits until it gives up.
/// The threads of a site end with the process.
pub(crate) struct Site {
    pub(crate) origin: String,
    log: Log,
}

impl Site {
    fn new(answer: impl Fn(&str, usize) -> Option<Answer> + Send + Sync + 'static) -> Site {
        Site::of_heads(move |path, times, _| answer(path, times))
    }

    /// Creates a site whose function gets not only the path, but also the head of the request.
    pub(crate) fn of_heads(
        answer: impl Fn(&str, usize, &str) -> Option<Answer> + Send + Sync + 'static,
    ) -> Site {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (log, answer) = (Log::default(), Arc::new(answer));
        let (shared, own) = (Arc::clone(&log), origin.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, answer, origin) = (Arc::clone(&shared), Arc::clone(&answer), own.clone());
                thread::spawn(move || serve(stream.unwrap(), &origin, &log, &*answer));
            }
        });
        Site { origin, log }
    }

    /// Creates a site with the given pages as HTML bodies; all other addresses do not exist.
    fn of(pages: &[(&str, &str)]) -> Site {
        let pages: BTreeMap<_, _> =
            pages.iter().map(|(path, body)| ((*path).to_owned(), (*body).to_owned())).collect();
        Site::new(move |path, _| Some(pages.get(path).map_or(status(404), |body| html(body))))
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.log.0.lock().unwrap().clone()
    }

    /// Returns every path that was requested, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }

    /// Waits until a page has been requested `times` times.
    pub(crate) fn wait_for(&self, path: &str, times: usize) {
        let asked = |log: &[Request]| log.iter().filter(|request| request.path == path).count();
        let is_missing = |log: &mut Vec<Request>| asked(log) < times;
        let log = self.log.0.lock().unwrap();
        let waited = self.log.1.wait_timeout_while(log, WATCHDOG, is_missing).unwrap();
        assert!(!waited.1.timed_out(), "no client asks for {path}");
    }

    /// Returns true if each request arrived at least `pause` after the answer to the previous request.
    fn was_left_alone_for(&self, pause: Duration, paths: &[&str]) -> bool {
        let requests = self.requests();
        let requests = requests.iter().filter(|request| paths.contains(&&*request.path)).collect::<Vec<_>>();
        let is_apart = |pair: &[&Request]| {
            pair[0].answered.is_some_and(|answered| pair[1].came.saturating_duration_since(answered) >= pause)
        };
        assert!(requests.len() > 1, "{requests:?}");
        requests.windows(2).all(is_apart)
    }
}

type Answers = dyn Fn(&str, usize, &str) -> Option<Answer>;

fn serve(mut stream: TcpStream, origin: &str, log: &Log, answer: &Answers) {
    loop {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return,
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let (number, times) = {
            let mut log = log.0.lock().unwrap();
            let times = log.iter().filter(|request| request.path == path).count();
            log.push(Request {
                path: path.clone(),
                head: head.clone(),
                came: Instant::now(),
                answered: None,
            });
            (log.len() - 1, times)
        };
        log.1.notify_all();
        let Some(answer) = answer(&path, times, &head) else {
            let _ = stream.read(&mut byte); // until the client closes the connection
            return;
        };
        log.0.lock().unwrap()[number].answered = Some(Instant::now());
        if stream.write_all(answer.written(origin).as_bytes()).is_err() {
            return;
        }
    }
}

pub(crate) fn answer(status: u16, fields: &str, body: &str) -> Answer {
    Answer { status, fields: fields.to_owned(), body: body.to_owned() }
}

fn html(body: &str) -> Answer {
    answer(200, "Content-Type: text/html\r\n", body)
}

fn text(body: &str) -> Answer {
    answer(200, "Content-Type: text/plain\r\n", body)
}

pub(crate) fn status(status: u16) -> Answer {
    answer(status, "", "")
}

pub(crate) fn busy(seconds: u32) -> Answer {
    answer(503, &format!("Retry-After: {seconds}\r\n"), "")
}

fn moved(to: &str) -> Answer {
    answer(301, &format!("Location: {to}\r\n"), "")
}

pub(crate) fn links(paths: &[&str]) -> String {
    paths.iter().map(|path| format!("<a href=\"{path}\">it</a>")).collect::<Vec<_>>().concat()
}

/// Starts a crawl of a site that may be on this machine.
pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crawl"));
    command.args(["--state", "state", "--json", "--allow-private"]).args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a crawl to its end.
pub(crate) fn crawl(folder: &TempDir, arguments: &[&str]) -> (Option<i32>, Value) {
    report(&ended(start(folder.path(), arguments)))
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

const FAST: [&str; 2] = ["--delay", "0"];

pub(crate) fn fast(site: &Site) -> Vec<&str> {
    [&*site.origin].into_iter().chain(FAST).collect()
}

#[test]
fn rules_that_are_late_are_asked_for_again() {
    let site = Site::new(|path, times| {
        Some(match path {
            "/robots.txt" if times < 2 => busy(0),
            "/robots.txt" => text("User-agent: *\nDisallow: /no\n"),
            "/" => html(&links(&["/yes", "/no"])),
            _ => html(""),
        })
    });
    let (status, report) = crawl(&folder(), &fast(&site));
    assert_eq!((status, &report["fetched"], &report["refused"]), (Some(0), &2.into(), &1.into()), "{report}");
    assert_eq!(site.asked(), ["/robots.txt", "/robots.txt", "/robots.txt", "/", "/yes"]);
}

#[test]
fn rules_that_never_come_are_why_no_page_is_asked_for() {
    let site = Site::new(|path, _| Some(if path == "/robots.txt" { busy(0) } else { html("") }));
    let folder = folder();
    let (status, report) = crawl(&folder, &[&fast(&site)[..], &["--patience", "1500ms"]].concat());
    assert_eq!((status, &report["failed"], &report["fetched"]), (Some(4), &0.into(), &0.into()), "{report}");
    assert_eq!((&report["waiting"], &report["complete"]), (&1.into(), &false.into()), "{report}");
    let note = report["notes"][0].as_str().unwrap();
    assert!(note.ends_with("is away (status 503): 1 of its pages wait for another run"), "{report}");
    assert_eq!(site.asked(), ["/robots.txt"; 2]);
}

#[test]
fn a_site_that_is_away_at_first_is_asked_for_its_lists_later() {
    let site = Site::new(|path, times| {
        Some(match path {
            "/robots.txt" if times == 0 => busy(0),
            "/robots.txt" => text("Sitemap: ORIGIN/list\n"),
            "/list" => text("ORIGIN/listed\n"),
            _ => html(""),
        })
    });
    let (status, report) = crawl(&folder(), &fast(&site));
    assert_eq!((status, &report["fetched"]), (Some(0), &2.into()), "{report}");
}

/// After its first page, the site answers that it is busy, until it has been asked for its rules three times.
/// After the third request for its rules, the site sends all of its pages, and their counts of tries have not
/// changed.
#[test]
fn a_site_that_is_away_keeps_its_pages_and_their_tries() {
    let is_away = Arc::new(AtomicBool::new(false));
    let away = Arc::clone(&is_away);
    let site = Site::new(move |path, times| {
        if path == "/" {
            away.store(true, Relaxed);
            return Some(html(&links(&["/a", "/b", "/c", "/d", "/e"])));
        }
        if path == "/robots.txt" && times == 2 {
            away.store(false, Relaxed);
        }
        Some(if away.load(Relaxed) { status(503) } else { html("") })
    });
    let (status, report) = crawl(&folder(), &[&fast(&site)[..], &["--retries", "1"]].concat());
    assert_eq!((status, &report["fetched"]), (Some(0), &6.into()), "{report}");
    assert_eq!(site.asked().iter().filter(|path| *path == "/robots.txt").count(), 3, "{:?}", site.asked());
}

/// Checks that the state keeps the rules of a site and the pause that the site has asked for.
#[test]
fn rules_and_rests_count_in_the_next_run() {
    let site = Site::new(|path, _| {
        Some(match path {
            "/robots.txt" => text("User-agent: *\nDisallow: /no\n"),
            "/" => html(&links(&["/a", "/busy"])),
            "/busy" => busy(3600),
            _ => html(""),
        })
    });
    let folder = folder();
    let (status, report) = crawl(&folder, &fast(&site));
    assert_eq!((status, &report["waiting"]), (Some(4), &1.into()), "{report}");
    let asked = site.asked().len();
    let (status, report) = crawl(&folder, &fast(&site));
    assert_eq!((status, &report["waiting"], site.asked().len()), (Some(4), &1.into(), asked), "{report}");
    assert!(report["notes"][0].as_str().unwrap().contains("has asked for a rest of 35"), "{report}");
}

/// Creates a site of eight pages, one of which has no answer.
fn held(page: &'static str) -> Site {
    Site::new(move |path, _| match path {
        "/" => Some(html(&links(&["/a", "/b", "/c", page, "/d", "/e", "/f"]))),
        _ if path == page => None,
        _ => Some(html("")),
    })
}

pub(crate) fn kill(mut run: Child) {
    run.kill().unwrap();
    run.wait().unwrap();
}

/// The crawl gives up a page if the process died three times while it fetched the page, because this page may
/// be the cause. Pages that were being fetched at the same time as a fatal page are still fetched later.
#[test]
fn a_page_at_which_the_process_dies_three_times_is_given_up() {
    let (site, folder) = (held("/deadly"), folder());
    let flags = [&fast(&site)[..], &["--per-site", "8"]].concat();
    for deaths in 1..=3 {
        let run = start(folder.path(), &flags);
        site.wait_for("/deadly", deaths);
        kill(run);
    }
    let (status, report) = crawl(&folder, &flags);
    assert_eq!((status, &report["fetched"], &report["failed"]), (Some(3), &7.into(), &1.into()), "{report}");
    let why = "the program ended 3 times while it was being fetched";
    assert_eq!((&report["broken"][0]["why"], report["broken"].as_array().unwrap().len()), (&why.into(), 1));
}

/// Two processes died while they fetched one of two pages; the page that links to both pages was fetched
/// but was not durable. So the crawl finds the two pages again.
#[test]
fn of_two_pages_that_may_be_deadly_one_is_asked_for() {
    let site = Site::new(|path, _| match path {
        "/" => Some(html(&links(&["/a", "/b", "/c"]))),
        "/a" => None,
        "/b" => Some(status(404)),
        _ => Some(html("")),
    });
    let folder = folder();
    for _ in 0..2 {
        fs::write(
            folder.path().join("state.under-way"),
            site.origin.clone() + "/a\n" + &site.origin + "/b\n\n/c",
        )
        .unwrap();
        drop(State::open(&folder.path().join("state")).unwrap());
    }
    let run = start(folder.path(), &[&fast(&site)[..], &["--per-site", "8"]].concat());
    for path in ["/a", "/c"] {
        site.wait_for(path, 1);
    }
    kill(run);
    assert!(!site.asked().contains(&"/b".to_owned()), "{:?}", site.asked());
    let (status, report) = crawl(&folder, &fast(&site));
    let whys: Vec<_> = report["broken"].as_array().unwrap().iter().map(|broken| &broken["why"]).collect();
    let deadly = "the program ended 3 times while it was being fetched";
    assert_eq!((status, whys), (Some(3), vec![&deadly.into(), &"status 404".into()]), "{report}");
    assert_eq!(site.asked().iter().filter(|path| *path == "/a").count(), 1);
}

/// Checks that links to other hosts are requested if the flags say so, including links that an earlier run
/// has found. The crawl does not follow the links of pages on other hosts.
#[test]
fn links_to_other_hosts_are_checked() {
    let other = Site::new(|path, _| {
        Some(match path {
            "/there" => html(&links(&["/further"])),
            "/members" => status(403),
            "/moved" => moved("/gone"),
            _ => status(404),
        })
    });
    let origin = other.origin.replace("127.0.0.1", "localhost");
    let far = ["/there", "/members", "/moved", "/not"].map(|path| origin.clone() + path);
    let mut all: Vec<_> = far.iter().map(String::as_str).chain(["http://localhost:1/"]).collect();
    all.push("/a");
    let body = links(&all);
    let site = Site::new(move |path, _| Some(html(if path == "/" { &body } else { "" })));
    let folder = folder();
    let (status, report) = crawl(&folder, &fast(&site));
    assert_eq!(
        (status, &report["elsewhere"]["other_hosts"], other.asked().len()),
        (Some(0), &5.into(), 0),
        "{report}"
    );
    let flags =
        ["--check", "--accept", "403,999", "--not", "*/not", "--patience", "500ms", "--graph", "graph"];
    let (status, report) = crawl(&folder, &[&fast(&site)[..], &flags].concat());
    assert_eq!((status, &report["fetched"], &report["checked"]), (Some(3), &2.into(), &4.into()), "{report}");
    let broken: Vec<_> = report["broken"].as_array().unwrap().iter().collect();
    let whys = broken.iter().map(|broken| {
        assert_eq!(broken["linked_from"][0], format!("{}/", site.origin), "{report}");
        (broken["url"].as_str().unwrap(), broken["why"].as_str().unwrap().split(" (").next().unwrap())
    });
    let gone = origin.clone() + "/gone";
    assert_eq!(
        whys.collect::<Vec<_>>(),
        [("http://localhost:1/", "its site is away"), (&*gone, "status 404")]
    );
    assert!(!other.asked().iter().any(|path| path == "/further" || path == "/not"), "{:?}", other.asked());
    assert_eq!(fs::read_to_string(folder.path().join("graph")).unwrap().lines().count(), 2);
}

#[test]
fn parts_of_pages_are_looked_for() {
    let paths = [
        "/a#there",
        "/a#gone",
        "/a#Top",
        "/a#",
        "/moved#there",
        "/moved#lost",
        "/a#%C3%A9",
        "/a#name",
        "/a#:~:text=x",
        "#self",
        "/404#x",
    ];
    let site = Site::new(move |path, _| {
        Some(match path {
            "/" => html(&links(&paths)),
            "/moved" => moved("/a"),
            "/404" => status(404),
            _ => html("<p id=there><a name=name><b id=\u{e9}>"),
        })
    });
    let folder = folder();
    assert_eq!(crawl(&folder, &fast(&site)).0, Some(3), "of 404");
    let (status, report) = crawl(&self::folder(), &[&fast(&site)[..], &["--fragments"]].concat());
    let broken =
        |broken: &Value| broken["url"].as_str().unwrap().strip_prefix(&site.origin).unwrap().to_owned();
    let broken: Vec<_> = report["broken"].as_array().unwrap().iter().map(broken).collect();
    assert_eq!(
        (status, &*broken),
        (Some(3), &["/404", "/#self", "/a#gone", "/a#lost"].map(str::to_owned)[..]),
        "{report}"
    );
}

/// Checks that an address that the flags of this run exclude is not excluded forever, because the flags of
/// another run may allow it.
#[test]
fn what_the_flags_leave_out_waits_for_other_flags() {
    let site = Site::new(|path, _| {
        Some(match path {
            "/robots.txt" => answer(200, "", "User-agent: *\nDisallow: /no\n"),
            "/" => html(&links(&["/a", "/no"])),
            _ => html(""),
        })
    });
    let folder = folder();
    let (status, report) = crawl(&folder, &fast(&site));
    assert_eq!((status, &report["fetched"], &report["refused"]), (Some(0), &2.into(), &1.into()), "{report}");
    let (status, report) = crawl(&folder, &[&fast(&site)[..], &["--ignore-robots"]].concat());
    assert_eq!((status, &report["fetched"], &report["refused"]), (Some(0), &3.into(), &0.into()), "{report}");
}

#[test]
fn rules_may_be_elsewhere() {
    for (moves, refused) in [(5, 1), (6, 0)] {
        let site = Site::new(move |path, _| {
            Some(match path.strip_prefix("/robots.txt") {
                Some(number) => match number.parse().unwrap_or(0) {
                    at if at < moves => moved(&format!("/robots.txt{}", at + 1)),
                    _ => text("User-agent: *\nDisallow: /no\n"),
                },
                None => html(&links(&["/no"])),
            })
        });
        let (status, report) = crawl(&folder(), &fast(&site));
        assert_eq!((status, &report["refused"]), (Some(0), &refused.into()), "{moves} moves: {report}");
    }
    let site = Site::new(|path, _| Some(if path == "/robots.txt" { moved("/robots.txt") } else { html("") }));
    assert_eq!(crawl(&folder(), &fast(&site)).1["fetched"], 1, "they lead to themselves");
    assert_eq!(site.asked(), ["/robots.txt", "/"]);
}

/// The list names itself, another list that arrives late, a list that does not exist, and a list with
/// pages.
#[test]
fn lists_are_asked_for_one_at_a_time_and_each_once() {
    let site = Site::new(|path, times| {
        let here = |paths: &[&str], of: &str| {
            let entry = |path: &&str| format!("<{of}><loc>ORIGIN{path}</loc></{of}>");
            let entries = paths.iter().map(entry).collect::<Vec<_>>().concat();
            let root = if of == "url" { "urlset" } else { "sitemapindex" };
            format!("<{root}>{entries}</{root}>")
        };
        Some(match path {
            "/robots.txt" => text("User-agent: *\nCrawl-delay: 0.05\nSitemap: ORIGIN/all\n"),
            "/all" => text(&here(&["/all", "/late", "/gone", "/list"], "sitemap")),
            "/late" if times == 0 => busy(0),
            "/late" => text(&here(&["/one"], "url")),
            "/list" => text(&here(&["/one", "/two"], "url")),
            "/gone" => status(404),
            _ => html(""),
        })
    });
    let (status, report) = crawl(&folder(), &fast(&site));
    assert_eq!((status, &report["fetched"]), (Some(0), &3.into()), "{report}");
    let note = format!("{}/gone, a list of pages, cannot be had, or not all of it: status 404", site.origin);
    assert_eq!(report["notes"], serde_json::json!([note]));
    assert_eq!(site.asked()[..6], ["/robots.txt", "/all", "/late", "/late", "/gone", "/list"]);
    assert_eq!(site.asked().len(), 9);
    assert!(
        site.was_left_alone_for(Duration::from_millis(50), &["/all", "/gone", "/list"]),
        "{:?}",
        site.requests()
    );
}

/// The site asks for pauses. So there is a pause between any two pages, even if the command line demands no
/// pause.
#[test]
fn a_site_that_asks_for_pauses_has_them() {
    let pages = ["/a", "/b", "/c", "/d"];
    let site = Site::new(move |path, _| {
        Some(match path {
            "/robots.txt" => text("User-agent: *\nCrawl-delay: 0.05\n"),
            "/" => html(&links(&pages)),
            _ => html(""),
        })
    });
    let (status, report) = crawl(&folder(), &[&fast(&site)[..], &["--per-site", "8"]].concat());
    assert_eq!((status, &report["fetched"]), (Some(0), &5.into()), "{report}");
    assert!(site.was_left_alone_for(Duration::from_millis(50), &pages), "{:?}", site.requests());
}

#[test]
fn a_server_that_is_busy_is_left_alone() {
    let site = Site::new(|path, times| {
        Some(match path {
            "/" => html(&links(&["/busy", "/next", "/many"])),
            "/busy" if times == 0 => busy(1),
            "/many" if times == 0 => answer(429, "Retry-After: 0\r\n", ""),
            _ => html(""),
        })
    });
    let (status, report) = crawl(&folder(), &fast(&site));
    assert_eq!((status, &report["fetched"]), (Some(0), &4.into()), "{report}");
    let requests = site.requests();
    let at = requests.iter().position(|request| request.path == "/busy").unwrap();
    let alone = requests[at + 1].came.saturating_duration_since(requests[at].answered.unwrap());
    assert!(alone >= Duration::from_secs(1), "{requests:?}");
}

#[test]
fn a_head_can_lead_on() {
    let site = Site::new(|path, _| {
        Some(match path {
            "/" => answer(
                203,
                "Content-Type: text/plain\r\nLink: </two>; rel=\"next\"; title=é, </no>; rel=preload\r\nRefresh: 5; url=/three\r\n",
                "",
            ),
            "/two" => html("<meta http-equiv=refresh content='0; url=/four'><meta name=robots content=none>"),
            "/three" => html("<meta http-equiv=refresh content='0; url=/five'>"),
            _ => html(""),
        })
    });
    let (status, report) = crawl(&folder(), &fast(&site));
    assert_eq!((status, &report["fetched"]), (Some(0), &4.into()), "{report}");
    assert_eq!(site.asked(), ["/robots.txt", "/", "/two", "/three", "/five"]);
}

#[test]
fn a_head_can_forbid_to_follow_links() {
    for (field, fetched) in
        [("", 2), ("X-Robots-Tag: noindex, NoFollow\r\n", 1), ("X-Robots-Tag: some: none\r\n", 1)]
    {
        let site = Site::new(move |path, _| {
            let fields = format!("{field}Content-Type: text/html\r\n");
            Some(if path == "/" { answer(200, &fields, &links(&["/a"])) } else { html("") })
        });
        assert_eq!(crawl(&folder(), &fast(&site)).1["fetched"], fetched, "{field}");
    }
}

/// Checks that the original is fetched although no link leads to it, and that the copy is not saved as a
/// file.
#[test]
fn a_copy_leads_to_its_original() {
    let site = Site::of(&[
        ("/", &links(&["/copy"])),
        ("/copy", "<link rel=canonical href=/original>"),
        ("/original", ""),
    ]);
    let folder = folder();
    let (status, report) = crawl(&folder, &[&fast(&site)[..], &["--save", "pages"]].concat());
    assert_eq!((status, &report["fetched"]), (Some(0), &3.into()), "{report}");
    let host = fs::read_dir(folder.path().join("pages")).unwrap().next().unwrap().unwrap().path();
    let mut files: Vec<_> =
        fs::read_dir(host).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["%index", "original"]);
}

/// Checks that an original that is itself a copy counts as a link: originals beyond `--depth` are reported,
/// and wait for a higher `--depth`. If an original does not exist, the report names the original and its
/// copy.
#[test]
fn originals_are_reported_as_links_are() {
    let copy_of = |path: &str| format!("<link rel=canonical href={path}>");
    let (a, b) = (copy_of("/b"), copy_of("/c"));
    let site = Site::of(&[("/", &links(&["/a"])), ("/a", &a), ("/b", &b)]);
    let folder = folder();
    let run = |depth| crawl(&folder, &[&fast(&site)[..], &["--depth", depth]].concat());
    let (status, report) = run("1");
    assert_eq!((status, &report["fetched"]), (Some(0), &3.into()), "{report}");
    assert_eq!(report["elsewhere"]["beyond_limits"], 1, "{report}");
    let (status, report) = run("2");
    assert_eq!((status, &report["fetched"]), (Some(3), &4.into()), "{report}");
    assert_eq!(report["elsewhere"]["beyond_limits"], 0, "{report}");
    assert_eq!(report["broken"][0]["linked_from"][0], format!("{}/b", site.origin), "{report}");
}

/// The first run fetches all pages except a page that only a list names. The test stops the run while it
/// fetches the page that only the list names.
#[cfg(unix)]
#[test]
fn stopped_at_a_page_of_a_list_it_goes_on_there() {
    let site = Site::new(|path, times| match path {
        "/robots.txt" => Some(text("Sitemap: ORIGIN/list\n")),
        "/list" => Some(text("ORIGIN/listed\n")),
        "/listed" if times == 0 => None,
        _ => Some(html("")),
    });
    let folder = folder();
    let child = start(folder.path(), &fast(&site));
    site.wait_for("/listed", 1);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let stopped = ended(child);
    let (status, first) = report(&stopped);
    assert_eq!((status, &first["fetched"]), (Some(130), &1.into()), "{first}");
    let (status, report) = crawl(&folder, &fast(&site));
    assert_eq!((status, &report["fetched"], &report["waiting"]), (Some(0), &2.into(), &0.into()), "{report}");
}

#[test]
fn a_page_that_cannot_be_written_ends_the_crawl_and_is_not_lost() {
    let site = Site::of(&[("/", &links(&["/a", "/b"])), ("/a", &links(&["/c"])), ("/b", ""), ("/c", "")]);
    let folder = folder();
    let flags = [&fast(&site)[..], &["--save", "pages"]].concat();
    fs::write(folder.path().join("pages"), "in the way").unwrap();
    let run = ended(start(folder.path(), &flags));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!((run.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("pages") && said.contains("cannot be written"), "{said}");
    fs::remove_file(folder.path().join("pages")).unwrap();
    let (status, report) = crawl(&folder, &flags);
    assert_eq!((status, &report["fetched"]), (Some(0), &4.into()), "{report}");
    let host = fs::read_dir(folder.path().join("pages")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_dir(host).unwrap().count(), 4);
}

#[test]
fn higher_limits_go_further() {
    let site = Site::of(&[("/", &links(&["/a", "/b"])), ("/a", &links(&["/c"])), ("/b", ""), ("/c", "")]);
    for limit in [["--depth", "1"], ["--pages", "2"]] {
        let folder = folder();
        let (status, before) = crawl(&folder, &[&fast(&site)[..], &limit].concat());
        assert_eq!((status, before["fetched"].as_u64() < Some(4)), (Some(0), true), "{limit:?}: {before}");
        let (status, after) = crawl(&folder, &fast(&site));
        assert_eq!((status, &after["fetched"]), (Some(0), &4.into()), "{limit:?}: {after}");
    }
}

#[test]
fn what_failed_is_tried_again_if_that_is_asked_for() {
    let site = Site::new(|path, times| {
        Some(match path {
            "/" => html(&links(&["/a", "/b", "/c"])),
            "/a" if times == 0 => status(500),
            "/c" if times == 0 => status(429),
            "/b" if times == 0 => answer(200, "Content-Encoding: br\r\n", "not asked for"),
            "/a" | "/b" | "/c" => html(""),
            _ => status(404),
        })
    });
    let folder = folder();
    let flags = [&fast(&site)[..], &["--retries", "0"]].concat();
    let (status, first) = crawl(&folder, &flags);
    assert_eq!((status, first["broken"].as_array().unwrap().len()), (Some(3), 3), "{first}");
    let (status, second) = crawl(&folder, &flags);
    assert_eq!((status, second["broken"].as_array().unwrap().len()), (Some(3), 3), "{second}");
    let (status, third) = crawl(&folder, &[&flags[..], &["--retry-failed"]].concat());
    assert_eq!((status, &third["fetched"]), (Some(0), &4.into()), "{third}");
}

#[test]
fn a_demonstration_goes_on_with_the_same_site() {
    let folder = folder();
    let (status, first) =
        crawl(&folder, &["--demo", "60", "--pages", "30", "--depth", "3", "--retries", "0"]);
    assert!(matches!(status, Some(0 | 3)), "{first}");
    assert!(first["elsewhere"]["beyond_limits"].as_u64() > Some(0), "{first}");
    let (status, second) =
        crawl(&folder, &["--demo", "60", "--pages", "300", "--depth", "12", "--retries", "3"]);
    assert_eq!((status, second["fetched"].as_u64() > Some(60)), (Some(3), true), "{second}");
    let mut sites = BTreeSet::new();
    let state = State::open(&folder.path().join("state")).unwrap();
    state
        .each(|url, _| {
            sites.insert(url.split('/').nth(2).unwrap().to_owned());
            Ok(())
        })
        .unwrap();
    drop(state);
    assert_eq!(sites.len(), 1, "{sites:?}");
    let other = ended(start(folder.path(), &["--demo", "61"]));
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(other.status.code() == Some(1) && said.contains("60 pages"), "{said}");
}

/// On a terminal, lines show the progress of the crawl. The site sends the last page only after the test
/// has seen the progress lines.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_sees_how_far_it_is() {
    let is_seen = Arc::new(Latch::new(1));
    let waits = Arc::clone(&is_seen);
    let site = Site::new(move |path, _| {
        if path == "/b" {
            let _ = waits.wait_timeout(WATCHDOG);
        }
        Some(if path == "/" { html(&links(&["/a", "/b"])) } else { html("") })
    });
    let folder = folder();
    let crawl = env!("CARGO_BIN_EXE_crawl");
    let line = format!("{crawl} {} --state state --allow-private --delay 0 --timeout 5m", site.origin);
    let mut script = Command::new("script");
    script.args(["-qec", &line, "typescript"]).current_dir(folder.path()).stdin(Stdio::null());
    let Ok(mut script) = script.stdout(Stdio::piped()).spawn() else {
        return eprintln!("there is no program script: nothing was tested");
    };
    let (mut said, mut piece, mut output) = (String::new(), [0; 4096], script.stdout.take().unwrap());
    while let Ok(count @ 1..) = output.read(&mut piece) {
        said.push_str(&String::from_utf8_lossy(&piece[..count]));
        if said.contains("1 being fetched") && said.contains(&format!("{}: ", site.origin)) {
            is_seen.count_down();
        }
    }
    assert!(script.wait().unwrap().success(), "{said}");
    assert_eq!(is_seen.count(), 0, "{said}");
    assert!(said.contains("3 pages fetched, 0 failed"), "{said}");
}
