//! How many messages lie on a server, by POP3 (RFC 1939, 2449 and 2595).

use super::tls::Client;
use super::wire::Wire;
use super::{Account, Failure, Login, Progress, Secret, Security, Step, oauth};

/// Counts the messages that lie on the server. POP3 does not know which were read.
pub(super) fn waiting(
    wire: &mut Wire,
    tls: Option<&Client>,
    account: &Account,
    secret: &Secret,
    progress: &Progress,
) -> Result<u64, Failure> {
    progress.at(Step::Greeting);
    answer(wire, "the session")?;
    if account.security == Security::StartTls {
        progress.at(Step::Encrypting);
        start_tls(wire, tls)?;
    }
    progress.at(Step::LoggingIn);
    log_in(wire, account, secret)?;
    progress.at(Step::Counting);
    wire.send("STAT\r\n")?;
    let count = count(&answer(wire, "STAT")?)?;
    // The answer to this is not read: it changes nothing, and a late one must not cost the count.
    let _ = wire.send("QUIT\r\n");
    Ok(count)
}

fn start_tls(wire: &mut Wire, tls: Option<&Client>) -> Result<(), Failure> {
    wire.send("CAPA\r\n")?;
    let mut offered = false;
    if let (Some("+OK"), _) = status(&wire.line()?) {
        loop {
            match wire.line()?.trim_end() {
                "." => break,
                capability => offered |= capability.eq_ignore_ascii_case("STLS"),
            }
        }
    }
    let Some(tls) = tls.filter(|_| offered) else {
        return Err(Failure::because("the server does not offer STARTTLS"));
    };
    wire.send("STLS\r\n")?;
    answer(wire, "STLS")?;
    tls.begin(wire)
}

fn log_in(wire: &mut Wire, account: &Account, secret: &Secret) -> Result<(), Failure> {
    if !wire.is_encrypted() && !account.allow_plain_password {
        return Err(Failure::because("the connection is not encrypted"));
    }
    match &account.login {
        Login::Password(_) => {
            wire.send(format!("USER {}\r\n", account.user))?;
            answer(wire, "the user")?;
            wire.send_secret("PASS ", secret, "\r\n")?;
            answer(wire, "the login").map(drop)
        }
        Login::Token(_) | Login::TokenCommand(_) => {
            let response = oauth::response(&account.user, secret);
            log_in_by_token(wire, &response).map_err(|failure| failure.without(&response))
        }
    }
}

fn log_in_by_token(wire: &mut Wire, response: &Secret) -> Result<(), Failure> {
    wire.send("AUTH XOAUTH2\r\n")?;
    let mut line = wire.line()?;
    if status(&line).0 == Some("+") {
        wire.send_secret("", response, "\r\n")?;
        line = wire.line()?;
    }
    if status(&line).0 == Some("+") {
        // Before the server refuses, it says why in a form for programs, and waits for an empty line.
        wire.send("\r\n")?;
        line = wire.line()?;
    }
    accepted(&line, "the login").map(drop)
}

/// What the server says to a command, if it does not refuse it.
fn answer(wire: &mut Wire, what: &str) -> Result<String, Failure> {
    accepted(&wire.line()?, what)
}

fn accepted(line: &str, what: &str) -> Result<String, Failure> {
    match status(line) {
        (Some("+OK"), words) => Ok(words.to_owned()),
        (Some("-ERR"), words) => Err(Failure::Because(format!("the server refused {what}: {words}"))),
        _ => Err(Failure::Because(format!("the server does not speak POP3; it said: {line}"))),
    }
}

/// Reads the status, `+OK`, `-ERR` or `+` (which wants more), and the words behind it. Some servers write the
/// status in small letters, or put something else than one space behind it.
fn status(line: &str) -> (Option<&'static str>, &str) {
    let is = |status: &&str| line.get(..status.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(status));
    let status = ["+OK", "-ERR", "+"].into_iter().find(is);
    (status, line[status.map_or(0, str::len)..].trim_ascii())
}

/// Reads `2 320`: the number of messages, and of bytes in them.
fn count(words: &str) -> Result<u64, Failure> {
    let count = words.split_ascii_whitespace().next().and_then(|count| count.parse().ok());
    count.ok_or_else(|| Failure::Because(format!("the server's count of messages makes no sense: {words}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_as_servers_write_it() {
        for (line, read) in [
            ("+OK", (Some("+OK"), "")),
            ("+OK 4 800", (Some("+OK"), "4 800")),
            ("+OK  4 800", (Some("+OK"), "4 800")),
            ("+OK\t4\t800 ", (Some("+OK"), "4\t800")),
            ("+ok ready", (Some("+OK"), "ready")),
            ("+OK<1896.697170952@example.org>", (Some("+OK"), "<1896.697170952@example.org>")),
            ("-Err no", (Some("-ERR"), "no")),
            ("OK", (None, "OK")),
            ("+", (Some("+"), "")),
            ("+ more", (Some("+"), "more")),
            ("öOK", (None, "öOK")),
            ("* OK ready", (None, "* OK ready")),
        ] {
            assert_eq!(status(line), read);
        }
        for (words, messages) in
            [("4 800", Some(4)), ("4\t800", Some(4)), ("0", Some(0)), ("many", None), ("", None)]
        {
            assert_eq!(count(words).ok(), messages, "{words:?}");
        }
    }
}
