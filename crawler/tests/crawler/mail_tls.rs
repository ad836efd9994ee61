//! Checks mail over TLS: the trusted certificates, and the handling of messages before TLS begins.

use crate::mail::{CANARY, SILENT, WATCHDOG, Wrong, at, echoes, says, script};
use crate::mail_servers::{ask_of, cancelled_when};
use crawler::mail::demo::{Demo, Fault};
use crawler::mail::{Account, Answer, Identity, Protocol, Security};
use std::path::PathBuf;

const PROTOCOLS: [Protocol; 2] = [Protocol::Imap, Protocol::Pop3];
const SECURITIES: [Security; 2] = [Security::Tls, Security::StartTls];

fn file(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "mail", name].iter().collect()
}

fn server(protocol: Protocol, security: Security, fault: Wrong) -> Demo {
    let identity = Identity::read(&file("localhost.pem"), &file("localhost.key")).expect("both are there");
    Demo::start([("an account", script(protocol, security, fault))], Some(identity)).expect("a port")
}

/// Returns the account of the server; the account's host is the name in the certificate.
fn trusting(demo: &Demo) -> Account {
    Account { ca: Some(file("ca.pem")), allow_plain_password: false, ..at("localhost", &demo.accounts()[0]) }
}

/// Asks a server that must not get the password; returns the reason of the failure, and the server's log.
fn refused(demo: &Demo, account: &Account) -> (String, String) {
    let answer = ask_of(account);
    assert!(demo.heard(0).wait_for("closed", WATCHDOG));
    let heard = demo.heard(0).all();
    assert!(!heard.contains(CANARY) && !heard.contains("LOGIN {") && !heard.contains("USER"), "{heard}");
    match answer {
        Answer::Failed(why) => (why, heard),
        answer => panic!("{answer:?}: {heard}"),
    }
}

/// Before TLS, the server announces that it accepts a login only after TLS; the client discards everything
/// that it has received before TLS.
#[test]
fn mail_is_counted_over_tls() {
    for protocol in PROTOCOLS {
        for security in SECURITIES {
            let demo = server(protocol, security, None);
            assert_eq!(ask_of(&trusting(&demo)), Answer::New(3), "{protocol:?} {security:?}");
            assert!(demo.heard(0).wait_for("closed", WATCHDOG));
            let heard = demo.heard(0).all();
            let plain: Vec<_> = heard.lines().filter(|line| line.starts_with("plain: ")).collect();
            match (protocol, security) {
                (Protocol::Imap, Security::StartTls) => {
                    assert_eq!(plain, ["plain: a1 CAPABILITY", "plain: a2 STARTTLS"]);
                }
                (Protocol::Pop3, Security::StartTls) => assert_eq!(plain, ["plain: CAPA", "plain: STLS"]),
                _ => assert_eq!(plain, [""; 0]),
            }
        }
    }
}

#[test]
fn a_certificate_of_an_unknown_authority_is_refused() {
    for protocol in PROTOCOLS {
        for security in SECURITIES {
            let demo = server(protocol, security, None);
            let (why, _) = refused(&demo, &Account { ca: None, ..trusting(&demo) });
            assert!(why.starts_with("TLS: the server's certificate is signed by no trusted"), "{why}");
        }
    }
}

#[test]
fn a_certificate_for_another_host_is_refused() {
    for protocol in PROTOCOLS {
        for security in SECURITIES {
            let demo = server(protocol, security, None);
            let account = Account { host: "127.0.0.1".to_owned(), ..trusting(&demo) };
            let (why, _) = refused(&demo, &account);
            assert_eq!(why, "TLS: the server's certificate is for another host");
        }
    }
}

/// In this test, even an account that allows a plain password requires STARTTLS.
#[test]
fn a_server_without_starttls_gets_no_password() {
    for protocol in PROTOCOLS {
        let fault = match protocol {
            Protocol::Imap => says("CAPABILITY", "* CAPABILITY IMAP4rev1 AUTH=XOAUTH2\r\nTAG OK done"),
            Protocol::Pop3 => says("CAPA", "+OK\r\nUSER\r\n."),
        };
        let demo = server(protocol, Security::StartTls, fault);
        let (why, _) = refused(&demo, &Account { allow_plain_password: true, ..trusting(&demo) });
        assert_eq!(why, "the server does not offer STARTTLS");
    }
}

