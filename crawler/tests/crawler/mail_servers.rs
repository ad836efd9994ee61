//! What mail servers do, good and bad, and what becomes of it. All of them are servers of the demo, over real
//! sockets.

use crate::mail::{CANARY, WATCHDOG, at, script};
use crawler::mail::demo::{Demo, Fault, Script};
use crawler::mail::{Account, Answer, Login, Progress, Protocol, Secret, Security, ask};
use executor::{CancelToken, Cancelled};
use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::Instant;

const PROTOCOLS: [Protocol; 2] = [Protocol::Imap, Protocol::Pop3];

pub(crate) fn server(script: Script) -> Demo {
    Demo::start([("an account", script)], None).expect("a port")
}

/// Asks, and checks that the answer shows no password and nothing that a terminal would obey.
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

/// Asks a server with a fault: why it has failed, and what the server has heard.
fn why(protocol: Protocol, fault: Fault) -> (String, String) {
    let demo = server(script(protocol, Security::Plain, fault));
    match ask_of(&demo.accounts()[0]) {
        Answer::Failed(why) => {
            assert!(fault == Fault::Refuses || demo.heard(0).wait_for("closed", WATCHDOG));
            (why, demo.heard(0).all())
        }
        answer => panic!("{protocol:?}, {fault:?}: {answer:?}"),
    }
}

#[test]
fn messages_are_counted() {
    for protocol in PROTOCOLS {
        for (mail, answer) in [(0, Answer::None), (1, Answer::New(1)), (12, Answer::New(12))] {
            let demo = server(Script { mail, ..script(protocol, Security::Plain, Fault::None) });
            assert_eq!(ask_of(&demo.accounts()[0]), answer, "{protocol:?}");
            assert!(
                demo.heard(0).wait_for(if protocol == Protocol::Imap { "LOGOUT" } else { "QUIT" }, WATCHDOG)
            );
        }
    }
}

#[test]
fn a_server_that_does_not_say_good_bye_costs_no_count() {
    for protocol in PROTOCOLS {
        let demo = server(script(protocol, Security::Plain, Fault::NoFarewell));
        assert_eq!(ask_of(&demo.accounts()[0]), Answer::New(3), "{protocol:?}");
    }
}

#[test]
fn the_count_is_that_of_the_folder_whatever_else_the_server_says() {
    let demo = server(script(Protocol::Imap, Security::Plain, Fault::SaysMore));
    assert_eq!(ask_of(&demo.accounts()[0]), Answer::New(3));
}

#[test]
fn any_password_of_one_line_can_be_sent() {
    for password in ["{5}", "\"", "\\", "a b  c ", " ", "schlüssel", "%s\t", "a4 OK", "*", "+", "{3+}"] {
        for protocol in PROTOCOLS {
            let script = script(protocol, Security::Plain, Fault::None);
            let demo = server(Script { password: password.to_owned(), ..script });
            assert_eq!(ask_of(&demo.accounts()[0]), Answer::New(3), "{protocol:?} {password:?}");
        }
    }
}

/// An account that logs in by XOAUTH2.
fn with(login: Login, account: &Account) -> Account {
    Account { login, ..at("127.0.0.1", account) }
}

#[test]
fn a_token_logs_in() {
    for protocol in PROTOCOLS {
        let demo = server(script(protocol, Security::Plain, Fault::None));
        let account = with(Login::Token(Secret::new(CANARY)), &demo.accounts()[0]);
        assert_eq!(ask_of(&account), Answer::New(3), "{protocol:?}");
        let heard = demo.heard(0).all();
        assert!(heard.contains(&format!("user=demo\u{1}auth=Bearer {CANARY}\u{1}\u{1}")), "{heard}");
        assert!(!heard.contains("LOGIN") && !heard.contains("PASS"), "{heard}");
        let answer = ask_of(&Account { allow_plain_password: false, ..account });
        assert!(matches!(&answer, Answer::Failed(why) if why.contains("allow_plain_password")), "{answer:?}");
    }
}

