//! Tests the mail check from a shell: arguments, exit status, JSON, signals.

use crate::child;
use crate::mail::{CANARY, SILENT, WATCHDOG, Wrong, echoes, refuses, says, script};
use crawler::mail::demo::Demo;
use crawler::mail::{Account, Protocol, Security};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn spawn(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mailcheck"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it was built")
}

/// Returns the program's complete output, and checks that the password is nowhere in it.
fn ended(child: Child) -> Output {
    let output = child::ended(child);
    let shown = text(&output.stdout) + &text(&output.stderr);
    assert!(!shown.contains(CANARY) && !shown.contains("canary"), "{shown}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Servers, and a hosts file that names them.
struct Servers {
    demo: Demo,
    folder: TempDir,
}

impl Servers {
    fn with(faults: &[(Wrong, u64)]) -> Servers {
        let names: Vec<_> = (0..faults.len()).map(|number| format!("account {number}")).collect();
        let scripts = faults.iter().zip(&names).map(|((fault, mail), name)| {
            let mut script = script(Protocol::Imap, Security::Plain, fault.clone());
            script.mail = *mail;
            (name.as_str(), script)
        });
        let demo = Demo::start(scripts, None).expect("ports");
        let folder = tempfile::tempdir().expect("a directory");
        fs::write(folder.path().join("password"), CANARY).expect("a file");
        let mut hosts = String::new();
        for account in demo.accounts() {
            let Account { name, host, port, user, .. } = &**account;
            let _ = writeln!(
                hosts,
                "[[account]]\nname = \"{name}\"\nhost = \"{host}\"\nport = {port}\nprotocol = \"imap\"\nsecurity = \"plain\"\n\
                 allow_plain_password = true\nuser = \"{user}\"\npassword_file = \"password\"\n"
            );
        }
        fs::write(folder.path().join("hosts.toml"), hosts).expect("a file");
        Servers { demo, folder }
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        let hosts = self.folder.path().join("hosts.toml");
        spawn(&[&["--hosts", hosts.to_str().expect("it is ASCII")], arguments].concat())
    }
}

fn no_folder() -> Wrong {
    says("STATUS", "TAG NO there is no such folder")
}

#[test]
fn the_exit_status_says_whether_there_is_new_mail() {
    for (faults, status) in [
        (&[(None, 3), (refuses(Protocol::Imap, "no"), 1)][..], 0),
        (&[(None, 0), (None, 0)], 1),
        (&[(None, 0), (echoes(Protocol::Imap), 1)], 3),
    ] {
        let servers = Servers::with(faults);
        for arguments in [&["--within", "30s"][..], &["--within", "30s", "--json"]] {
            let output = ended(servers.spawn(arguments));
            assert_eq!(output.status.code(), Some(status), "{faults:?}: {output:?}");
        }
    }
}

#[test]
fn json_has_an_answer_for_each_account() {
    let servers = Servers::with(&[(None, 3), (None, 0), (no_folder(), 1)]);
    let report = json(&ended(servers.spawn(&["--within", "30s", "--json"])));
    let accounts = report["accounts"].as_array().expect("a list");
    let answers: Vec<_> =
        accounts.iter().map(|account| (account["name"].as_str(), account["answer"].as_str())).collect();
    let [first, second, third] = ["account 0", "account 1", "account 2"].map(Some);
    assert_eq!(answers, [(first, Some("new")), (second, Some("none")), (third, Some("failed"))]);
    assert!(accounts.iter().all(|account| account["milliseconds"].is_u64()), "{report}");
    assert_eq!(accounts[0]["count"], 3);
    assert!(accounts[2]["why"].as_str().is_some_and(|why| why.contains("no such folder")), "{report}");
    assert_eq!((&report["threads_left"], &report["failed"]), (&0.into(), &1.into()));
}

#[test]
fn the_table_has_a_line_for_each_account() {
    let servers = Servers::with(&[(None, 3), (None, 0), (no_folder(), 1)]);
    let output = ended(servers.spawn(&["--within", "30s"]));
    let shown = text(&output.stdout);
    for part in [
        "ms  3 new\n",
        "ms  no new mail\n",
        "ms  failed: the server refused",
        "1 of 3 accounts, 1 failed\n",
        "alive: 0\n",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn a_wrong_command_line_or_hosts_file_is_status_2() {
    let servers = Servers::with(&[(None, 3)]);
    for arguments in
        [&["--within", "0s"][..], &["--within", "soon"], &["--threads", "0"], &["--demo"], &["--no"]]
    {
        assert_eq!(ended(servers.spawn(arguments)).status.code(), Some(2), "{arguments:?}");
    }
    assert_eq!(ended(spawn(&[])).status.code(), Some(2));
    let hosts = servers.folder.path().join("hosts.toml");
    for (mistake, said) in [
        ("password = \"canary\"\n", "hosts.toml: line 11: a password does not belong in this file"),
        ("password = canary\n", "hosts.toml: line 11: this is not what can stand here"),
    ] {
        let good = fs::read_to_string(&hosts).expect("it is there");
        fs::write(&hosts, good.clone() + mistake).expect("it is ours");
        let output = ended(servers.spawn(&[]));
        fs::write(&hosts, good).expect("it is ours");
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(said), "{output:?}");
        assert_eq!(text(&output.stdout), "");
    }
    assert_eq!(servers.demo.heard(0).all(), "");
}

#[test]
fn the_demo_needs_nothing_and_shows_every_kind_of_answer() {
    let output = ended(spawn(&["--demo", "--json"]));
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let report = json(&output);
    assert_eq!(report["accounts"].as_array().map(Vec::len), Some(8));
    assert_eq!((&report["with_new_mail"], &report["threads_left"]), (&0.into(), &0.into()), "{report}");
    for late in 6..8 {
        let why = report["accounts"][late]["why"].as_str();
        assert!(why.is_some_and(|why| why.starts_with("no answer within 2 s (")), "{report}");
    }
}

/// The mail is in accounts that the listing misses: an account that fails, and an account whose server
/// needs three seconds.
#[test]
fn the_listing_says_no_new_mail_and_leaves_threads() {
    let output = ended(spawn(&["--demo", "--listing"]));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output.stdout);
    let left = said.strip_prefix("no new mail\nthreads of the check that are still alive: ");
    assert!(left.is_some_and(|left| left.trim() != "0"), "{said}"); // at least the thread of the silent server
}

#[test]
#[cfg(unix)]
fn a_signal_calls_the_check_off_and_prints_what_is_known() {
    let servers = Servers::with(&[(None, 3), (SILENT, 1)]);
    let child = servers.spawn(&["--within", "60m", "--json"]);
    assert!(servers.demo.heard(0).wait_for("LOGOUT", WATCHDOG));
    assert!(servers.demo.heard(1).wait_for("connected", WATCHDOG));
    signal(&child);
    let output = ended(child);
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let report = json(&output);
    assert_eq!(report["accounts"][0]["answer"], "new");
    assert!(
        report["accounts"][1]["why"].as_str().is_some_and(|why| why.starts_with("called off (")),
        "{report}"
    );
    assert_eq!((&report["interrupted"], &report["threads_left"]), (&true.into(), &0.into()));
}

/// The listing ignores the token, so only a second signal ends it.
#[test]
#[cfg(unix)]
fn a_second_signal_ends_the_process() {
    let servers = Servers::with(&[(SILENT, 1)]);
    let mut child = servers.spawn(&["--within", "60m", "--listing"]);
    assert!(servers.demo.heard(0).wait_for("connected", WATCHDOG));
    let end = Instant::now() + WATCHDOG;
    while child.try_wait().expect("it is ours").is_none() && Instant::now() < end {
        signal(&child); // two signals at the same time count as one
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = ended(child);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(130), ""));
}

#[cfg(unix)]
fn signal(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("a shell's kill");
    assert!(sent.success());
}
