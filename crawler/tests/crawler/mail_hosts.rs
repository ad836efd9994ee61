//! The hosts file: what stands in it, and that a mistake in it shows no password.

use crawler::mail::accounts::{Accounts, EXAMPLE, read};
use crawler::mail::{Login, Protocol, Security};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A text that stands wherever a password may have been written by mistake.
const CANARY: &str = "canary4711";

const ACCOUNT: &str =
    "[[account]]\nname = \"work\"\nhost = \"mail.example.org\"\nprotocol = \"imap\"\nuser = \"ada\"\n";

/// A folder with a hosts file and some password files.
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

fn read_in(folder: &Path) -> anyhow::Result<Accounts> {
    let env = |name: &str| match name {
        "SET" => Some(CANARY.into()),
        "BROKEN" => Some(format!("{CANARY}\r").into()),
        _ => None,
    };
    read(&folder.join("hosts.toml"), env)
}

fn good(hosts: &str) -> Accounts {
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
         {}token_file = \"good\"\n\
         {}token_command = [\"a program\", \"\"]\n",
        ACCOUNT.replace("work", "third"),
        ACCOUNT.replace("work", "token"),
        ACCOUNT.replace("work", "command")
    );
    let all = good(&hosts).accounts;
    let [work, school, third, token, command] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&*work.name, &*work.host, &*work.user, work.port), ("work", "mail.example.org", "ada", 993));
    assert_eq!((work.protocol, work.security, &*work.folder), (Protocol::Imap, Security::Tls, "INBOX"));
    assert!(!work.allow_plain_password && work.ca.is_none());
    assert_eq!((school.protocol, school.security, school.port), (Protocol::Pop3, Security::Plain, 2000));
    assert!(school.allow_plain_password && school.ca.as_ref().is_some_and(|ca| ca.is_absolute()));
    assert_eq!((third.security, third.port, &*third.folder), (Security::StartTls, 143, "Entwürfe"));
    assert!(matches!(token.login, Login::Token(_)));
    assert!(matches!(&command.login, Login::TokenCommand(words) if words[..] == ["a program", ""]));
    // The end of the line is no part of the password.
    assert_eq!(work.clean(&format!("<{CANARY}>")), "<[password]>");
    assert_eq!(school.clean(&format!("<{CANARY}>")), "<[password]>");
}

/// The lines that are commented out are right, too: they say what counts without them.
#[test]
fn the_example_of_the_help_is_right() {
    assert!(EXAMPLE.lines().all(|line| line.chars().count() <= 100), "the help would break a longer line");
    for example in [EXAMPLE.to_owned(), EXAMPLE.replace("\n# ", "\n")] {
        let [account] = &good(&example.replace("work.password", "good")).accounts[..] else {
            panic!("{example}")
        };
        assert_eq!((account.port, account.security, &*account.folder), (993, Security::Tls, "INBOX"));
        assert!(!account.allow_plain_password);
    }
}

