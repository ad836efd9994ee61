//! Tests logs that are not files: named pipes, and sockets of syslog daemons.
//!
//! A child process that another test starts has all descriptors of this process until the child executes its
//! program. So a pipe may keep its reader for a moment after the test has closed the reader. If a check needs
//! a pipe without a reader, the check waits until this reader is gone.

use crate::place::{Place, number, numbered, wait_until, write, write_all};
use logservice::Sink;
use logservice::sink::{FileSink, SyslogSink};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// A time limit within which a sink must return, even on a slow machine.
const SOON: Duration = Duration::from_secs(5);

fn pipe(place: &Place) -> FileSink {
    mkfifoat(CWD, &place.log, Mode::RUSR | Mode::WUSR).unwrap();
    place.open()
}

fn reader(path: &Path) -> File {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path).unwrap()
}

fn read_some(reader: &mut File) -> String {
    let mut bytes = vec![0; 1 << 20];
    let read = reader.read(&mut bytes).unwrap();
    String::from_utf8(bytes[..read].to_vec()).unwrap()
}

/// Checks that a write waits for room, but not for long.
fn assert_waits_for_a_moment(sink: &mut impl Sink) {
    let begun = Instant::now();
    assert_eq!(sink.write(b"a\n").unwrap_err().kind(), ErrorKind::WouldBlock);
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_millis(90) && waited < SOON, "{waited:?}");
}

#[test]
fn a_pipe_without_a_reader_is_opened_and_takes_lines_when_there_is_one() {
    let place = Place::new();
    let mut sink = pipe(&place);
    for _ in 0..2 {
        let error = sink.write(b"a\n").unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::NotConnected, "no process reads it".to_owned())
        );
    }
    let mut reader = reader(&place.log);
    write(&mut sink, "a\nb\n");
    assert_eq!(read_some(&mut reader), "a\nb\n");
    assert_eq!(place.names(), ["app.log"]); // no lock
}

#[test]
fn a_pipe_that_nobody_empties_does_not_hold_the_writer_and_gets_every_line_once() {
    let place = Place::new();
    let mut sink = pipe(&place);
    let mut reader = reader(&place.log);
    let lines = numbered(0..8_000); // a multiple of a pipe's capacity
    let mut read = String::new();
    let mut waits = 0;
    write_all(&mut sink, lines.as_bytes(), |error| {
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        read += &read_some(&mut reader);
        waits += 1;
    });
    assert!(waits > 2, "{waits}");
    read += &read_some(&mut reader);
    assert!(read == lines);
    while sink.write(lines.as_bytes()).is_ok() {}
    assert_waits_for_a_moment(&mut sink);
}

