//! The properties of a connection; each property is a function. `exercise.toml` lists the properties and says
//! what each one promises.

use std::io::ErrorKind;

use exercises_harness::fail;

use super::exercise::{End, Limits, Next, Ready};

mod causes;
mod client;
mod said;
mod script;
mod wire;

use causes::{
    AFTER_END, AT_SIZE, CLOSES, EACH_ITS_OWN, EDGE, GOES_ON, INTERRUPTED, NO_LIMIT, NOT_A_REQUEST,
    ONE_ANSWER, SPINS, TOO_LONG, UNFINISHED,
};
use client::{Client, cuts, with_blocks};
use script::Event::{Block, Bytes, End as Over, Fails, Room};
use wire::answer_to;

const WIDE: Limits = Limits { pending: 1000, line: 1000, per_turn: 1000 };
/// Limits with room for two short answers and one byte more.
const NARROW: Limits = Limits { pending: 5, ..WIDE };

const WAITS_TO_READ: Next = Next::Wait(Ready { readable: true, writable: false });
const WAITS_TO_WRITE: Next = Next::Wait(Ready { readable: false, writable: true });
const NOTHING: Ready = Ready { readable: false, writable: false };
const BOTH: Ready = Ready { readable: true, writable: true };

/// Runs the client, and checks what its last turn returns.
fn ends(client: &mut Client, expected: Next, cause: &str) {
    let next = client.run();
    if next != expected {
        fail(
            &format!(
                "all events of the test have come: turn() returned {next:?}, and should return {expected:?}"
            ),
            cause,
        );
    }
}

pub fn lines_are_answered_in_order() {
    let mut client = Client::new(vec![Bytes(b"a\nb c \n\nd\n")], vec![], WIDE);
    ends(&mut client, WAITS_TO_READ, GOES_ON);
    client.has_got("A\nB C \n\nD\n", ONE_ANSWER);
}

pub fn however_the_input_is_cut() {
    for pieces in cuts("a\n\n\u{e9}\n".as_bytes()) {
        for blocks in [true, false] {
            let input = with_blocks(pieces.iter().map(|piece| Bytes(piece)), blocks);
            let mut client = Client::new(input, vec![], WIDE);
            ends(&mut client, WAITS_TO_READ, NOT_A_REQUEST);
            client.has_got("A\n\n\u{e9}\n", NOT_A_REQUEST);
        }
    }
}

pub fn however_the_output_is_cut() {
    for pieces in cuts(b"A\n\nBC\n") {
        for blocks in [true, false] {
            let output = with_blocks(pieces.iter().map(|piece| Room(piece.len())), blocks);
            let input = vec![Bytes(b"a\n\n"), Bytes(b"bc\n")];
            let mut client = Client::new(input, output, WIDE);
            ends(&mut client, WAITS_TO_READ, ONE_ANSWER);
            client.has_got("A\n\nBC\n", ONE_ANSWER);
        }
    }
}

pub fn it_goes_on_until_it_would_block() {
    let input =
        vec![Bytes(b"a"), Bytes(b"\nb\n"), Bytes(b"c"), Bytes(b"\n"), Block, Bytes(b"d\n"), Bytes(b"e\n")];
    let output = vec![Room(1), Room(2), Room(1), Block, Room(1), Room(1), Room(100)];
    let mut client = Client::new(input, output, WIDE);
    ends(&mut client, WAITS_TO_READ, EDGE);
    client.has_got("A\nB\nC\nD\nE\n", EDGE);
}

pub fn what_is_ready_is_remembered() {
    // The poller reports the output only once, at the beginning, when there is nothing to write.
    let mut client = Client::new(vec![Block, Bytes(b"a\n")], vec![], WIDE);
    ends(&mut client, WAITS_TO_READ, EDGE);
    client.has_got("A\n", EDGE);
    // The poller reports the input only once, while the connection must not read because too many bytes wait
    // to be written.
    let input = vec![Bytes(b"a\nb\nc\n"), Bytes(b"d\n"), Bytes(b"e\n")];
    let output = vec![Block, Room(100), Block, Room(100)];
    let mut client = Client::new(input, output, NARROW);
    ends(&mut client, WAITS_TO_READ, EDGE);
    client.has_got("A\nB\nC\nD\nE\n", EDGE);
}

