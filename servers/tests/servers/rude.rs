//! Clients that hang up, fall silent or send nonsense, many at once: the others are served.

use crate::support::{Client, Stage, every_stage};
use std::time::Duration;

fn reset(client: Client) {
    let socket = socket2::Socket::from(client.stream);
    socket.set_linger(Some(Duration::ZERO)).unwrap();
}

/// Many clients at once of each kind that wants nothing good.
fn be_rude(stage: &Stage, count: usize) {
    let crowd = || (0..count).map(|_| stage.connect());
    drop(crowd().collect::<Vec<_>>());
    crowd().for_each(reset);
    let mut clients: Vec<_> = crowd().collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(match number % 5 {
            0 => b"GET /hello HT".as_slice(),
            1 => b"\x80\xff\x00garbage\r\n\r\n\n\n\0",
            2 => b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nabc",
            3 => b"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
            _ => b"\r\n\r\n\r\n",
        });
    }
    for (number, client) in clients.into_iter().enumerate() {
        if number % 2 == 0 { drop(client) } else { reset(client) }
    }
}

#[test]
fn rude_clients_do_no_harm() {
    every_stage(&[], |stage| {
        for _ in 0..3 {
            be_rude(stage, 100);
        }
        stage.assert_alive();
    });
}

#[test]
fn clients_that_just_stay_are_outlasted() {
    every_stage(&["--header-timeout", "500ms", "--body-timeout", "200ms", "--threads", "2"], |stage| {
        let mut clients: Vec<_> = (0..6).map(|_| stage.connect()).collect();
        for (number, client) in clients.iter_mut().enumerate() {
            match number % 3 {
                0 => client.send(""),
                1 => client.send("GET /"),
                _ => client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n"),
            };
        }
        stage.assert_alive();
        drop(clients);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn no_descriptor_is_left_behind() {
    use crate::support::eventually;
    every_stage(&[], |stage| {
        let unused = stage.open_descriptors();
        be_rude(stage, 100);
        stage.assert_alive();
        eventually("some connection stays open", || stage.open_descriptors() == unused);
    });
}

#[cfg(unix)]
#[test]
fn running_out_of_descriptors_is_survived() {
    use crate::support::{KEEPING_STAGES, STAGES, room, shell};
    for binary in STAGES {
        let stage = Stage::start_command(binary, &mut shell("ulimit -n 30", binary, room(binary)));
        let clients: Vec<_> = (0..100).map(|_| stage.connect()).collect();
        if KEEPING_STAGES.contains(&binary) {
            let line = stage.log_line();
            assert!(line.starts_with("cannot accept a connection"), "{line}");
        }
        drop(clients);
        stage.assert_alive();
    }
}