/// The server explains its refusal in a form for programs first, and sends back what it was sent.
#[test]
fn a_token_that_is_refused_is_not_shown() {
    for (protocol, code) in [(Protocol::Imap, "AUTHENTICATIONFAILED"), (Protocol::Pop3, "AUTH")] {
        for (fault, said) in [
            (Fault::WrongPassword, "the password is wrong"),
            (Fault::EchoesPassword, "no [1m[password], and no [password][password]"),
        ] {
            let demo = server(script(protocol, Security::Plain, fault));
            let answer = ask_of(&with(Login::Token(Secret::new(CANARY)), &demo.accounts()[0]));
            assert_eq!(answer, Answer::Failed(format!("the server refused the login: [{code}] {said}")));
        }
        let demo = server(script(protocol, Security::Plain, Fault::LoginDisabled));
        let answer = ask_of(&with(Login::Token(Secret::new(CANARY)), &demo.accounts()[0]));
        assert!(matches!(answer, Answer::Failed(_)), "{answer:?}");
        assert!(!demo.heard(0).all().contains("Bearer"));
    }
}

/// A program that prints a token: the words of a command.
#[cfg(unix)]
fn command(words: &[&str]) -> Login {
    Login::TokenCommand(words.iter().map(|word| (*word).to_owned()).collect())
}

#[test]
#[cfg(unix)]
fn a_program_prints_the_token() {
    let demo = server(script(Protocol::Imap, Security::Plain, Fault::None));
    let account = &demo.accounts()[0];
    assert_eq!(ask_of(&with(command(&["printf", "%s\n", CANARY]), account)), Answer::New(3));
    let login = format!("printf '%s' '{CANARY}'; exit 7");
    for (words, why) in [
        (&["false"][..], "the program of `token_command` has failed: exit status: 1"),
        (&["sh", "-c", &login], "the program of `token_command` has failed: exit status: 7"),
        (&["true"], "what the program of `token_command` prints must have from 1 to 16384 bytes"),
        (
            &["printf", "%20000s", "x"],
            "what the program of `token_command` prints must have from 1 to 16384 bytes",
        ),
        (
            &["/there/is/none"],
            "the program of `token_command` cannot be started: No such file or directory (os error 2)",
        ),
    ] {
        assert_eq!(ask_of(&with(command(words), account)), Answer::Failed(why.to_owned()));
    }
}

/// A cancel ends the wait even if a child of the program keeps the pipe open, or if the program has closed it
/// and goes on.
#[test]
#[cfg(unix)]
fn a_token_calls_back_who_waits_for_a_program() {
    let demo = server(script(Protocol::Imap, Security::Plain, Fault::None));
    for goes_on in
        ["touch $0; exec sleep 60", "touch $0; sleep 60 2>&-; :", "exec >&-; touch $0; exec sleep 60"]
    {
        let folder = tempfile::tempdir().expect("a directory");
        let runs = folder.path().join("runs");
        let account =
            with(command(&["sh", "-c", goes_on, runs.to_str().expect("it is ASCII")]), &demo.accounts()[0]);
        let (token, progress, begin) = (CancelToken::new(), Progress::default(), Instant::now());
        let answer = thread::scope(|scope| {
            scope.spawn(|| {
                while !runs.exists() && begin.elapsed() < WATCHDOG {
                    thread::yield_now();
                }
                token.cancel();
            });
            ask(&account, &progress, &token)
        });
        assert!(answer.is_err() && begin.elapsed() < WATCHDOG, "{goes_on}: {answer:?}");
        assert_eq!(progress.step(), "waiting for the program of `token_command`");
    }
    assert_eq!(demo.heard(0).all(), "");
}

#[test]
fn each_fault_is_an_answer_that_says_what_is_wrong() {
    let both = |fault, why: &'static str| [(Protocol::Imap, fault, why), (Protocol::Pop3, fault, why)];
    let each = |fault, of_imap, of_pop3| [(Protocol::Imap, fault, of_imap), (Protocol::Pop3, fault, of_pop3)];
    let faults = [
        both(
            Fault::WrongPassword,
            "the server refused the login: [AUTHENTICATIONFAILED] the password is wrong",
        ),
        both(Fault::EchoesPassword, "[password]"),
        both(Fault::Refuses, "it cannot be connected to: "),
        both(Fault::ClosesMidway, "the server closed the connection"),
        both(Fault::EndlessLine, "the server sent too much"),
        each(
            Fault::EndlessLines,
            "the server sent too much",
            "the server's count of messages makes no sense: more of it",
        ),
        both(Fault::Garbage, "the server does not speak "),
        each(
            Fault::SaysGoodBye,
            "the server ended the session: too many clients",
            "the server refused the session: too many clients",
        ),
        each(
            Fault::LoginDisabled,
            "the server does not accept a password here (LOGINDISABLED)",
            "the server refused the user: not without TLS",
        ),
        each(
            Fault::NoCount,
            "the server did not say how many messages are unseen",
            "the server's count of messages makes no sense: many",
        ),
    ];
    for (protocol, fault, expected) in faults.into_iter().flatten() {
        let expected = if protocol == Protocol::Pop3 {
            expected.replace("AUTHENTICATIONFAILED", "AUTH")
        } else {
            expected.to_owned()
        };
        let (why, _) = why(protocol, fault);
        assert!(why.contains(&expected), "{protocol:?}, {fault:?}: {why}");
    }
    let (why, _) = why(Protocol::Imap, Fault::NoFolder);
    assert_eq!(why, "the server refused to count the folder's messages: there is no such folder");
}

