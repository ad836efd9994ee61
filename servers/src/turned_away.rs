//! The clients that were turned away, with a 503 or without an answer.
//!
//! If a connection is closed while its client is still sending, the system sends a reset, so the client
//! may never see the answer (see [`lingering`](crate::lingering)). If the server waited for one client
//! after another, the last of several hundred clients would wait for seconds. So each client is answered
//! at once. While the accept loop waits for the next connection, it also waits for all clients that it has
//! turned away.

use crate::http::{CLOSE, Refusal};
use crate::lingering::{LONGEST, Lingering};
use executor::CancelToken;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, Read};
use std::mem;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of turned-away clients that the loop waits for at a time. If there are more such clients, the
/// loop closes the connection of the client that it turned away first.
pub(crate) const MOST: usize = 2000;

/// How many bytes of one client are dropped before the next client's turn.
const TURN: usize = 1024 * 1024;

/// The clients that were turned away and have not closed their connections yet.
#[derive(Debug, Clone, Default)]
pub struct TurnedAway(Arc<Mutex<Clients>>);

#[derive(Debug, Default)]
struct Clients {
    list: Vec<Leaver>,
    /// A client that is turned away after this token was cancelled came too late.
    stop: CancelToken,
}

#[derive(Debug)]
struct Leaver {
    stream: TcpStream,
    is_late: bool,
    lingering: Lingering,
    has_spoken: bool,
    /// True if bytes, or the end of the client's side, have arrived.
    is_ready: bool,
}

impl Drop for Leaver {
    /// Reads the remaining bytes, because closing a connection with unread bytes sends a reset.
    fn drop(&mut self) {
        self.is_ready = true;
        self.look(Instant::now());
    }
}

/// The result of checking a client.
#[derive(PartialEq, Eq)]
enum Fate {
    Stays,
    Closed,
    /// The client has closed its connection, and has never sent anything.
    Silent,
}

impl TurnedAway {
    /// After `stop` has been cancelled, a client that is turned away counts as too late.
    pub(crate) fn count_from(&self, stop: &CancelToken) {
        self.lock().stop = stop.clone();
    }

    /// From now on, a client that is turned away counts as too late.
    pub(crate) fn count_from_now(&self) {
        let now = CancelToken::new();
        now.cancel();
        self.count_from(&now);
    }

    /// Answers 503 without waiting.
    pub(crate) fn turn_away(&self, stream: TcpStream) {
        let is_late = self.is_late(); // before the client gets its answer
        // A client that has already closed its connection needs no answer.
        if tell(&stream).is_ok() {
            self.push(stream, is_late);
        }
    }

    /// Closes the connection without an answer and without waiting.
    pub(crate) fn let_go(&self, stream: TcpStream) {
        let is_late = self.is_late();
        if stream.set_nonblocking(true).and_then(|()| stream.shutdown(Shutdown::Write)).is_ok() {
            self.push(stream, is_late);
        }
    }

    /// Returns whether the stage has begun to stop.
    pub(crate) fn is_late(&self) -> bool {
        self.lock().stop.is_cancelled()
    }

    fn push(&self, stream: TcpStream, is_late: bool) {
        let now = Instant::now();
        let mut leavers = self.lock();
        if leavers.list.len() >= MOST {
            leavers.list.remove(0);
        }
        leavers.list.push(Leaver {
            stream,
            is_late,
            lingering: Lingering::refused(false, LONGEST, now),
            has_spoken: false,
            is_ready: false,
        });
    }

    /// Blocks until each turned-away client has closed its connection or is silent, but at most
    /// until `deadline`. Returns how many of these clients came too late, that is, after the stage
    /// had begun to stop.
    pub fn see_off(&self, deadline: Instant) -> usize {
        let mut seen_off = 0;
        loop {
            let mut leavers = self.take();
            let is_over = Instant::now() >= deadline;
            if leavers.is_empty() || is_over {
                return seen_off + leavers.iter().filter(|leaver| leaver.is_late).count();
            }
            look_after(&mut leavers, None, deadline);
            seen_off += sweep(&mut leavers);
            self.put_back(leavers);
        }
    }

