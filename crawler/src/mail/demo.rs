//! Mail servers inside this process, for trying the check: each server follows a script, and some scripts
//! have faults.

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

/// The behaviour of a server.
#[derive(Debug, Clone)]
pub struct Script {
    /// The protocol that the server speaks.
    pub protocol: Protocol,
    /// The encryption of the server's connections.
    pub security: Security,
    /// The password that the server accepts, and with which the account logs in.
    pub password: String,
    /// The number of messages that the server has.
    pub mail: u64,
    /// The time that the server takes to answer the login.
    pub delay: Duration,
    /// The fault of the server, and the moment at which it occurs: a command of the client, or `listen`,
    /// `connect`, `greeting`, or `password`.
    pub fault: Option<(&'static str, Fault)>,
}

impl Script {
    /// Returns the script of a server without faults and without mail.
    pub fn new(protocol: Protocol, security: Security) -> Script {
        let password = "demo password".to_owned();
        Script { protocol, security, password, mail: 0, delay: Duration::ZERO, fault: None }
    }

    /// Returns the script of a server without TLS that has one message and a fault.
    fn bad(protocol: Protocol, at: &'static str, fault: Fault) -> Script {
        Script { mail: 1, fault: Some((at, fault)), ..Script::new(protocol, Security::Plain) }
    }
}

/// A fault of a server.
#[derive(Debug, Clone)]
pub enum Fault {
    /// The server sends this text, in which `TAG` stands for the tag of the command.
    Says(String),
    /// The server repeats this text without end.
    Repeats(String),
    /// The server sends nothing until the client closes the connection.
    Silence,
    /// The server closes the connection.
    HangsUp,
}

/// Mail servers that are stopped when this value is dropped.
pub struct Demo {
    accounts: Vec<Arc<Account>>,
    heard: Vec<Arc<Heard>>,
    stop: CancelToken,
    /// The pool of the servers' threads; dropping the pool waits for these threads.
    pool: ThreadPoolExecutor,
    /// Ports that are bound, but on which no server listens.
    _refusing: Vec<Socket>,
}

impl Demo {
    /// Eight accounts. Two of the servers have no mail. Six servers have mail: five of them fail, each in its
    /// own way, and one needs three seconds for the login. So a program that interprets silence as "no new
    /// mail" gives a wrong answer.
    ///
    /// # Errors
    /// Fails if the system cannot provide a port or a thread.
    pub fn eight() -> io::Result<Demo> {
        let good = |protocol| Script::new(protocol, Security::Plain);
        let refuses = Fault::Says("TAG NO [AUTHENTICATIONFAILED] the password is wrong\r\n".to_owned());
        let talks_on = Fault::Repeats("* OK more of it\r\n".to_owned());
        let scripts = [
            ("work", good(Protocol::Imap)),
            ("home", good(Protocol::Pop3)),
            ("old password", Script::bad(Protocol::Imap, "password", refuses)),
            ("hangs up", Script::bad(Protocol::Pop3, "password", Fault::HangsUp)),
            ("talks on", Script::bad(Protocol::Imap, "CAPABILITY", talks_on)),
            ("switched off", Script::bad(Protocol::Imap, "listen", Fault::HangsUp)),
            ("silent", Script::bad(Protocol::Imap, "connect", Fault::Silence)),
            ("slow", Script { mail: 5, delay: Duration::from_secs(3), ..good(Protocol::Pop3) }),
        ];
        Demo::start(scripts, None)
    }

    /// Starts a server for each script. Servers that speak TLS present the certificate of `identity`.
    /// Each account has the same name as its script.
    ///
    /// # Errors
    /// Fails if the system cannot provide a port or a thread.
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
            if matches!(script.fault, Some(("listen", _))) {
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
        let demo = Demo { accounts, heard, stop, pool, _refusing: refusing }; // dropping the pool ends the servers
        for (server, listener, address) in servers {
            demo.pool.execute(move || server.run(&listener, address)).map_err(io::Error::other)?;
        }
        Ok(demo)
    }

    /// Returns the accounts of the servers, in the order of the scripts.
    pub fn accounts(&self) -> &[Arc<Account>] {
        &self.accounts
    }

