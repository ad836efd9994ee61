//! A TCP forwarder between a process and its engine.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Forwards the bytes between clients and an engine.
pub(super) struct Forwarder {
    port: u16,
    way: Arc<Mutex<Way>>,
}

struct Way {
    /// The port of the engine.
    engine: u16,
    /// The delay that is added to each answer.
    pause: Duration,
    open: Vec<TcpStream>,
}

impl Forwarder {
    /// Creates a forwarder to an engine on the given port. `is_lost` decides which answers are lost
    /// together with their connection; its arguments are the number of the connection and the number of the
    /// answer, both from 0.
    pub(super) fn to(engine: u16, is_lost: fn(usize, usize) -> bool) -> Forwarder {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let way = Arc::new(Mutex::new(Way { engine, pause: Duration::ZERO, open: Vec::new() }));
        let forwarder = Forwarder { port, way: Arc::clone(&way) };
        thread::spawn(move || {
            for (number, client) in listener.incoming().enumerate() {
                let way = Arc::clone(&way);
                thread::spawn(move || pass_on(&way, client?, |answer| is_lost(number, answer)));
            }
        });
        forwarder
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// Delays each answer by `pause` from now on.
    pub(super) fn slow_down(&self, pause: Duration) {
        self.way.lock().unwrap().pause = pause;
    }

    /// Forwards to another engine from now on, and closes all connections.
    pub(super) fn turn_to(&self, engine: u16) {
        let mut way = self.way.lock().unwrap();
        way.engine = engine;
        for end in way.open.drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

fn pass_on(way: &Mutex<Way>, mut client: TcpStream, is_lost: impl Fn(usize) -> bool) -> io::Result<()> {
    let mut engine = {
        let mut way = way.lock().unwrap();
        let engine = TcpStream::connect(("127.0.0.1", way.engine))?;
        way.open.extend([client.try_clone()?, engine.try_clone()?]);
        engine
    };
    let (mut from, mut to) = (client.try_clone()?, engine.try_clone()?);
    thread::spawn(move || io::copy(&mut from, &mut to).and_then(|_| to.shutdown(Shutdown::Both)));
    let mut buffer = vec![0; 1 << 16];
    for answer in 0.. {
        let length = engine.read(&mut buffer)?;
        if length == 0 || is_lost(answer) {
            break;
        }
        let pause = way.lock().unwrap().pause;
        thread::sleep(pause);
        client.write_all(&buffer[..length])?;
    }
    client.shutdown(Shutdown::Both)
}