/// The server sends it back twice: in pieces and whole.
#[test]
fn a_password_that_the_server_sends_back_is_replaced() {
    for protocol in PROTOCOLS {
        let (why, _) = why(protocol, Fault::EchoesPassword);
        assert!(why.ends_with("no [1m[password], and no [password]"), "{why}");
    }
}

#[test]
fn a_server_that_accepts_no_password_is_sent_none() {
    for (protocol, command) in [(Protocol::Imap, "LOGIN"), (Protocol::Pop3, "PASS")] {
        let (_, heard) = why(protocol, Fault::LoginDisabled);
        assert!(!heard.contains(command) && !heard.contains(CANARY), "{heard}");
    }
}

#[test]
fn no_password_goes_over_a_plain_connection_unless_the_account_allows_it() {
    for protocol in PROTOCOLS {
        let demo = server(script(protocol, Security::Plain, Fault::None));
        let account = Account { allow_plain_password: false, ..at("127.0.0.1", &demo.accounts()[0]) };
        let answer = ask_of(&account);
        assert!(matches!(&answer, Answer::Failed(why) if why.contains("allow_plain_password")), "{answer:?}");
        assert_eq!(demo.heard(0).all(), "");
    }
}

#[test]
fn who_is_logged_in_already_sends_no_password() {
    let demo = server(script(Protocol::Imap, Security::Plain, Fault::Preauth));
    assert_eq!(ask_of(&demo.accounts()[0]), Answer::New(3));
    assert!(!demo.heard(0).all().contains("LOGIN"));
}

/// `localhost` may have two addresses, and the server listens at one of them.
#[test]
fn a_host_has_a_name() {
    let demo = server(script(Protocol::Imap, Security::Plain, Fault::None));
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
        let demo = server(script(Protocol::Imap, Security::Plain, Fault::None));
        let account = Account { folder: folder.to_owned(), ..at("127.0.0.1", &demo.accounts()[0]) };
        assert_eq!(ask_of(&account), Answer::New(3));
        assert!(
            demo.heard(0).wait_for(&format!("STATUS {sent} (UNSEEN)"), WATCHDOG),
            "{}",
            demo.heard(0).all()
        );
    }
}

/// Asks, and cancels when the server has heard `part`; and later all the same, so that a failure does not
/// hang.
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

/// Does what [`cancelled_at`] does, and requires that the server sees the connection closed.
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
        let silent = server(script(protocol, Security::Plain, Fault::Silent));
        let (answer, step) = cancelled_when(&silent, &silent.accounts()[0], "connected");
        assert!(answer.is_err(), "{answer:?}");
        assert!(["connecting", "waiting for the greeting"].contains(&step), "{step:?}");

        let slow = Script { delay: WATCHDOG * 100, ..script(protocol, Security::Plain, Fault::None) };
        let slow = server(slow);
        let (answer, step) = cancelled_at(&slow, &slow.accounts()[0], CANARY);
        assert!(answer.is_err(), "{answer:?}");
        assert_eq!(step, "logging in");
    }
}

/// Linux does not answer a client that connects to a port whose queue is full.
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
            let _ = socket.connect(&address); // under way, or not answered any more
            socket
        })
        .collect();
    let demo = server(script(Protocol::Imap, Security::Plain, Fault::None));
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
    let demo = server(script(Protocol::Imap, Security::Plain, Fault::None));
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
            let demo = server(script(protocol, security, Fault::None));
            let built = "this program was built without TLS: build it with --features tls";
            assert_eq!(ask_of(&demo.accounts()[0]), Answer::Failed(built.to_owned()));
            assert_eq!(demo.heard(0).all(), "");
        }
    }
}
