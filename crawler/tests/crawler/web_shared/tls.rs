//! Tests which engines with encrypted connections are trusted.

use super::engine::{Engine, free_port, until_it_starts};
use super::{Shared, is_complete, said};
use crate::child::{crawl, ended};
use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

fn file(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", name].iter().collect();
    path.into_os_string().into_string().unwrap()
}

/// Starts an engine with the given certificate, and returns the engine and its port for encrypted
/// connections.
fn engine(name: &str) -> (Engine, u16) {
    let (pem, key) = (file(&format!("{name}.pem")), file(&format!("{name}.key")));
    let rest = ["--tls-cert-file", &pem, "--tls-key-file", &key, "--tls-ca-cert-file", &pem];
    until_it_starts(|| {
        let port = free_port();
        let port_flag = port.to_string();
        let flags = [&["--tls-port", &port_flag, "--tls-auth-clients", "no"], &rest[..]].concat();
        Some((Engine::unless_a_port_is_taken(&flags)?, port))
    })
}

#[test]
#[ignore = "needs redis-server"]
fn an_engine_is_used_over_tls_if_it_is_trusted() {
    let (valid, valid_port) = engine("mail/localhost");
    let (_expired, expired_port) = engine("web/expired");
    let mut shared = Shared::of(20, Duration::ZERO, 1);
    let run = |url: &str, authority: &str| -> Output {
        let start = shared.site.start_url();
        let mut command = crawl(shared.folders[0].path(), start.as_str(), &["--allow-private", "--json"]);
        command.args(["--crawl", "test", "--per-site", "8", "--patience", "1m", "--frontier", url]);
        command.env("SSL_CERT_FILE", file(authority)).env_remove("SSL_CERT_DIR");
        ended(command.spawn().unwrap())
    };
    for (url, authority, sentence) in [
        (format!("rediss://localhost:{valid_port}"), "web/ca.pem", "is signed by no trusted authority"),
        (format!("rediss://127.0.0.1:{valid_port}"), "mail/ca.pem", "is for another host"),
        (format!("rediss://localhost:{expired_port}"), "web/ca.pem", "has expired"),
    ] {
        let output = run(&url, authority);
        assert_eq!(output.status.code(), Some(1), "{url}");
        assert!(said(&output).contains("cannot be trusted: the server's certificate"), "{}", said(&output));
        assert!(said(&output).contains(sentence), "{url}: {}", said(&output));
    }
    assert_eq!(valid.say(&["DBSIZE"]), ":0");
    valid.say(&["ACL", "SETUSER", "crawler", "on", ">secret", "~*", "+@all"]);
    is_complete(&run(&format!("rediss://crawler:secret@localhost:{valid_port}/0"), "mail/ca.pem"));
    shared.engine = valid;
    shared.assert_whole();
}
