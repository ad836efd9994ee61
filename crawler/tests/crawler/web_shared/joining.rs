//! Who may join a crawl.

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
    let mut status = Command::new(env!("CARGO_BIN_EXE_crawl"));
    status.args(["status", "--frontier", &shared.engine.url(), "--crawl", "test"]);
    let text = String::from_utf8(status.output().unwrap().stdout).unwrap();
    assert!(text.starts_with("test: 5 pages over, 0 to do, 0 left to another run; 5 seen\n"), "{text}");
}