pub fn nothing_is_asked_again_before_it_is_ready() {
    let mut client =
        Client::new(vec![Bytes(b"a\nb"), Block, Bytes(b"\n")], vec![Room(1), Block, Room(100)], WIDE);
    let next = client.settle(BOTH);
    let waits_for_both = Next::Wait(BOTH);
    for told in [NOTHING, BOTH, NOTHING] {
        let again = client.settle(told);
        if next != waits_for_both || again != next {
            let seen = format!(
                "a turn returned {next:?}, nothing has changed, and the next turn returned {again:?}"
            );
            fail(&seen, SPINS);
        }
    }
    let next = client.goes_on(BOTH);
    if next != WAITS_TO_READ {
        fail(&format!("all events of the test have come: turn() returned {next:?}"), SPINS);
    }
    client.has_got("A\nB\n", SPINS);
}

pub fn nothing_is_read_while_too_much_waits() {
    for blocks in [true, false] {
        let input = with_blocks([&b"a\nb\n"[..], b"c\nd\n", b"e\nf\n", b"g\n"].map(Bytes), blocks);
        let mut client = Client::new(input, vec![Room(1), Block], NARROW);
        ends(&mut client, WAITS_TO_WRITE, GOES_ON);
        client.has_got("A", ONE_ANSWER);
    }
}

pub fn it_goes_on_when_the_output_has_gone() {
    for requests in [vec![Bytes(b"a\nb\nc\nd\ne\n")], vec![Bytes(b"a\nb\nc\n"), Bytes(b"d\ne\n")]] {
        for room in 1..=6 {
            let output = with_blocks([Room(room); 10], true);
            let mut client = Client::new(requests.clone(), output, NARROW);
            ends(&mut client, WAITS_TO_READ, GOES_ON);
            client.has_got("A\nB\nC\nD\nE\n", GOES_ON);
        }
    }
}

pub fn the_end_of_the_input_is_not_the_end() {
    let limits = Limits { pending: 2, ..WIDE };
    for pieces in cuts(b"a\nb\n") {
        for blocks in [true, false] {
            let input = with_blocks(pieces.iter().map(|piece| Bytes(piece)).chain([Over]), blocks);
            let output = with_blocks([Room(1), Room(2), Room(100)], !blocks);
            let mut client = Client::new(input, output, limits);
            ends(&mut client, Next::Close(End::Finished), CLOSES);
            client.has_got("A\nB\n", CLOSES);
        }
    }
    let mut client = Client::new(vec![Over], vec![], WIDE);
    ends(&mut client, Next::Close(End::Finished), CLOSES);
}

pub fn an_unfinished_line_is_no_request() {
    for (input, answers) in [(&b"ab"[..], ""), (b"a\nb", "A\n")] {
        let mut client = Client::new(vec![Bytes(input), Block, Over], vec![], WIDE);
        ends(&mut client, Next::Close(End::Finished), UNFINISHED);
        client.has_got(answers, UNFINISHED);
    }
}

pub fn a_turn_has_a_limit() {
    for per_turn in [1, 2] {
        let limits = Limits { per_turn, ..WIDE };
        let all = vec![Bytes(b"a\nb\nc\nd\ne\n")];
        let letters = [&b"a"[..], b"b", b"c", b"d", b"e", b"\n", b"f", b"\n"].map(Bytes).to_vec();
        for (input, answers) in [(all, "A\nB\nC\nD\nE\n"), (letters, "ABCDE\nF\n")] {
            for output in [vec![], vec![Room(1); 20]] {
                let mut client = Client::new(input.clone(), output, limits);
                ends(&mut client, WAITS_TO_READ, GOES_ON);
                client.has_got(answers, GOES_ON);
            }
        }
    }
}

pub fn an_error_ends_it_at_once() {
    let (broken, timed_out) = (ErrorKind::BrokenPipe, ErrorKind::TimedOut);
    for kind in [ErrorKind::ConnectionReset, timed_out] {
        for output in [vec![], vec![Block]] {
            let input = vec![Bytes(b"a\n"), Fails(kind), Bytes(b"b\n")];
            let mut client = Client::new(input, output, WIDE);
            ends(&mut client, Next::Close(End::Failed(kind)), AFTER_END);
        }
    }
    for (last, kind) in
        [(Fails(broken), broken), (Fails(timed_out), timed_out), (Room(0), ErrorKind::WriteZero)]
    {
        let input = vec![Bytes(b"a\nb\n"), Bytes(b"c\n"), Block, Bytes(b"d\n")];
        let mut client = Client::new(input, vec![Room(1), last], NARROW);
        ends(&mut client, Next::Close(End::Failed(kind)), AFTER_END);
    }
}

