//! Checks the mail check against mail servers with good and bad behaviour. All servers are demo servers,
//! which the check reaches over real sockets.

use crate::mail::{CANARY, SILENT, WATCHDOG, Wrong, at, echoes, refuses, says, script};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crawler::mail::demo::{Demo, Fault, Script};
use crawler::mail::{Account, Answer, Login, Progress, Protocol, Secret, Security, ask};
use executor::{CancelToken, Cancelled};
use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

const PROTOCOLS: [Protocol; 2] = [Protocol::Imap, Protocol::Pop3];

pub(crate) fn server(script: Script) -> Demo {
    Demo::start([("an account", script)], None).expect("a port")
}

/// Asks the server, and checks that the answer contains neither a password nor characters that a terminal
/// would obey.
pub(crate) fn ask_of(account: &Account) -> Answer {
    let token = CancelToken::new().with_timeout(WATCHDOG);
    let answer = ask(account, &Progress::default(), &token).expect("it is in time");
    if let Answer::Failed(why) = &answer {
        assert!(
            !why.contains(CANARY) && !why.contains(char::is_control) && why.chars().count() <= 201,
            "{why:?}"
        );
    }
    answer
}

/// Asks a server with a fault; returns the reason of the failure, and the server's log.
fn why(protocol: Protocol, fault: Wrong) -> (String, String) {
    let listens = !matches!(fault, Some(("listen", _)));
    let demo = server(script(protocol, Security::Plain, fault));
    match ask_of(&demo.accounts()[0]) {
        Answer::Failed(why) => {
            assert!(!listens || demo.heard(0).wait_for("closed", WATCHDOG));
            (why, demo.heard(0).all())
        }
        answer => panic!("{protocol:?}: {answer:?}"),
    }
}

#[test]
fn messages_are_counted() {
    for protocol in PROTOCOLS {
        for (mail, answer) in [(0, Answer::None), (1, Answer::New(1)), (12, Answer::New(12))] {
            let demo = server(Script { mail, ..script(protocol, Security::Plain, None) });
            assert_eq!(ask_of(&demo.accounts()[0]), answer, "{protocol:?}");
            assert!(
                demo.heard(0).wait_for(if protocol == Protocol::Imap { "LOGOUT" } else { "QUIT" }, WATCHDOG)
            );
        }
    }
}

#[test]
fn a_server_that_does_not_say_good_bye_costs_no_count() {
    for (protocol, farewell) in [(Protocol::Imap, "LOGOUT"), (Protocol::Pop3, "QUIT")] {
        let demo = server(script(protocol, Security::Plain, Some((farewell, Fault::Silence))));
        assert_eq!(ask_of(&demo.accounts()[0]), Answer::New(3), "{protocol:?}");
    }
}

#[test]
fn the_count_is_that_of_the_folder_whatever_else_the_server_says() {
    let more = "* STATUS Other (UNSEEN 9)\r\n".to_owned() + &"* 1 FETCH (FLAGS ())\r\n".repeat(12_000);
    // In this response, the folder's name is a literal.
    let says = says("STATUS", &format!("{more}* STATUS {{5}}\r\nINBOX (UNSEEN 3)\r\n{more}TAG OK done"));
    let demo = server(script(Protocol::Imap, Security::Plain, says));
    assert_eq!(ask_of(&demo.accounts()[0]), Answer::New(3));
}

#[test]
fn any_password_of_one_line_can_be_sent() {
    for password in ["{5}", "\"", "\\", "a b  c ", " ", "schlüssel", "%s\t", "a4 OK", "*", "+", "{3+}"] {
        for protocol in PROTOCOLS {
            let script = script(protocol, Security::Plain, None);
            let demo = server(Script { password: password.to_owned(), ..script });
            assert_eq!(ask_of(&demo.accounts()[0]), Answer::New(3), "{protocol:?} {password:?}");
        }
    }
}

/// Returns an account that logs in by XOAUTH2.
fn with(login: Login, account: &Account) -> Account {
    Account { login, ..at("127.0.0.1", account) }
}

#[test]
fn a_token_logs_in() {
    for protocol in PROTOCOLS {
        let demo = server(script(protocol, Security::Plain, None));
        let account = with(Login::Token(Secret::new(CANARY)), &demo.accounts()[0]);
        assert_eq!(ask_of(&account), Answer::New(3), "{protocol:?}");
        let heard = demo.heard(0).all();
        assert!(heard.contains(&format!("user=demo\u{1}auth=Bearer {CANARY}\u{1}\u{1}")), "{heard}");
        assert!(!heard.contains("LOGIN") && !heard.contains("PASS"), "{heard}");
        let answer = ask_of(&Account { allow_plain_password: false, ..account });
        assert!(matches!(&answer, Answer::Failed(why) if why.contains("allow_plain_password")), "{answer:?}");
    }
}

