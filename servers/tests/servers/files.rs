//! Tests the files below `--root`: which files the server finds, what its answers contain, and that no
//! path leads out of the directory.

use crate::support::{POOLED, Reply, STAGES, Stage, eventually, every_stage};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Returns a directory to serve and the path for `--root`; the directory lies in another directory that must
/// not be served.
fn site() -> (TempDir, String) {
    let outer = tempfile::tempdir().unwrap();
    fs::write(outer.path().join("secret.txt"), "secret").unwrap();
    let root = outer.path().join("root");
    let write = |path: &str, bytes: &[u8]| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("index.html", b"<h1>front</h1>");
    write("404.html", b"<h1>lost</h1>");
    write("chapter/index.html", b"chapter");
    write("chapter/a b ä.txt", b"spaced");
    write("style.css", b"p {}");
    write("empty.js", b"");
    write("hello", b"never served: the endpoint comes first");
    write("no-index/file.bin", &(0..=255).cycle().take(1_000_000).collect::<Vec<u8>>());
    let root = root.to_str().unwrap().to_owned();
    (outer, root)
}

fn every_stage_serves(root: &str, test: impl Fn(&mut Stage) + Sync) {
    every_stage(&["--root", root], test);
}

fn get_if(stage: &Stage, path: &str, condition: &str) -> Reply {
    let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\n{condition}\r\nConnection: close\r\n\r\n");
    let mut client = stage.connect();
    let reply = client.send(request).reply();
    client.assert_closed();
    reply
}

#[test]
fn files_are_served() {
    let (_outer, root) = site();
    every_stage_serves(&root, |stage| {
        for (path, content_type, body) in [
            ("/", "text/html; charset=utf-8", "<h1>front</h1>"),
            ("/index.html?query", "text/html; charset=utf-8", "<h1>front</h1>"),
            ("/chapter/", "text/html; charset=utf-8", "chapter"),
            ("/chapter/a%20b%20%C3%A4.txt", "text/plain; charset=utf-8", "spaced"),
            ("/style.css", "text/css; charset=utf-8", "p {}"),
            ("/empty.js", "text/javascript; charset=utf-8", ""),
            ("/hello", "text/plain; charset=utf-8", "Hello, world!"),
        ] {
            let reply = stage.get(path);
            assert_eq!((reply.status, reply.text()), (200, body), "{path}");
            assert_eq!(reply.header("Content-Type"), Some(content_type), "{path}");
        }
    });
}

/// The server sends a quarter of a gibibyte, but never holds more than a small part of it in memory.
#[cfg(target_os = "linux")]
#[test]
fn a_large_file_never_sits_in_memory() {
    let root = tempfile::tempdir().unwrap();
    let length = 1 << 28;
    fs::File::create(root.path().join("large.bin")).unwrap().set_len(length).unwrap();
    every_stage(&["--quiet", "--root", root.path().to_str().unwrap()], |stage| {
        stage.assert_alive();
        let before = stage.peak_kib();
        let mut client = stage.connect();
        client.send("GET /large.bin HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        let arrived = std::io::copy(&mut client.stream, &mut std::io::sink()).unwrap();
        assert!(arrived > length, "with its head: {arrived}");
        let grown = stage.peak_kib() - before;
        assert!(grown < 16 * 1024, "{grown} KiB more than the {before} KiB before");
    });
}

#[test]
fn a_directory_is_its_index() {
    let (_outer, root) = site();
    every_stage_serves(&root, |stage| {
        let reply = stage.get("/chapter?x=1");
        assert_eq!((reply.status, reply.header("Location")), (301, Some("/chapter/?x=1")));
        for path in ["/no-index/", "/index.html/", "/nothing", "/nothing/", "/index.html/x"] {
            let reply = stage.get(path);
            assert_eq!((reply.status, reply.text()), (404, "<h1>lost</h1>"), "{path}");
        }
    });
}

#[test]
fn nothing_leads_out_of_the_root() {
    let (_outer, root) = site();
    every_stage_serves(&root, |stage| {
        let paths = r"/../secret.txt /chapter/../../secret.txt /%2e%2e/secret.txt /%2E./secret.txt /..%2fsecret.txt
                      /..%5csecret.txt /..\secret.txt /%252e%252e/secret.txt //etc/passwd /%2fetc%2fpasswd /chapter/%00
                      /index.html%00.txt";
        for path in paths.split_whitespace() {
            let reply = stage.get(path);
            assert!(matches!(reply.status, 400 | 404), "{path}: {}", reply.status);
            assert!(!reply.text().contains("secret") && !reply.text().contains("root:"), "{path}");
        }
        for path in ["/%", "/%zz", "/%ff"] {
            assert_eq!(stage.get(path).status, 400, "{path}");
        }
        let long_name = format!("/{}", "a".repeat(2000));
        assert_eq!(stage.get(&long_name).status, 404);
    });
}

#[cfg(unix)]
#[test]
fn links_may_lead_within_the_root_only() {
    use std::os::unix::fs::symlink;
    let (outer, root) = site();
    let root_path = Path::new(&root);
    symlink(outer.path().join("secret.txt"), root_path.join("out.txt")).unwrap();
    symlink(outer.path(), root_path.join("up")).unwrap();
    symlink("style.css", root_path.join("in.css")).unwrap();
    symlink("loop", root_path.join("loop")).unwrap();
    // A directory beside the root; the name of this directory begins with the name of the root.
    fs::create_dir(outer.path().join("root-too")).unwrap();
    fs::write(outer.path().join("root-too/secret.txt"), "secret").unwrap();
    symlink("../root-too", root_path.join("sibling")).unwrap();
    every_stage_serves(&root, |stage| {
        for path in ["/out.txt", "/up/secret.txt", "/up/", "/up", "/sibling/secret.txt", "/loop"] {
            let reply = stage.get(path);
            assert_eq!((reply.status, reply.text()), (404, "<h1>lost</h1>"), "{path}");
        }
        // If the system has no call that keeps links below the root, the server follows no links.
        if cfg!(target_os = "linux") {
            assert_eq!(stage.get("/in.css").text(), "p {}");
        }
    });
}

/// Runs `test` while another thread keeps replacing `path` by one of two files or links; this other thread
/// makes each of them beside `path` and then moves it.
#[cfg(unix)]
fn while_swapping(path: &Path, makers: [&(dyn Fn(&Path) + Sync); 2], test: impl FnOnce()) {
    struct OnDrop<'a>(&'a AtomicBool);
    impl Drop for OnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = AtomicBool::new(false);
    let beside = path.with_extension("beside");
    let swap = |make: &(dyn Fn(&Path) + Sync)| {
        make(&beside);
        fs::rename(&beside, path).unwrap();
    };
    swap(makers[0]);
    thread::scope(|scope| {
        let _over = OnDrop(&is_over); // also when the test fails
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                makers.into_iter().rev().for_each(swap);
            }
        });
        test();
    });
}

