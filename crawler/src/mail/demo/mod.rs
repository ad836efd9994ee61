//! Mail servers to try the check on, in this process: each does what a script says, and some of it is bad.

use super::wire::Wire;
use super::{Account, Identity, Login, Protocol, Secret, Security, failure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use executor::{CancelToken, CancellableStream, ThreadPoolExecutor, prelude::*};
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

mod imap;
mod pop3;

/// What a server does.
#[derive(Debug, Clone)]
pub struct Script {
    /// The language that it speaks.
    pub protocol: Protocol,
    /// How its connections are encrypted.
    pub security: Security,
    /// The password that it accepts, and with which its account logs in.
    pub password: String,
    /// Messages that it has.
    pub mail: u64,
    /// How long it takes to answer the login.
    pub delay: Duration,
    /// What goes wrong.
    pub fault: Fault,
}

impl Script {
    /// A server without faults and without mail.
    pub fn new(protocol: Protocol, security: Security) -> Script {
        let password = "demo password".to_owned();
        Script { protocol, security, password, mail: 0, delay: Duration::ZERO, fault: Fault::None }
    }
}

/// What is wrong with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It says that the password is wrong.
    WrongPassword,
    /// It says that this password is wrong, and repeats it, with a control character in the middle.
    EchoesPassword,
    /// It does not listen at its port.
    Refuses,
    /// It accepts connections and says nothing.
    Silent,
    /// It does not answer the first command.
    SilentLater,
    /// It closes the connection instead of answering the login.
    ClosesMidway,
    /// Its first line has no end.
    EndlessLine,
    /// It answers the first command, or the login, with lines without end.
    EndlessLines,
    /// Its first line is no line of a mail server.
    Garbage,
    /// It says good-bye instead of greeting.
    SaysGoodBye,
    /// It says that the client is logged in already.
    Preauth,
    /// It says that it accepts no password.
    LoginDisabled,
    /// It does not offer STARTTLS.
    NoStartTls,
    /// It sends more, not encrypted, in one packet with its answer to STARTTLS.
    Injects,
    /// It has no such folder.
    NoFolder,
    /// It answers the count with nonsense.
    NoCount,
    /// It sends the count of another folder, and thousands of lines more, before and after the right one.
    SaysMore,
    /// It does not answer the client's farewell, and does not close the connection either.
    NoFarewell,
}

/// Mail servers that end when this is dropped.
pub struct Demo {
    accounts: Vec<Arc<Account>>,
    heard: Vec<Arc<Heard>>,
    stop: CancelToken,
    /// The threads of the servers. The pool's drop waits for them.
    pool: ThreadPoolExecutor,
    /// Ports that are taken, but at which no server listens.
    _refusing: Vec<Socket>,
}

impl Demo {
    /// Eight accounts. Two have no mail. Six have mail, but five of them fail, each in a way of its own, and
    /// one needs three seconds for the login. So a program that takes silence for "no new mail" is wrong.
    ///
    /// # Errors
    /// If the system gives no port or no thread.
    pub fn eight() -> io::Result<Demo> {
        let script = |protocol, mail, fault| Script { mail, fault, ..Script::new(protocol, Security::Plain) };
        let slow = Script { delay: Duration::from_secs(3), ..script(Protocol::Pop3, 5, Fault::None) };
        let scripts = [
            ("work", script(Protocol::Imap, 0, Fault::None)),
            ("home", script(Protocol::Pop3, 0, Fault::None)),
            ("old password", script(Protocol::Imap, 1, Fault::WrongPassword)),
            ("hangs up", script(Protocol::Pop3, 1, Fault::ClosesMidway)),
            ("talks on", script(Protocol::Imap, 1, Fault::EndlessLines)),
            ("switched off", script(Protocol::Imap, 1, Fault::Refuses)),
            ("silent", script(Protocol::Imap, 1, Fault::Silent)),
            ("slow", slow),
        ];
        Demo::start(scripts, None)
    }

    /// Starts a server for each script. Servers that speak TLS show `identity`. Accounts have the names of
    /// their scripts.
    ///
    /// # Errors
    /// If the system gives no port or no thread.
    pub fn start<'a>(
        scripts: impl IntoIterator<Item = (&'a str, Script)>,
        identity: Option<Identity>,
    ) -> io::Result<Demo> {
        let (mut accounts, mut heard, mut refusing, mut servers) = (vec![], vec![], vec![], vec![]);
        let stop = CancelToken::new();
        for (name, script) in scripts {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
            let address = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::AddrNotAvailable)?;
            accounts.push(Arc::new(account(name, &script, address.port())));
            let notes = Arc::new(Heard::default());
            heard.push(Arc::clone(&notes));
            if script.fault == Fault::Refuses {
                refusing.push(socket);
                continue;
            }
            socket.listen(128)?;
            let server = Server { script, identity: identity.clone(), heard: notes, stop: stop.clone() };
            servers.push((server, TcpListener::from(socket), address));
        }
        let pool =
            ThreadPoolExecutor::builder().threads(servers.len().max(1)).name("demo").cancel_token(&stop);
        let pool = pool.build().map_err(io::Error::other)?;
        let demo = Demo { accounts, heard, stop, pool, _refusing: refusing }; // its drop ends the servers
        for (server, listener, address) in servers {
            demo.pool.execute(move || server.run(&listener, address)).map_err(io::Error::other)?;
        }
        Ok(demo)
    }

    /// The accounts of the servers, in the order of the scripts.
    pub fn accounts(&self) -> &[Arc<Account>] {
        &self.accounts
    }

    /// What the server of an account has heard.
    pub fn heard(&self, account: usize) -> &Heard {
        &self.heard[account]
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.stop.cancel_because("the demo has ended");
    }
}