    /// Reads from the turned-away clients until `listener` has a connection, or until no such client is
    /// left.
    pub(crate) fn look_after_until(&self, listener: &TcpListener) {
        loop {
            let mut leavers = self.take();
            if leavers.is_empty() {
                return;
            }
            let is_ready = look_after(&mut leavers, Some(listener), Instant::now() + LONGEST);
            sweep(&mut leavers);
            self.put_back(leavers);
            if is_ready {
                return;
            }
        }
    }

    /// Closes the connections of all clients that were turned away. Returns whether there was at
    /// least one such client.
    pub(crate) fn hang_up(&self) -> bool {
        !self.take().is_empty()
    }

    fn take(&self) -> Vec<Leaver> {
        mem::take(&mut self.lock().list)
    }

    fn put_back(&self, mut leavers: Vec<Leaver>) {
        let newer = &mut self.lock().list;
        leavers.append(newer);
        *newer = leavers;
    }

    fn lock(&self) -> MutexGuard<'_, Clients> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the answer; a new connection always has room for it.
fn tell(mut stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    let mut answer = Vec::new();
    let response = Refusal::Overloaded.response();
    response.append_head(CLOSE, &mut answer);
    response.body.send(&mut answer, &mut stream)?;
    stream.shutdown(Shutdown::Write)
}

/// Waits until one of `leavers` has sent something or must be closed, until `listener` has a connection, or
/// until `deadline`. Returns whether `listener` has a connection.
fn look_after(leavers: &mut [Leaver], listener: Option<&TcpListener>, deadline: Instant) -> bool {
    let first = leavers.iter().map(Leaver::deadline).fold(deadline, Instant::min);
    let mut watched: Vec<_> =
        leavers.iter().map(|leaver| PollFd::new(&leaver.stream, PollFlags::IN)).collect();
    watched.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
    wait(&mut watched, first.saturating_duration_since(Instant::now()));
    let ready: Vec<_> = watched.iter().map(|watched| !watched.revents().is_empty()).collect();
    for (leaver, &is_ready) in leavers.iter_mut().zip(&ready) {
        leaver.is_ready = is_ready;
    }
    listener.is_some() && ready.last() == Some(&true)
}

/// Waits until `listener` has a connection; returns false if no connection has come within `longest`.
pub(crate) fn is_ready_within(listener: &TcpListener, longest: Duration) -> bool {
    let mut watched = [PollFd::new(listener, PollFlags::IN)];
    wait(&mut watched, longest);
    !watched[0].revents().is_empty()
}

fn wait(watched: &mut [PollFd<'_>], longest: Duration) {
    let longest = Timespec::try_from(longest).expect("some seconds");
    // If a signal interrupts the system call, or memory is short, the call returns early, and the loop
    // repeats it.
    let _ = poll(watched, Some(&longest));
}

/// Drops the clients that have closed their connections or have had enough time. Returns how many of the
/// dropped clients came too late. Does not count clients that sent nothing, for example the connection with
/// which a stop wakes the accept loop.
fn sweep(leavers: &mut Vec<Leaver>) -> usize {
    let now = Instant::now();
    let mut gone = 0;
    leavers.retain_mut(|leaver| {
        let fate = leaver.look(now);
        gone += usize::from(fate == Fate::Closed && leaver.is_late);
        fate == Fate::Stays
    });
    gone
}

impl Leaver {
    fn deadline(&self) -> Instant {
        self.lingering.deadline(false)
    }

    /// Drops the bytes that have arrived.
    fn look(&mut self, now: Instant) -> Fate {
        let mut discarded = [0; 16 * 1024];
        let mut left = TURN;
        while self.is_ready {
            match self.stream.read(&mut discarded) {
                Ok(count @ 1..) => {
                    self.has_spoken = true;
                    self.lingering.heard(now);
                    left = left.saturating_sub(count);
                    if left == 0 {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Ok(_) | Err(_) => return if self.has_spoken { Fate::Closed } else { Fate::Silent },
            }
        }
        if now < self.deadline() { Fate::Stays } else { Fate::Closed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_client_that_has_to_go_early_is_not_reset() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let (stream, _) = listener.accept().unwrap();
        assert_eq!(stream.peek(&mut [0]).unwrap(), 1);
        let turned_away = TurnedAway::default();
        turned_away.turn_away(stream);
        assert!(turned_away.hang_up());
        // A client whose connection was reset could neither send bytes nor read an answer.
        client.write_all(b"more").unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    }
}
