//! Checks which entries a hosts file may contain, and that a message about a mistake in the file shows no
//! password.

use crawler::mail::accounts::{EXAMPLE, read};
use crawler::mail::{Account, Login, Protocol, Security};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// A text in every position where a user may write a password by mistake.
const CANARY: &str = "canary4711";

const ACCOUNT: &str =
    "[[account]]\nname = \"work\"\nhost = \"mail.example.org\"\nprotocol = \"imap\"\nuser = \"ada\"\n";

/// Creates a folder with a hosts file and some password files.
fn folder(hosts: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).expect("a file");
    write("hosts.toml", hosts.as_bytes());
    write("good", format!("{CANARY}\r\n").as_bytes());
    write("empty", b"\n");
    write("two lines", format!("{CANARY}\n{CANARY}\n").as_bytes());
    write("zero", format!("{CANARY}\0").as_bytes());
    write("long", CANARY.repeat(2000).as_bytes());
    folder
}

fn read_in(folder: &Path) -> anyhow::Result<Vec<Arc<Account>>> {
    let env = |name: &str| match name {
        "SET" => Some(CANARY.into()),
        "BROKEN" => Some(format!("{CANARY}\r").into()),
        _ => None,
    };
    read(&folder.join("hosts.toml"), env)
}

fn good(hosts: &str) -> Vec<Arc<Account>> {
    let accounts = read_in(folder(hosts).path()).unwrap_or_else(|error| panic!("{error}: {hosts}"));
    assert!(!format!("{accounts:?}").contains("canary"));
    accounts
}

fn error(hosts: &str) -> String {
    let error = read_in(folder(hosts).path()).expect_err(hosts);
    let shown = format!("{error} {error:?}");
    assert!(!shown.to_lowercase().contains("canary"), "{shown}");
    error.to_string()
}

#[test]
fn an_account_has_what_the_file_says_and_else_what_is_usual() {
    let hosts = format!(
        "{ACCOUNT}password_file = \"good\"\n\
         [[account]]\nname = \"school\"\nhost = \"::1\"\nport = 0x7d0\nprotocol = \"pop3\"\nsecurity = \"plain\"\nuser = \"a b\"\n\
         password_env = \"SET\"\nallow_plain_password = true\nca = \"ca.pem\"\n\
         {}password_env = \"SET\"\nfolder = \"Entwürfe\"\nsecurity = \"starttls\"\n\
         {}token_file = \"good\"\n",
        ACCOUNT.replace("work", "third"),
        ACCOUNT.replace("work", "token"),
    );
    let all = good(&hosts);
    let [work, school, third, token] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&*work.name, &*work.host, &*work.user, work.port), ("work", "mail.example.org", "ada", 993));
    assert_eq!((work.protocol, work.security, &*work.folder), (Protocol::Imap, Security::Tls, "INBOX"));
    assert!(!work.allow_plain_password && work.ca.is_none());
    assert_eq!((school.protocol, school.security, school.port), (Protocol::Pop3, Security::Plain, 2000));
    assert!(school.allow_plain_password && school.ca.as_ref().is_some_and(|ca| ca.is_absolute()));
    assert_eq!((third.security, third.port, &*third.folder), (Security::StartTls, 143, "Entwürfe"));
    assert!(matches!(token.login, Login::Token(_)));
    // The end of the line is not part of the password.
    assert_eq!(work.clean(&format!("<{CANARY}>")), "<[password]>");
    assert_eq!(school.clean(&format!("<{CANARY}>")), "<[password]>");
}

/// The example's lines that are commented out are correct as well: they show the default values.
#[test]
fn the_example_of_the_help_is_right() {
    assert!(EXAMPLE.lines().all(|line| line.chars().count() <= 100), "the help would break a longer line");
    for example in [EXAMPLE.to_owned(), EXAMPLE.replace("\n# ", "\n")] {
        let [account] = &good(&example.replace("work.password", "good"))[..] else { panic!("{example}") };
        assert_eq!((account.port, account.security, &*account.folder), (993, Security::Tls, "INBOX"));
        assert!(!account.allow_plain_password);
    }
}

/// Checks the messages about the mistakes in a table. For many of the mistakes, the parser's own message
/// would show the text of the file.
#[test]
fn a_mistake_is_named_by_its_line_and_shows_nothing_of_it() {
    for line in [
        "password = canary4711",
        "password_file = \"canary4711",
        "user = \"canary4711\"",
        "canary4711",
        "canary4711 = \"canary4711\"",
        "\"canary4711\" = 1",
        "port = \"canary4711\"",
        "port = 0",
        "port = 65536",
        "port = 99.5",
        "security = \"canary4711\"",
        "security = 4711",
        "allow_plain_password = \"canary4711\"",
        "folder = \"\"",
        "folder = \"canary4711\\r\\n\"",
        "ca = [\"canary4711\"]",
        "password_file = 4711",
    ] {
        let error = error(&format!("{ACCOUNT}{line}\n"));
        assert!(error.starts_with("line 6: this is not what can stand here"), "{line}: {error}");
    }
    for line in ["password = \"canary4711\"", "password.canary4711 = 1"] {
        let error = error(&format!("{ACCOUNT}{line}\n"));
        assert!(error.starts_with("line 6: a password does not belong in this file"), "{line}: {error}");
    }
}

#[test]
fn a_login_that_cannot_be_used_is_named_by_its_account() {
    let one = "it needs one of password_file, password_env and token_file";
    let bytes = "names must have from 1 to 16384 bytes";
    let line = "names must be one line, and without a zero byte";
    for (lines, why) in [
        ("", one),
        ("password_env = \"SET\"\ntoken_file = \"good\"", one),
        (
            "password_file = \"canary\"",
            "the file that `password_file` names cannot be read: entity not found",
        ),
        ("password_file = \"empty\"", bytes),
        ("password_file = \"long\"", bytes),
        ("password_file = \"two lines\"", line),
        ("password_file = \"zero\"", line),
        ("password_env = \"CANARY4711\"", "the environment variable of `password_env` is not set"),
        ("password_env = \"BROKEN\"", line),
        ("token_file = \"two lines\"", line),
    ] {
        let error = error(&format!("# work\n{ACCOUNT}{lines}\n"));
        assert!(error.starts_with("the account in line 2: ") && error.ends_with(why), "{lines}: {error}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let whole = format!("{ACCOUNT}password_file = \"good\"\n");
    for key in ["name", "host", "protocol", "user"] {
        let lines: Vec<_> = whole.lines().filter(|line| !line.starts_with(key)).collect();
        assert_eq!(error(&lines.join("\n")), format!("line 1: `{key}` is missing"));
    }
    for (hosts, why) in [
        ("# canary4711\n", "line 1: `account` is missing"),
        ("account = []", "it has no accounts: each begins with a line [[account]]"),
        ("\n[account]\nname = \"canary4711\"", "line 2: this is not what can stand here"),
        ("canary4711 = 1\n", "line 1: this is not what can stand here"),
    ] {
        let error = error(hosts);
        assert!(error.starts_with(why), "{hosts}: {error}");
    }
    let missing = read(Path::new("/there/is/no/such/file"), |_| None).expect_err("there is none");
    assert_eq!(missing.to_string(), "it cannot be read");
}