    /// Returns the log of the server of an account.
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

/// The log of a server: each line that its clients have sent, with the prefix `plain` or `TLS`, and also
/// `connected` and `closed`.
#[derive(Debug, Default)]
pub struct Heard {
    lines: Mutex<Vec<String>>,
    changed: Condvar,
}

impl Heard {
    /// Returns all lines, joined into one text.
    pub fn all(&self) -> String {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    /// Waits for at most `longest` until a line contains `part`, and returns whether such a line exists.
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

/// A server, which has a thread of its own and serves one client at a time.
struct Server {
    script: Script,
    identity: Option<Identity>,
    heard: Arc<Heard>,
    stop: CancelToken,
}

impl Server {
    fn run(&self, listener: &TcpListener, address: SocketAddr) {
        // A token cannot end `accept`, but a new connection can; so a cancellation opens a connection to the
        // server.
        let _wakes = self.stop.on_cancel(move || drop(TcpStream::connect(address)));
        while let Ok((stream, _)) = listener.accept() {
            if self.stop.is_cancelled() {
                return;
            }
            self.heard.note("connected");
            let _ = stream.set_nodelay(true); // TLS writes twice before it reads
            let link = CancellableStream::new(stream, &self.stop);
            let mut client = Client { server: self, wire: Wire::over(link) };
            // Errors are ignored, because clients are expected to close their connections at any time.
            let _ = client.serve();
            drop(client);
            self.heard.note("closed");
        }
    }
}

/// The server's side of a connection.
struct Client<'a> {
    server: &'a Server,
    wire: Wire,
}

impl Client<'_> {
    fn serve(&mut self) -> io::Result<()> {
        let Script { protocol, security, .. } = self.server.script;
        self.goes_wrong("connect", "")?;
        if security == Security::Tls {
            self.encrypt()?;
        }
        if !self.goes_wrong("greeting", "")? {
            self.wire.send(if protocol == Protocol::Imap { "* OK ready\r\n" } else { "+OK ready\r\n" })?;
        }
        loop {
            let line = self.line()?;
            let tagged = line.split_once(' ').filter(|_| protocol == Protocol::Imap);
            let (tag, command) = tagged.unwrap_or(("", &line));
            let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
            if self.goes_wrong(verb, tag)? {
                continue;
            }
            if let Some(password) = self.password(verb, rest)? {
                self.server.stop.sleep(self.server.script.delay)?;
                if self.goes_wrong("password", tag)? {
                    continue;
                } else if password != self.server.script.password {
                    return Err(failure("the password is another one"));
                }
            }
            self.wire.send(self.usual(verb, rest).replace("TAG", tag))?;
            match verb {
                "STARTTLS" | "STLS" => self.encrypt()?,
                "LOGOUT" | "QUIT" => return Ok(()),
                _ => (),
            }
        }
    }

    /// Returns the answer that a server without faults gives to a command, with `TAG` in place of the
    /// command's tag.
    fn usual(&self, verb: &str, rest: &str) -> String {
        let Script { protocol, security, mail, .. } = self.server.script;
        let waits_for_tls = security == Security::StartTls && !self.wire.is_encrypted();
        let yes = if protocol == Protocol::Imap { "TAG OK" } else { "+OK" };
        match verb {
            "CAPABILITY" if waits_for_tls => {
                "* CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED\r\nTAG OK done\r\n".to_owned()
            }
            "CAPABILITY" => "* CAPABILITY IMAP4rev1 AUTH=XOAUTH2\r\nTAG OK done\r\n".to_owned(),
            "CAPA" => format!("+OK\r\nUSER\r\n{}.\r\n", if waits_for_tls { "STLS\r\n" } else { "" }),
            "STATUS" => {
                let count = rest.replace("(UNSEEN)", &format!("(UNSEEN {mail})"));
                format!("* STATUS {count}\r\nTAG OK done\r\n")
            }
            "STAT" => format!("+OK {mail} {}\r\n", mail * 1000),
            _ => format!("{yes} as you wish\r\n"),
        }
    }

    /// Returns whether the script has a fault at this moment; if so, executes the fault.
    fn goes_wrong(&mut self, moment: &str, tag: &str) -> io::Result<bool> {
        let server = self.server;
        let Some((_, fault)) = server.script.fault.as_ref().filter(|(at, _)| *at == moment) else {
            return Ok(false);
        };
        match fault {
            Fault::Says(words) => self.wire.send(words.replace("TAG", tag)).map(|()| true),
            Fault::Repeats(words) => loop {
                self.wire.send(words.repeat(16))?;
            },
            Fault::Silence => loop {
                self.wire.line()?; // a TLS client's first bytes may look like a line
            },
            Fault::HangsUp => Err(failure("the script says so")),
        }
    }

    /// Returns the password, or the token of XOAUTH2, if the command is a login.
    fn password(&mut self, verb: &str, rest: &str) -> io::Result<Option<String>> {
        Ok(Some(match verb {
            "PASS" => rest.to_owned(),
            "LOGIN" => {
                // The client sends user and password as literals. For this server, each literal is a
                // separate line.
                self.wire.send("+ go on\r\n")?;
                self.line()?;
                self.wire.send("+ go on\r\n")?;
                self.line()?
            }
            "AUTHENTICATE" | "AUTH" => {
                self.wire.send("+ \r\n")?;
                let sent = STANDARD.decode(self.wire.line()?).unwrap_or_default();
                let words = String::from_utf8_lossy(&sent);
                self.note(&words);
                let token = words.strip_prefix("user=demo\x01auth=Bearer ").unwrap_or_default();
                token.trim_end_matches('\x01').to_owned()
            }
            _ => return Ok(None),
        }))
    }

    fn encrypt(&mut self) -> io::Result<()> {
        match self.server.identity.clone() {
            Some(identity) => self.wire.encrypt(|link| identity.serve(link)),
            None => Err(failure("it has no certificate")),
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
}
