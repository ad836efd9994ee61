//! Access tokens of OAuth 2.0 in place of passwords: Gmail and Outlook want them. They are sent by XOAUTH2,
//! which both accept.
//!
//! To get a token, a user needs a browser. So here a token comes from a file, or from a program that keeps it
//! fresh.

use super::connect::aside;
use super::{Secret, failure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use executor::CancelToken;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often a program that has printed a token, and still runs, is looked at.
const OFTEN: Duration = Duration::from_millis(1);

/// The text that logs a user in by XOAUTH2. It is as secret as the token.
pub(super) fn response(user: &str, token: &Secret) -> Secret {
    let words = token.between(format!("user={user}\x01auth=Bearer ").as_bytes(), b"\x01\x01");
    Secret::new(STANDARD.encode(words.bytes()))
}

/// Runs a program that prints a token. A cancel kills it; what it has started itself may go on.
pub(super) fn printed_by(command: &[String], token: &CancelToken) -> io::Result<Secret> {
    let [program, arguments @ ..] = command else {
        return Err(failure("`token_command` names no program"));
    };
    let mut run = Command::new(program);
    let run = run.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child =
        run.map_err(|error| failure(format!("the program of `token_command` cannot be started: {error}")))?;
    let printed = read(&mut child, token);
    if printed.is_err() {
        let _ = child.kill(); // fails if it has ended
        let _ = child.wait();
    }
    let (secret, status) = printed?;
    if !status.success() {
        return Err(failure(format!("the program of `token_command` has failed: {status}")));
    }
    match secret.fault() {
        Some(fault) => Err(failure(format!("what the program of `token_command` prints {fault}"))),
        None => Ok(secret),
    }
}

/// What the program prints, and how it ends.
fn read(child: &mut Child, token: &CancelToken) -> io::Result<(Secret, ExitStatus)> {
    let output = child.stdout.take().expect("it has a pipe");
    let secret = aside("token", move || Secret::read(output), token)??;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((secret, status));
        }
        token.sleep(OFTEN)?;
    }
}