/// The server first explains its refusal in machine-readable form, and sends back the client's text.
#[test]
fn a_token_that_is_refused_is_not_shown() {
    let sent = STANDARD.encode(format!("user=demo\u{1}auth=Bearer {CANARY}\u{1}\u{1}"));
    for (protocol, code) in [(Protocol::Imap, "TAG NO"), (Protocol::Pop3, "-ERR")] {
        let refusal =
            says("password", &format!("+ eyJzdGF0dXMiOiI0MDAifQ==\r\n{code} no {CANARY}, and no {sent}"));
        let demo = server(script(protocol, Security::Plain, refusal));
        let answer = ask_of(&with(Login::Token(Secret::new(CANARY)), &demo.accounts()[0]));
        let why = "the server refused the login: no [password], and no [password]";
        assert_eq!(answer, Answer::Failed(why.to_owned()));
        let demo = server(script(protocol, Security::Plain, accepts_none(protocol, "AUTH")));
        let answer = ask_of(&with(Login::Token(Secret::new(CANARY)), &demo.accounts()[0]));
        assert!(matches!(answer, Answer::Failed(_)), "{answer:?}");
        assert!(!demo.heard(0).all().contains("Bearer"));
    }
}

/// Returns a fault in which the server accepts no password.
fn accepts_none(protocol: Protocol, command: &'static str) -> Wrong {
    match protocol {
        Protocol::Imap => says("CAPABILITY", "* CAPABILITY IMAP4rev1 LOGINDISABLED\r\nTAG OK done"),
        Protocol::Pop3 => says(command, "-ERR not without TLS"),
    }
}

#[test]
fn each_fault_is_an_answer_that_says_what_is_wrong() {
    for protocol in PROTOCOLS {
        for (fault, why_of) in [
            (refuses(protocol, "wrong"), "the server refused the login: ["),
            (Some(("listen", Fault::HangsUp)), "it cannot be connected to: "),
            (Some(("password", Fault::HangsUp)), "the server closed the connection"),
            (Some(("greeting", Fault::Repeats("x".repeat(1000)))), "the server sent too much"),
            (says("greeting", "\u{1b}]0;\u{7} 220 garbage"), "the server does not speak "),
        ] {
            let (why, _) = why(protocol, fault);
            assert!(why.starts_with(why_of), "{protocol:?}, {why_of}: {why}");
        }
    }
    let more = |verb, words: &str| Some((verb, Fault::Repeats(words.to_owned())));
    for (protocol, fault, why_of) in [
        (Protocol::Imap, more("CAPABILITY", "* OK more\r\n"), "the server sent too much"),
        (Protocol::Pop3, more("USER", "+OK more\r\n"), "the server's count of messages makes no sense: more"),
        (Protocol::Imap, says("greeting", "* BYE too many"), "the server ended the session: too many"),
        (Protocol::Pop3, says("greeting", "-ERR too many"), "the server refused the session: too many"),
        (
            Protocol::Imap,
            accepts_none(Protocol::Imap, ""),
            "the server does not accept a password here (LOGINDISABLED)",
        ),
        (
            Protocol::Pop3,
            accepts_none(Protocol::Pop3, "USER"),
            "the server refused the user: not without TLS",
        ),
        (
            Protocol::Imap,
            says("STATUS", "* STATUS INBOX (MESSAGES many)\r\nTAG OK done"),
            "the server did not say how many messages are unseen",
        ),
        (Protocol::Pop3, says("STAT", "+OK many"), "the server's count of messages makes no sense: many"),
        (
            Protocol::Imap,
            says("STATUS", "TAG NO there is no such folder"),
            "the server refused to count the folder's messages: there is no such folder",
        ),
    ] {
        assert_eq!(why(protocol, fault).0, why_of);
    }
}

/// Checks the answer if the server sends the password back twice: in pieces and whole.
#[test]
fn a_password_that_the_server_sends_back_is_replaced() {
    for protocol in PROTOCOLS {
        let (why, _) = why(protocol, echoes(protocol));
        assert!(why.ends_with("no [1m[password], and no [password]"), "{why}");
    }
}

#[test]
fn a_server_that_accepts_no_password_is_sent_none() {
    for (protocol, command) in [(Protocol::Imap, "LOGIN"), (Protocol::Pop3, "PASS")] {
        let (_, heard) = why(protocol, accepts_none(protocol, "USER"));
        assert!(!heard.contains(command) && !heard.contains(CANARY), "{heard}");
    }
}

#[test]
fn no_password_goes_over_a_plain_connection_unless_the_account_allows_it() {
    for protocol in PROTOCOLS {
        let demo = server(script(protocol, Security::Plain, None));
        let account = Account { allow_plain_password: false, ..at("127.0.0.1", &demo.accounts()[0]) };
        let answer = ask_of(&account);
        assert!(matches!(&answer, Answer::Failed(why) if why.contains("allow_plain_password")), "{answer:?}");
        assert_eq!(demo.heard(0).all(), "");
    }
}

#[test]
fn who_is_logged_in_already_sends_no_password() {
    let demo = server(script(Protocol::Imap, Security::Plain, says("greeting", "* PREAUTH welcome back")));
    assert_eq!(ask_of(&demo.accounts()[0]), Answer::New(3));
    assert!(!demo.heard(0).all().contains("LOGIN"));
}