#[cfg(unix)]
#[test]
fn a_file_that_becomes_a_link_meanwhile_leads_nowhere_else() {
    use std::os::unix::fs::symlink;
    let (outer, root) = site();
    let secret = outer.path().join("secret.txt");
    // A new file each time: the server opens it anew when its name is gone.
    let inside = |path: &Path| fs::write(path, "p {}").unwrap();
    let outside = |path: &Path| symlink(&secret, path).unwrap();
    let stage = Stage::start(POOLED, &["--quiet", "--root", &root]);
    while_swapping(&Path::new(&root).join("flip.css"), [&inside, &outside], || {
        let mut client = stage.connect();
        for _ in 0..5_000 {
            let reply = client.get("/flip.css");
            assert!(matches!(reply.status, 200 | 404), "{}", reply.status);
            assert!(matches!(reply.text(), "p {}" | "<h1>lost</h1>"), "{}", reply.text());
        }
    });
}

/// The server keeps a file open for a second. A client must not notice that when the file's name is gone.
#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_or_removed_is_not_served_any_more() {
    let (_outer, root) = site();
    let (path, beside) = (Path::new(&root).join("news.txt"), Path::new(&root).join("beside.txt"));
    for binary in STAGES {
        let stage = Stage::start(binary, &["--quiet", "--root", &root]);
        for number in 0..50 {
            let text = number.to_string();
            fs::write(&beside, &text).unwrap();
            fs::rename(&beside, &path).unwrap();
            assert_eq!(stage.get("/news.txt").text(), text);
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(stage.get("/news.txt").status, 404);
    }
}

/// The file keeps a name when its path leads elsewhere, so only the time ends the server's trust.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_leads_elsewhere_does_so_within_a_second() {
    use std::os::unix::fs::symlink;
    let (_outer, root) = site();
    let (path, beside) = (Path::new(&root).join("now.txt"), Path::new(&root).join("beside"));
    let leads_to = |name: &str| {
        symlink(name, &beside).unwrap();
        fs::rename(&beside, &path).unwrap();
    };
    leads_to("style.css");
    let stage = Stage::start(POOLED, &["--quiet", "--root", &root]);
    assert_eq!(stage.get("/now.txt").text(), "p {}");
    leads_to("index.html");
    eventually("the old file is served", || stage.get("/now.txt").text() == "<h1>front</h1>");
}

/// A thread that opens a pipe waits without a time limit for the other end of the pipe.
#[cfg(unix)]
#[test]
fn a_file_that_becomes_a_pipe_meanwhile_holds_no_thread() {
    let (outer, root) = site();
    let pipe = outer.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let to_file = |path: &Path| fs::write(path, "p {}").unwrap();
    let to_pipe = |path: &Path| fs::hard_link(&pipe, path).unwrap();
    let stage = Stage::start(POOLED, &["--quiet", "--root", &root]);
    while_swapping(&Path::new(&root).join("flip.txt"), [&to_file, &to_pipe], || {
        let mut client = stage.connect();
        for _ in 0..5_000 {
            assert!(matches!(client.get("/flip.txt").status, 200 | 404));
        }
    });
}