/// The second reader gets the bytes that the first reader has not read, and every torn line is ended.
#[test]
fn a_reader_that_goes_away_leaves_whole_lines_to_the_next() {
    for first_reads in [0, 10_000, 1 << 20] {
        let place = Place::new();
        let mut sink = pipe(&place);
        let lines = numbered(0..3_000);
        let mut first = reader(&place.log);
        let mut taken = sink.write(lines.as_bytes()).unwrap(); // the room ends in the middle of a line
        assert_eq!(sink.write(&lines.as_bytes()[taken..]).unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut read = vec![0; first_reads];
        let length = first.read(&mut read).unwrap();
        let mut text = String::from_utf8(read[..length].to_vec()).unwrap();
        assert!(first_reads < 1 << 20 || !text.ends_with('\n'), "it is not torn");
        drop(first);
        for _ in 0..2 {
            wait_until("the reader is gone", || match sink.write(&lines.as_bytes()[taken..]) {
                Ok(more) => {
                    taken += more;
                    false
                }
                Err(error) => error.kind() == ErrorKind::NotConnected,
            });
        }
        let mut second = reader(&place.log);
        while taken < lines.len() {
            taken += sink.write(&lines.as_bytes()[taken..]).unwrap_or_default();
            text += &read_some(&mut second);
        }
        let numbers: Vec<_> = text.lines().filter_map(number).collect();
        assert!(numbers == (0..3_000).collect::<Vec<_>>(), "{} lines", numbers.len());
        assert_eq!(text.lines().count(), 3_001); // then the torn line comes again
    }
}

#[test]
fn a_pipe_that_is_made_anew_is_found() {
    let place = Place::new();
    let mut sink = pipe(&place);
    let _old = reader(&place.log);
    write(&mut sink, "a\n");
    fs::remove_file(&place.log).unwrap();
    mkfifoat(CWD, &place.log, Mode::RUSR | Mode::WUSR).unwrap();
    let mut new = reader(&place.log);
    write(&mut sink, "b\n");
    assert_eq!(read_some(&mut new), "b\n");
    sink.reopen().unwrap();
    write(&mut sink, "c\n");
    assert_eq!(read_some(&mut new), "c\n");
}

// ----- syslog -----

fn receive(daemon: &UnixDatagram) -> String {
    daemon.set_read_timeout(Some(crate::place::LONG)).unwrap();
    let mut bytes = vec![0; 1 << 20];
    let length = daemon.recv(&mut bytes).unwrap();
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

#[test]
fn a_line_is_a_datagram() {
    let place = Place::new();
    let daemon = UnixDatagram::bind(&place.log).unwrap();
    let mut sink = SyslogSink::at(&place.log);
    write(&mut sink, "<14>one\n<14>two\n");
    assert_eq!([receive(&daemon), receive(&daemon)], ["<14>one", "<14>two"]);
    assert!(sink.name().contains("app.log"));
    assert_eq!(sink.warning(), None);
}

#[test]
fn lines_wait_for_the_daemon_also_when_it_is_restarted() {
    let place = Place::new();
    let mut sink = SyslogSink::at(&place.log);
    assert_eq!(sink.write(b"a\n").unwrap_err().kind(), ErrorKind::NotFound);
    for _ in 0..3 {
        let daemon = UnixDatagram::bind(&place.log).unwrap();
        write(&mut sink, "a\n");
        assert_eq!(receive(&daemon), "a");
        drop(daemon);
        wait_until("the daemon is gone", || match sink.write(b"b\n") {
            Ok(_) => false,
            Err(error) => error.kind() == ErrorKind::ConnectionRefused,
        });
        assert_eq!(sink.reopen().unwrap_err().kind(), ErrorKind::ConnectionRefused);
        fs::remove_file(&place.log).unwrap();
        assert_eq!(sink.write(b"b\n").unwrap_err().kind(), ErrorKind::NotFound);
    }
    // The daemon is restarted between two lines; this must not count as a failure.
    let first = UnixDatagram::bind(&place.log).unwrap();
    write(&mut sink, "c\n");
    fs::remove_file(&place.log).unwrap();
    let second = UnixDatagram::bind(&place.log).unwrap();
    drop(first);
    second.set_nonblocking(true).unwrap();
    wait_until("the second one gets a line", || {
        write(&mut sink, "d\n");
        second.recv(&mut [0; 9]).is_ok()
    });
}

#[test]
fn a_daemon_that_does_not_read_does_not_hold_the_writer_and_gets_every_line_once() {
    let place = Place::new();
    let daemon = UnixDatagram::bind(&place.log).unwrap();
    let mut sink = SyslogSink::at(&place.log);
    let lines = numbered(0..3_000);
    let taken = sink.write(lines.as_bytes()).unwrap();
    assert_waits_for_a_moment(&mut sink);
    thread::scope(|scope| {
        let reader = scope.spawn(|| (0..3_000).for_each(|n| assert_eq!(number(&receive(&daemon)), Some(n))));
        write_all(&mut sink, &lines.as_bytes()[taken..], |error| {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
        });
        reader.join().unwrap();
    });
}

#[test]
fn a_line_that_is_too_long_for_a_datagram_is_cut_and_that_is_told_once() {
    let place = Place::new();
    let daemon = UnixDatagram::bind(&place.log).unwrap();
    let mut sink = SyslogSink::at(&place.log);
    let long = "é".repeat(500_000) + "\n";
    write(&mut sink, &long);
    let received = receive(&daemon);
    assert!(received.len() > 10_000 && long.starts_with(&received), "{}", received.len());
    assert!(sink.warning().unwrap().contains("was cut"));
    thread::scope(|scope| {
        scope.spawn(|| write_all(&mut sink, (long.clone() + "short\n").as_bytes(), |_| {}));
        assert_eq!(receive(&daemon), received);
        assert_eq!(receive(&daemon), "short");
    });
    assert_eq!(sink.warning(), None);
}

#[test]
fn the_daemon_of_this_system_is_found_or_named() {
    match SyslogSink::local() {
        Ok(sink) => assert!(sink.name().starts_with("syslog at /")),
        Err(error) => assert!(error.to_string().contains("/dev/log"), "{error}"),
    }
}

#[test]
fn a_socket_that_is_no_datagram_socket_is_an_error() {
    let place = Place::new();
    let _stream = std::os::unix::net::UnixListener::bind(&place.log).unwrap();
    let error: io::Error = SyslogSink::at(&place.log).write(b"a\n").unwrap_err();
    assert!(error.to_string().contains("rotocol"), "{error}");
}