pub fn an_interrupted_call_is_tried_again() {
    let interrupted = Fails(ErrorKind::Interrupted);
    let input = vec![interrupted, Bytes(b"a"), interrupted, Bytes(b"\n"), Block, interrupted, Bytes(b"b\n")];
    let output = vec![interrupted, Room(1), interrupted, Room(1), Block, interrupted, Room(100)];
    let mut client = Client::new(input, output, WIDE);
    ends(&mut client, WAITS_TO_READ, INTERRUPTED);
    client.has_got("A\nB\n", INTERRUPTED);
}

pub fn a_request_that_is_too_long_ends_it() {
    let limits = Limits { line: 2, ..NARROW };
    for pieces in cuts(b"ab\ncde\n").into_iter().chain([vec![&b"ab\ncde\nf\n"[..]]]) {
        let input: Vec<_> = pieces.iter().map(|piece| Bytes(piece)).collect();
        let mut client = Client::new(input, vec![Room(1), Block, Room(100)], limits);
        ends(&mut client, Next::Close(End::TooLong), TOO_LONG);
        client.has_got("AB\n", TOO_LONG);
    }
}

/// Returns a request with every byte value in it; the line end comes last.
fn all_bytes() -> &'static [u8] {
    let others = (0..=u8::MAX).filter(|byte| *byte != b'\n');
    Vec::leak(others.chain([b'\n']).collect())
}

pub fn every_byte_is_kept() {
    for request in [all_bytes(), b"a\r\n", b"\xff\xfe\0\0\n", b" \t\n", b"a;b;\n"] {
        let answer = [&answer_to(&request[..request.len() - 1])[..], b"\n"].concat();
        let mut client = Client::new(vec![Bytes(request)], vec![Room(1), Room(1)], WIDE);
        ends(&mut client, WAITS_TO_READ, NOT_A_REQUEST);
        client.has_got(&answer, ONE_ANSWER);
    }
}

pub fn no_limit_is_too_large() {
    let limits = Limits { pending: usize::MAX, line: usize::MAX, per_turn: usize::MAX };
    let mut client =
        Client::new(vec![Bytes(b"a\nb"), Block, Bytes(b"\n")], vec![Room(1), Block, Room(100)], limits);
    ends(&mut client, WAITS_TO_READ, NO_LIMIT);
    client.has_got("A\nB\n", NO_LIMIT);
}

pub fn many_requests_are_answered() {
    let lines: Vec<String> = (0..1000).map(|number| format!("request {number}\n")).collect();
    let long = format!("{}\n", "long ".repeat(4000));
    let all: &str = String::leak(lines.concat() + &long);
    let limits = Limits { pending: 100, line: long.len(), per_turn: 1000 };
    for pieces in [vec![all.as_bytes()], all.as_bytes().chunks(1000).collect()] {
        let input = with_blocks(pieces.into_iter().map(Bytes), true);
        let mut client = Client::new(input, with_blocks([Room(30_000); 3], true), limits);
        ends(&mut client, WAITS_TO_READ, AT_SIZE);
        client.has_got(&all.to_uppercase(), AT_SIZE);
    }
}

pub fn two_connections_do_not_know_each_other() {
    let mut one = Client::new(vec![Bytes(b"a"), Block, Bytes(b"b\n")], vec![Block, Room(9)], WIDE);
    let mut other = Client::new(vec![Bytes(b"c\n")], vec![], WIDE);
    let next = one.settle(Ready { readable: true, writable: false });
    if next != WAITS_TO_READ {
        fail(&format!("half of a request has come, and turn() returned {next:?}"), EACH_ITS_OWN);
    }
    ends(&mut other, WAITS_TO_READ, EACH_ITS_OWN);
    other.has_got("C\n", EACH_ITS_OWN);
    ends(&mut one, WAITS_TO_READ, EACH_ITS_OWN);
    one.has_got("AB\n", EACH_ITS_OWN);
}