#[test]
fn names_that_begin_with_a_dot_are_served_if_asked_for() {
    let (_outer, root) = site();
    for name in [".git/config", ".env", "chapter/.draft.txt", ".well-known/security.txt", ".well-known/.a"] {
        let path = Path::new(&root).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    let hidden = "/.git/config /%2egit/config /.git/ /.git /.env /chapter/.draft.txt /.well-known/.a";
    every_stage_serves(&root, |stage| {
        for path in hidden.split(' ') {
            let reply = stage.get(path);
            assert_eq!((reply.status, reply.text()), (404, "<h1>lost</h1>"), "{path}");
        }
        assert_eq!(stage.get("/.well-known/security.txt").text(), ".well-known/security.txt");
    });
    every_stage(&["--dot-files", "--root", &root], |stage| {
        for path in ["/.git/config", "/.env", "/chapter/.draft.txt", "/.well-known/.a"] {
            assert_eq!(stage.get(path).text(), &path[1..]);
        }
        assert_eq!(stage.get("/.git").header("Location"), Some("/.git/"));
    });
}

#[test]
fn a_current_copy_is_not_sent_again() {
    let (_outer, root) = site();
    every_stage_serves(&root, |stage| {
        let first = stage.get("/style.css");
        let (etag, modified) = (first.header("ETag").unwrap(), first.header("Last-Modified").unwrap());
        for condition in [format!("If-None-Match: {etag}"), format!("If-Modified-Since: {modified}")] {
            let reply = get_if(stage, "/style.css", &condition);
            assert_eq!((reply.status, reply.header("ETag")), (304, Some(etag)), "{condition}");
            assert_eq!(reply.header("Content-Length"), None);
        }
        for condition in ["If-None-Match: \"x\"", "If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT"] {
            assert_eq!(get_if(stage, "/style.css", condition).text(), "p {}", "{condition}");
        }
    });
}

#[test]
fn a_client_may_ask_for_one_state_of_a_file_only() {
    let (_outer, root) = site();
    every_stage_serves(&root, |stage| {
        let first = stage.get("/style.css");
        let (etag, modified) = (first.header("ETag").unwrap(), first.header("Last-Modified").unwrap());
        let long_ago = "Sat, 01 Jan 2000 00:00:00 GMT";
        for (condition, expected) in [
            (format!("If-Match: {etag}"), 200),
            ("If-Match: *".to_owned(), 200),
            ("If-Match: \"other\"".to_owned(), 412),
            (format!("If-Match: W/{etag}"), 412),
            (format!("If-Unmodified-Since: {modified}"), 200),
            (format!("If-Unmodified-Since: {long_ago}"), 412),
            (format!("If-Match: {etag}\r\nIf-Unmodified-Since: {long_ago}"), 200),
            (format!("If-Match: \"other\"\r\nIf-None-Match: {etag}"), 412),
            (format!("If-Match: {etag}\r\nIf-None-Match: {etag}"), 304),
            (format!("If-Match: {etag}\r\nRange: bytes=0-0"), 206),
            ("If-Match: \"other\"\r\nRange: bytes=0-0".to_owned(), 412),
            (format!("If-None-Match: {etag}\r\nRange: bytes=99-"), 304),
        ] {
            let reply = get_if(stage, "/style.css", &condition);
            assert_eq!((reply.status, reply.header("ETag")), (expected, Some(etag)), "{condition}");
        }
        // A condition applies only if the file exists.
        for (path, expected) in [("/nothing", 404), ("/chapter", 301)] {
            assert_eq!(get_if(stage, path, "If-Match: \"other\"").status, expected, "{path}");
        }
    });
}

#[test]
fn a_changed_file_has_another_tag() {
    let (_outer, root) = site();
    let path = Path::new(&root).join("style.css");
    // The stages run one after another, because they all serve the same file.
    for binary in STAGES {
        let stage = Stage::start(binary, &["--root", &root]);
        fs::write(&path, "p {}").unwrap();
        let first = stage.get("/style.css");
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH - Duration::from_secs(1_000)).unwrap();
        let second = stage.get("/style.css");
        assert_eq!(
            (second.status, second.header("Last-Modified")),
            (200, None),
            "HTTP has no date before 1970"
        );
        assert_ne!(first.header("ETag"), second.header("ETag"));
    }
}

#[test]
fn head_has_the_fields_of_get() {
    let (_outer, root) = site();
    every_stage_serves(&root, |stage| {
        let get = stage.get("/no-index/file.bin");
        let mut client = stage.connect();
        client.send("HEAD /no-index/file.bin HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        let head = client.reply_without_body();
        for name in ["Content-Length", "Content-Type", "ETag", "Last-Modified", "Cache-Control"] {
            assert_eq!(head.header(name), get.header(name), "{name}");
        }
        assert_eq!(head.header("Content-Length"), Some("1000000"));
        client.assert_closed();
    });
}

#[test]
fn a_root_without_index_lists_the_endpoints() {
    let empty = tempfile::tempdir().unwrap();
    every_stage_serves(empty.path().to_str().unwrap(), |stage| {
        let reply = stage.get("/");
        assert_eq!(reply.status, 200);
        assert!(reply.text().contains("/hello"));
        assert!(reply.text().contains("index.html") && !reply.text().contains("--root"), "{}", reply.text());
    });
}
