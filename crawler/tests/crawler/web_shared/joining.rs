//! Tests which processes may join a crawl.

use super::{Shared, is_complete, said};
use crate::child::{crawl, ended};
use std::process::Command;
use std::time::Duration;

#[test]
#[ignore = "needs redis-server"]
fn who_cannot_join_is_told_why() {
    let shared = Shared::of(5, Duration::ZERO, 3);
    is_complete(&ended(shared.start(0, &[])));
    let with_password = shared.engine.url().replace("//", "//:wrong@");
    for (process, flags, sentence) in [
        (1, &["--depth", "3"][..], "--depth 20 and not 3"),
        (0, &["--crawl", "other"], "has pages of another crawl"),
        (2, &["--frontier", "redis://127.0.0.1:1/0", "--patience", "300ms"], "cannot be reached"),
        (2, &["--frontier", "http://127.0.0.1/"], "--frontier"),
        #[cfg(not(feature = "tls"))]
        (2, &["--frontier", "rediss://127.0.0.1:1/0"], "--features redis,tls"),
        (2, &["--frontier", &with_password], "is the password in --frontier right?"),
    ] {
        let folder = shared.folders[process].path();
        let mut command = crawl(folder, shared.site.start_url().as_str(), &["--allow-private"]);
        let all =
            ["--frontier", &shared.engine.url(), "--crawl", "test", "--per-site", "8", "--threads", "4"];
        let mut line: Vec<&str> = all.to_vec();
        if let Some(at) = line.iter().position(|word| *word == flags[0]) {
            line[at + 1] = flags[1];
            line.extend(&flags[2..]);
        } else {
            line.extend(flags);
        }
        let output = ended(command.args(line).spawn().unwrap());
        assert_eq!(output.status.code(), Some(1), "{flags:?}");
        assert!(said(&output).contains(sentence), "{flags:?}: {}", said(&output));
    }
    let status = |flags: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_crawl")).arg("status").args(flags).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout.clone()).unwrap() + &said(&output))
    };
    let url = shared.engine.url();
    let (code, text) = status(&["--frontier", &url, "--crawl", "test"]);
    assert!(text.starts_with("test: 5 pages over, 0 to do, 0 left to another run; 5 seen\n"), "{text}");
    assert_eq!(code, Some(0), "{text}");
    for (code, flags, sentence) in [
        (1, &["--frontier", &*url, "--crawl", "other"][..], "there is no crawl other in this engine"),
        (
            1,
            &["--frontier", "redis://127.0.0.1:1/0", "--crawl", "test"],
            "the engine at 127.0.0.1:1 cannot be reached",
        ),
        (1, &["--frontier", &url, "--crawl", "a b"], "a name has letters, digits"),
        (2, &["--crawl", "test"], "--frontier <URL>"),
        (2, &["--frontier", &url], "--crawl <NAME>"),
    ] {
        let (ended, text) = status(flags);
        assert!(ended == Some(code) && text.contains(sentence), "{flags:?}: {ended:?}, {text}");
    }
}

#[test]
#[ignore = "needs redis-server"]
fn a_user_with_a_password_may_do_what_the_crawl_needs() {
    let shared = Shared::of(20, Duration::ZERO, 2);
    let say = |words: &[&str]| assert_eq!(shared.engine.say(words), "+OK", "{words:?}");
    say(&["ACL", "SETUSER", "crawler", "on", ">secret", "~{test}:*", "+@all", "-@dangerous"]);
    say(&["ACL", "SETUSER", "default", "resetpass", ">other"]);
    let at = |who: &str| shared.engine.url().replace("//", &format!("//{who}@"));
    is_complete(&ended(shared.start_at(0, &at("crawler:secret"), &[])));
    for who in ["crawler:other", "stranger:secret", ":secret"] {
        let output = ended(shared.start_at(1, &at(who), &[]));
        assert_eq!(output.status.code(), Some(1), "{who}: {}", said(&output));
        assert!(said(&output).contains("is the password in --frontier right?"), "{who}: {}", said(&output));
        assert!(!said(&output).contains("secret"), "{who}: {}", said(&output));
    }
    let output = ended(shared.start(1, &[]));
    assert!(said(&output).contains("is the password in --frontier right?"), "{}", said(&output));
}

#[test]
fn an_engine_and_a_crawl_are_named_together() {
    let folder = tempfile::tempdir().unwrap();
    for flag in [["--frontier", "redis://127.0.0.1:1/0"], ["--crawl", "test"]] {
        let output = ended(crawl(folder.path(), "http://127.0.0.1:1/", &flag).spawn().unwrap());
        assert_eq!(output.status.code(), Some(2), "{flag:?}");
        assert!(said(&output).contains("required arguments were not provided"), "{}", said(&output));
    }
}
