//! Clients of an open loop: each client arrives at its planned time, even if earlier clients still
//! wait.

use crate::WORK;
use executor::{ExecutorExt, ExecutorService, ThreadPoolExecutor};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Connects clients to `addr`, in each phase at the rate of that phase. Returns after the last client has
/// left.
pub(crate) fn come(addr: SocketAddr, phases: &[(f64, f64)]) {
    let visitors = ThreadPoolExecutor::cached();
    let mut due = Instant::now();
    for &(length, rate) in phases {
        let end = due + Duration::from_secs_f64(length);
        while due < end {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let _ = visitors.execute(move || {
                let _ = visit(addr); // the server counts the result
            });
            due += Duration::from_secs_f64(1.0 / rate);
        }
    }
    visitors.close();
}

fn visit(addr: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(addr)?;
    let work = WORK.as_millis();
    write!(stream, "GET /block?ms={work} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")?;
    stream.read_to_end(&mut Vec::new()).map(drop)
}
