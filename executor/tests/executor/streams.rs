//! Connections that the library shuts down when a token is cancelled.
//!
//! Shutting down a socket wakes a read that is blocked on the socket, except on Windows.
#![cfg(not(windows))]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use executor::{CancelKind, CancelToken, CancellableStream, Cancelled, ThreadPoolExecutor, prelude::*};

use crate::support::{LONG, SHORT, Spot, blocked, within_deadline};

/// Returns both ends of a connection.
fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    peer.set_read_timeout(Some(LONG)).unwrap();
    (listener.accept().unwrap().0, peer)
}

fn cancelled<T: std::fmt::Debug>(result: io::Result<T>) -> Cancelled {
    Cancelled::from_io(result.unwrap_err()).unwrap()
}

#[test]
fn a_blocked_read_comes_back_with_a_clear_error_and_the_peer_sees_the_end() {
    within_deadline(|| {
        let (token, (stream, mut peer)) = (CancelToken::new(), connection());
        let mut stream = CancellableStream::new(stream, &token);
        let reader = blocked(move || {
            let mut bytes = Vec::new();
            // The method `read_to_end` tries again after an error of the kind `Interrupted`.
            stream.read_to_end(&mut bytes).map(|_| bytes)
        });
        token.cancel_because("closing");
        assert_eq!(cancelled(reader.result()).reason().unwrap().message(), Some("closing"));
        assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    });
}

#[test]
fn a_blocked_write_comes_back_too() {
    within_deadline(|| {
        let (token, (stream, peer)) = (CancelToken::new(), connection());
        let mut stream = CancellableStream::new(stream, &token);
        let writer = blocked(
            move || loop {
                // The thread writes until there is no room for more data, because the peer reads nothing.
                stream.write_all(&[0; 1 << 13])?;
            } as io::Result<()>,
        );
        token.cancel();
        cancelled(writer.result());
        drop(peer);
    });
}

#[test]
fn what_was_read_counts_and_an_end_or_an_error_of_the_streams_own_is_passed_on() {
    within_deadline(|| {
        let (token, (stream, mut peer)) = (CancelToken::new(), connection());
        stream.set_read_timeout(Some(SHORT)).unwrap();
        let stream = CancellableStream::new(stream, &token);
        let kind = (&stream).read(&mut [0; 8]).unwrap_err().kind();
        assert!(matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut), "{kind}");
        stream.get_ref().set_read_timeout(Some(LONG)).unwrap();
        peer.write_all(b"one\ntwo").unwrap();
        drop(peer);
        let mut lines = BufReader::new(&stream).lines().map(Result::unwrap);
        assert_eq!(
            [lines.next(), lines.next(), lines.next()],
            [Some("one".into()), Some("two".into()), None]
        );
        token.cancel();
        cancelled((&stream).read(&mut [0; 8]));
    });
}

#[test]
fn one_that_is_made_under_a_cancelled_token_is_over_at_once() {
    let (token, (stream, mut peer)) = (CancelToken::new(), connection());
    token.cancel();
    let mut stream = CancellableStream::new(stream, &token);
    cancelled(stream.write(b"x"));
    cancelled(stream.read(&mut [0]));
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
}

#[test]
fn dropping_it_closes_the_connection_although_its_token_lives_on() {
    let (token, (stream, mut peer)) = (CancelToken::new(), connection());
    drop(CancellableStream::new(stream, &token));
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    token.cancel();
}

#[test]
fn a_thread_may_read_while_another_writes() {
    within_deadline(|| {
        let (token, (stream, mut peer)) = (CancelToken::new(), connection());
        let stream = Arc::new(CancellableStream::new(stream, &token));
        let shared = Arc::clone(&stream);
        let reader = blocked(move || (&*shared).read(&mut [0]));
        (&*stream).write_all(b"x").unwrap();
        peer.read_exact(&mut [0]).unwrap();
        token.cancel();
        cancelled(reader.result());
    });
}

#[test]
fn a_connection_ends_with_its_task_its_pool_or_its_deadline() {
    within_deadline(|| {
        let serve = |connection: TcpStream, spot: Spot| {
            move |token: &CancelToken| {
                let limit = token.with_timeout(LONG * 100);
                let mut stream = CancellableStream::new(connection, &limit);
                spot.arrive();
                let cancelled = cancelled(stream.read(&mut [0]));
                token.check()?;
                Ok(cancelled.reason().unwrap().kind())
            }
        };
        let pool = ThreadPoolExecutor::fixed(1);
        let ((stream, mut peer), spot) = (connection(), Spot::default());
        let handle = pool.submit_cancellable(serve(stream, spot.clone())).unwrap();
        spot.wait_until_blocked();
        assert!(handle.cancel());
        assert_eq!(peer.read(&mut [0]).unwrap(), 0);

        let ((stream, mut peer), spot) = (connection(), Spot::default());
        let handle = pool.submit_cancellable(serve(stream, spot.clone())).unwrap();
        spot.wait_until_blocked();
        assert!(pool.shutdown_now().is_empty());
        assert_eq!(peer.read(&mut [0]).unwrap(), 0);
        assert!(handle.join().is_err());

        let (stream, _peer) = connection();
        let limit = CancelToken::new().with_timeout(SHORT);
        let late = cancelled(CancellableStream::new(stream, &limit).read(&mut [0]));
        assert_eq!(late.reason().unwrap().kind(), CancelKind::Deadline);
    });
}