#[test]
fn what_is_sent_with_the_answer_to_starttls_ends_the_session() {
    for protocol in PROTOCOLS {
        let fault = match protocol {
            Protocol::Imap => says("STARTTLS", "TAG OK begin\r\n* OK not encrypted"),
            Protocol::Pop3 => says("STLS", "+OK begin\r\n+OK not encrypted"),
        };
        let demo = server(protocol, Security::StartTls, fault);
        let (why, heard) = refused(&demo, &trusting(&demo));
        assert_eq!(why, "the server sent unexpected bytes before TLS began");
        assert!(!heard.contains("TLS: "), "{heard}");
    }
}

#[test]
fn preauth_before_starttls_is_refused_and_after_tls_is_fine() {
    let preauth = says("greeting", "* PREAUTH welcome back");
    let demo = server(Protocol::Imap, Security::StartTls, preauth.clone());
    let (why, heard) = refused(&demo, &trusting(&demo));
    assert_eq!(why, "the server says PREAUTH, so TLS cannot begin");
    assert!(!heard.contains("STATUS"), "{heard}");

    let demo = server(Protocol::Imap, Security::Tls, preauth);
    assert_eq!(ask_of(&trusting(&demo)), Answer::New(3));
    assert!(!demo.heard(0).all().contains("LOGIN"));
}

#[test]
fn faults_after_tls_are_what_they_are_without() {
    for protocol in PROTOCOLS {
        for (fault, expected) in [
            (echoes(protocol), "[password]"),
            (Some(("greeting", Fault::Repeats("x".repeat(1000)))), "too much"),
            (Some(("password", Fault::HangsUp)), "the server closed the connection"),
            (says("greeting", "220 garbage"), "does not speak"),
        ] {
            let answer = ask_of(&trusting(&server(protocol, Security::Tls, fault)));
            assert!(
                matches!(&answer, Answer::Failed(why) if why.contains(expected)),
                "{expected}: {answer:?}"
            );
        }
    }
}

#[test]
fn a_server_that_does_not_speak_tls_fails() {
    let plain = server(Protocol::Imap, Security::Plain, None);
    let (why, _) = refused(&plain, &Account { security: Security::Tls, ..trusting(&plain) });
    assert!(why.starts_with("TLS: "), "{why}");
    let closes = script(Protocol::Imap, Security::Tls, None);
    let closes = Demo::start([("an account", closes)], None).expect("a port");
    let (why, _) = refused(&closes, &trusting(&closes));
    assert!(why.starts_with("the server closed the connection") || why.contains("reset"), "{why}");
}

#[test]
fn a_token_calls_back_who_begins_tls() {
    let demo = server(Protocol::Imap, Security::Tls, SILENT);
    let (answer, step) = cancelled_when(&demo, &trusting(&demo), "connected");
    assert!(answer.is_err(), "{answer:?}");
    assert!(["connecting", "beginning TLS"].contains(&step), "{step:?}");
}

#[test]
fn a_token_calls_back_who_asks_for_starttls() {
    for (protocol, verb) in [(Protocol::Imap, "CAPABILITY"), (Protocol::Pop3, "CAPA")] {
        let demo = server(protocol, Security::StartTls, Some((verb, Fault::Silence)));
        let (answer, step) = cancelled_when(&demo, &trusting(&demo), verb);
        assert!(answer.is_err(), "{answer:?}");
        assert_eq!(step, "beginning TLS");
    }
}

#[test]
fn a_file_of_certificates_that_is_none_is_an_answer() {
    let demo = server(Protocol::Imap, Security::Tls, None);
    for ca in ["README.md", "none.pem"] {
        let answer = ask_of(&Account { ca: Some(file(ca)), ..trusting(&demo) });
        assert!(matches!(&answer, Answer::Failed(why) if why.contains("`ca`")), "{ca}: {answer:?}");
    }
    assert_eq!(demo.heard(0).all(), "");
}