/// `localhost` may have two addresses, and the server listens on one of these addresses.
#[test]
fn a_host_has_a_name() {
    let demo = server(script(Protocol::Imap, Security::Plain, None));
    assert_eq!(ask_of(&at("localhost", &demo.accounts()[0])), Answer::New(3));
}

#[test]
fn folder_names_are_quoted() {
    for (folder, sent) in [
        ("a b", "\"a b\""),
        ("a\"b\\c", "\"a\\\"b\\\\c\""),
        ("Entwürfe", "\"Entw&APw-rfe\""),
        ("%*(", "\"%*(\""),
    ] {
        let demo = server(script(Protocol::Imap, Security::Plain, None));
        let account = Account { folder: folder.to_owned(), ..at("127.0.0.1", &demo.accounts()[0]) };
        assert_eq!(ask_of(&account), Answer::New(3));
        assert!(
            demo.heard(0).wait_for(&format!("STATUS {sent} (UNSEEN)"), WATCHDOG),
            "{}",
            demo.heard(0).all()
        );
    }
}

/// Asks the server, and cancels the question when the server has received `part`, or after some time, so that
/// a failing test does not hang.
fn cancelled_at(demo: &Demo, account: &Account, part: &str) -> (Result<Answer, Cancelled>, &'static str) {
    let (token, progress) = (CancelToken::new(), Progress::default());
    let answer = thread::scope(|scope| {
        scope.spawn(|| {
            let has_heard = demo.heard(0).wait_for(part, WATCHDOG);
            token.cancel();
            assert!(has_heard, "{}", demo.heard(0).all());
        });
        ask(account, &progress, &token)
    });
    (answer, progress.step())
}

/// Calls [`cancelled_at`], and checks that the server's connection was closed.
pub(crate) fn cancelled_when(
    demo: &Demo,
    account: &Account,
    part: &str,
) -> (Result<Answer, Cancelled>, &'static str) {
    let cancelled = cancelled_at(demo, account, part);
    assert!(demo.heard(0).wait_for("closed", WATCHDOG));
    cancelled
}

#[test]
fn a_token_calls_back_who_waits_for_a_server() {
    for protocol in PROTOCOLS {
        let silent = server(script(protocol, Security::Plain, SILENT));
        let (answer, step) = cancelled_when(&silent, &silent.accounts()[0], "connected");
        assert!(answer.is_err(), "{answer:?}");
        assert!(["connecting", "waiting for the greeting"].contains(&step), "{step:?}");

        let slow = Script { delay: WATCHDOG * 100, ..script(protocol, Security::Plain, None) };
        let slow = server(slow);
        let (answer, step) = cancelled_at(&slow, &slow.accounts()[0], CANARY);
        assert!(answer.is_err(), "{answer:?}");
        assert_eq!(step, "logging in");
    }
}

/// On Linux, a client that connects to a port whose backlog is full gets no answer.
#[test]
#[cfg(target_os = "linux")]
fn a_token_calls_back_who_connects() {
    let full = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    full.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("a port");
    full.listen(1).expect("it is bound");
    let address = full.local_addr().expect("it is bound");
    let _queue: Vec<_> = (0..8)
        .map(|_| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
            socket.set_nonblocking(true).expect("it is a socket");
            let _ = socket.connect(&address); // being connected, or no longer answered
            socket
        })
        .collect();
    let demo = server(script(Protocol::Imap, Security::Plain, None));
    let port = address.as_socket().expect("it is one").port();
    let account = Account { port, ..at("127.0.0.1", &demo.accounts()[0]) };
    let (token, progress) = (CancelToken::new(), Progress::default());
    let answer = thread::scope(|scope| {
        scope.spawn(|| {
            while progress.step() != "connecting" {
                thread::yield_now();
            }
            token.cancel();
        });
        ask(&account, &progress, &token)
    });
    assert!(answer.is_err(), "{answer:?}");
    assert_eq!(progress.step(), "connecting");
}

#[test]
fn nothing_begins_under_a_cancelled_token() {
    let demo = server(script(Protocol::Imap, Security::Plain, None));
    let token = CancelToken::new();
    token.cancel();
    for host in ["127.0.0.1", "localhost"] {
        assert!(ask(&at(host, &demo.accounts()[0]), &Progress::default(), &token).is_err());
    }
    assert!(!demo.heard(0).all().contains("LOGIN"));
}

#[test]
#[cfg(not(feature = "tls"))]
fn without_tls_an_account_that_needs_it_names_the_feature() {
    for security in [Security::Tls, Security::StartTls] {
        for protocol in PROTOCOLS {
            let demo = server(script(protocol, security, None));
            let built = "this program was built without TLS: build it with --features tls";
            assert_eq!(ask_of(&demo.accounts()[0]), Answer::Failed(built.to_owned()));
            assert_eq!(demo.heard(0).all(), "");
        }
    }
}