/// Has a table of mistakes, each with a part of its message.
#[test]
fn a_mistake_is_named_by_its_line_and_shows_nothing_of_it() {
    let line_6 = [
        ("password = \"canary4711\"", "a password does not belong in this file"),
        ("password = canary4711", "this is no TOML"),
        ("password_file = \"canary4711", "this is no TOML"),
        ("user = \"canary4711\"", "this is no TOML"),
        ("canary4711", "this is no TOML"),
        ("canary4711 = \"canary4711\"", "there is no such key; those of an account are name, host"),
        ("\"canary4711\" = 1", "there is no such key"),
        ("password.canary4711 = 1", "a password does not belong in this file"),
        ("port = \"canary4711\"", "`port` must be a number"),
        ("port = 0", "`port` must be a number"),
        ("port = 65536", "`port` must be a number"),
        ("port = -1", "`port` must be a number"),
        ("port = 99.5", "`port` must be a number"),
        ("security = \"canary4711\"", "`security` must be \"tls\" or \"starttls\" or \"plain\""),
        ("security = 4711", "`security` must be"),
        ("allow_plain_password = \"canary4711\"", "`allow_plain_password` must be true or false"),
        ("folder = \"\"", "`folder` must be a text"),
        ("folder = \"canary4711\\r\\n\"", "`folder` must be a text"),
        ("ca = [\"canary4711\"]", "`ca` must be a text"),
        (
            "password_file = \"canary4711\"",
            "the file that `password_file` names cannot be read: entity not found",
        ),
        ("password_file = 4711", "`password_file` must be a text"),
        ("password_file = \"empty\"", "must have from 1 to 16384 bytes"),
        ("password_file = \"long\"", "must have from 1 to 16384 bytes"),
        ("password_file = \"two lines\"", "must be one line"),
        ("password_file = \"zero\"", "without a zero byte"),
        ("password_env = \"CANARY4711\"", "the environment variable that `password_env` names is not set"),
        ("password_env = \"BROKEN\"", "must be one line"),
        (
            "password_env = \"SET\"\ntoken_file = \"good\"",
            "an account has one of password_file, password_env, token_file",
        ),
        ("token_file = \"two lines\"", "must be one line"),
        ("token_command = \"canary4711\"", "`token_command` must be a list of texts"),
        ("token_command = [\"canary4711\", 4711]", "`token_command` must be a list of texts"),
        ("token_command = []", "`token_command` must be a list of texts"),
    ];
    for (line, said) in line_6 {
        let error = error(&format!("{ACCOUNT}{line}\n"));
        assert!(error.starts_with("line 6: ") && error.contains(said), "{line}: {error}");
    }
}

#[test]
fn what_is_missing_or_twice_is_named() {
    let whole = format!("{ACCOUNT}password_file = \"good\"\n");
    for key in ["name", "host", "protocol", "user"] {
        let lines: Vec<_> = whole.lines().filter(|line| !line.starts_with(key)).collect();
        let error = error(&lines.join("\n"));
        assert_eq!(error, format!("line 1: this account needs `{key}`"));
    }
    assert_eq!(
        error(ACCOUNT),
        "line 1: this account needs `password_file` or `password_env` or `token_file` or `token_command`"
    );
    let twice = error(&format!("{whole}\n{whole}"));
    assert_eq!(twice, "line 9: the account in line 2 has this name already");
    let folder = error(&whole.replace("imap", "pop3").replace("user", "folder = \"canary4711\"\nuser"));
    assert_eq!(folder, "line 5: POP3 knows no folders: leave `folder` out");
}

#[test]
fn a_file_without_accounts_is_none() {
    for (hosts, begin) in [
        ("", "it must have"),
        ("# canary4711\n", "it must have"),
        ("account = []", "it must have"),
        ("\naccount = [\"canary4711\"]", "line 2: "),
        ("\n\naccount = \"canary4711\"", "line 3: "),
        ("\n[account]\nname = \"canary4711\"", "line 2: "),
        ("[canary4711]\n", "line 1: "),
        ("canary4711 = 1\n", "line 1: "),
    ] {
        let error = error(hosts);
        assert!(error.starts_with(begin) && error.contains("[[account]]"), "{hosts}: {error}");
    }
    let missing = read(Path::new("/there/is/no/such/file"), |_| None).expect_err("there is none");
    assert!(missing.to_string().starts_with("it cannot be read: "), "{missing}");
}

#[test]
#[cfg(unix)]
fn others_who_may_read_the_password_are_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&format!("{ACCOUNT}password_file = \"good\"\n"));
    for (mode, warnings) in [(0o600, 0), (0o400, 0), (0o640, 1), (0o604, 1)] {
        fs::set_permissions(folder.path().join("good"), fs::Permissions::from_mode(mode))
            .expect("it is ours");
        let read = read_in(folder.path()).expect("it is right");
        assert_eq!(read.warnings.len(), warnings, "{mode:o}: {:?}", read.warnings);
        assert!(
            read.warnings.iter().all(|warning| warning.starts_with("line 6: ") && !warning.contains("good"))
        );
    }
}