fn account(name: &str, script: &Script, port: u16) -> Account {
    Account {
        name: name.to_owned(),
        host: "127.0.0.1".to_owned(),
        port,
        protocol: script.protocol,
        security: script.security,
        user: "demo".to_owned(),
        login: Login::Password(Secret::new(script.password.as_str())),
        folder: "INBOX".to_owned(),
        allow_plain_password: true,
        ca: None,
    }
}

/// What a server has heard: a line for each line of its clients, behind `plain: ` or `TLS: `, and `connected`
/// and `closed`.
#[derive(Debug, Default)]
pub struct Heard {
    lines: Mutex<Vec<String>>,
    changed: Condvar,
}

impl Heard {
    /// All lines, in one text.
    pub fn all(&self) -> String {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    /// Waits until a line contains `part`, for `longest` at most, and says whether one does.
    pub fn wait_for(&self, part: &str, longest: Duration) -> bool {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let lacks = |lines: &mut Vec<String>| !lines.iter().any(|line| line.contains(part));
        let waited = self.changed.wait_timeout_while(lines, longest, lacks);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn note(&self, line: impl Into<String>) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.into());
        self.changed.notify_all();
    }
}

/// A server, on a thread of its own. It has one client at a time.
struct Server {
    script: Script,
    identity: Option<Identity>,
    heard: Arc<Heard>,
    stop: CancelToken,
}

impl Server {
    fn run(&self, listener: &TcpListener, address: SocketAddr) {
        // No token ends `accept`, but a client of our own does.
        let _wakes = self.stop.on_cancel(move || drop(TcpStream::connect(address)));
        while let Ok((stream, _)) = listener.accept() {
            if self.stop.is_cancelled() {
                return;
            }
            self.heard.note("connected");
            let _ = stream.set_nodelay(true); // TLS writes twice before it reads
            let link = CancellableStream::new(stream, &self.stop);
            let mut client = Client { server: self, wire: Wire::over(link) };
            // An error is no news: clients are expected to go away.
            let _ = client.serve();
            drop(client);
            self.heard.note("closed");
        }
    }
}

/// A connection of a server.
struct Client<'a> {
    server: &'a Server,
    wire: Wire,
}

impl Client<'_> {
    fn serve(&mut self) -> io::Result<()> {
        let script = &self.server.script;
        if script.fault == Fault::Silent {
            return self.say_nothing();
        }
        if script.security == Security::Tls {
            self.encrypt()?;
        }
        match script.fault {
            Fault::EndlessLine => return self.without_end(&"x".repeat(1000)),
            Fault::Garbage => self.wire.send(b"\x1b]0;\xff\xfe\x07 220 garbage\r\n")?,
            _ => (),
        }
        match script.protocol {
            Protocol::Imap => self.imap(),
            Protocol::Pop3 => self.pop3(),
        }
    }

    fn encrypt(&mut self) -> io::Result<()> {
        match self.server.identity.clone() {
            Some(identity) => self.wire.encrypt(|link| identity.serve(link)),
            None => Err(failure("it has no certificate")),
        }
    }

    /// Sends nothing until the client goes away.
    fn say_nothing(&mut self) -> io::Result<()> {
        loop {
            self.wire.line()?; // a TLS client's first bytes may look like a line
        }
    }

    fn without_end(&mut self, text: &str) -> io::Result<()> {
        loop {
            self.wire.send(text.repeat(16))?;
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let line = self.wire.line()?;
        self.note(&line);
        Ok(line)
    }

    fn note(&self, text: &str) {
        let how = if self.wire.is_encrypted() { "TLS" } else { "plain" };
        self.server.heard.note(format!("{how}: {text}"));
    }

    /// Lets a client log in by XOAUTH2, and judges its token as it would a password.
    fn judge_token(&mut self) -> io::Result<Option<String>> {
        self.wire.send("+ \r\n")?;
        let line = self.wire.line()?;
        let words = String::from_utf8(STANDARD.decode(&line).unwrap_or_default()).unwrap_or_default();
        self.note(&words);
        let token =
            words.strip_prefix("user=demo\x01auth=Bearer ").and_then(|rest| rest.strip_suffix("\x01\x01"));
        let why = self.judge(token.unwrap_or_default())?;
        if why.is_some() {
            self.wire.send("+ eyJzdGF0dXMiOiI0MDAifQ==\r\n")?;
            self.line()?;
        }
        let echo = if self.server.script.fault == Fault::EchoesPassword { line } else { String::new() };
        Ok(why.map(|why| why + &echo))
    }

    /// Waits as long as the script says, and judges a login. Returns what is wrong with the password; `Err`
    /// if the script ends the connection.
    fn judge(&mut self, password: &str) -> io::Result<Option<String>> {
        let script = &self.server.script;
        self.server.stop.sleep(script.delay)?;
        Ok(match script.fault {
            Fault::ClosesMidway => return Err(failure("the script says so")),
            Fault::WrongPassword => Some("the password is wrong".to_owned()),
            Fault::EchoesPassword => {
                let (first, second) = password.split_at(password.len() / 2);
                Some(format!("no \u{1b}[1m{first}\u{1}{second}, and no {password}"))
            }
            _ if password != script.password => Some("the password is another one".to_owned()),
            _ => None,
        })
    }
}
