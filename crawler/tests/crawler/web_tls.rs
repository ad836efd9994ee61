//! Tests of pages over TLS: which servers are trusted, and how the crawl reports untrusted servers.

use crate::child::{crawl, ended, report};
use crate::web_fetch::{Raw, request};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

fn file(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", name].iter().collect()
}

/// Starts a site of three pages with a certificate for `localhost`.
fn site(name: &str) -> Raw {
    let chain = CertificateDer::pem_file_iter(file(&format!("{name}.pem"))).unwrap();
    let key = PrivateKeyDer::from_pem_file(file(&format!("{name}.key"))).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.collect::<Result<_, _>>().unwrap(), key)
        .unwrap();
    let config = Arc::new(config);
    Raw::start(move |_, stream| {
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
        loop {
            let asked = request(&mut stream)?;
            let (status, body) = match asked.split(' ').nth(1) {
                Some("/") => ("200 OK", "<a href=a>a</a><a href=/b>b</a>"),
                Some("/a" | "/b") => ("200 OK", "<a href=/>back</a>"),
                _ => ("404 Not Found", ""),
            };
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all((head + body).as_bytes())?;
        }
    })
}

/// Crawls a site at this host, and trusts only the authorities in the given files.
fn crawled(site: &Raw, host: &str, authorities: &[&str], flags: &[&str]) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let trusted: Vec<u8> = authorities.iter().flat_map(|name| fs::read(file(name)).unwrap()).collect();
    fs::write(folder.path().join("trusted.pem"), trusted).unwrap();
    let start = format!("https://{host}:{}/", site.address().port());
    let mut command = crawl(folder.path(), &start, &["--allow-private", "--json"]);
    command.args(flags).env("SSL_CERT_FILE", "trusted.pem").env_remove("SSL_CERT_DIR");
    report(&ended(command.spawn().unwrap()))
}

#[test]
fn a_site_is_crawled_over_tls() {
    let site = site("mail/localhost");
    let (status, report) = crawled(&site, "localhost", &["mail/ca.pem"], &[]);
    assert_eq!(
        (status, &report["fetched"], &report["complete"]),
        (Some(0), &3.into(), &true.into()),
        "{report}"
    );
}

#[test]
fn a_server_that_is_not_trusted_is_an_entry_in_the_report_and_asked_once() {
    let (valid, expired) = (site("mail/localhost"), site("web/expired"));
    for (site, host, authority, why) in [
        (&valid, "127.0.0.1", "mail/ca.pem", "the server's certificate is for another host"),
        (&valid, "localhost", "web/ca.pem", "the server's certificate is signed by no trusted authority"),
        (&expired, "localhost", "web/ca.pem", "the server's certificate has expired"),
    ] {
        let before = site.accepted();
        // Without rules, there is only one page to request. The flags allow more tries of this page, but
        // the crawl makes only one.
        let (status, report) = crawled(site, host, &[authority], &["--ignore-robots", "--retries", "3"]);
        assert_eq!((status, &report["failed"]), (Some(3), &1.into()), "{report}");
        assert_eq!(report["broken"][0]["why"], format!("the server cannot be trusted: {why}"), "{report}");
        assert_eq!(site.accepted() - before, 1, "{why}");
    }
}

#[test]
fn a_server_that_does_not_speak_tls_is_an_entry_in_the_report() {
    let plain = Raw::start(|_, mut stream| {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
        io::copy(&mut stream, &mut io::sink()).map(drop)
    });
    let closes = Raw::start(|_, stream| {
        drop(stream);
        Ok(())
    });
    for site in [plain, closes] {
        let (status, report) =
            crawled(&site, "localhost", &["mail/ca.pem"], &["--ignore-robots", "--retries", "0"]);
        assert_eq!((status, &report["failed"]), (Some(3), &1.into()), "{report}");
    }
}
