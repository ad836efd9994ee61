//! Tests protocols between the threads of a program under a model checker. A small protocol shows how to make
//! a package of models for a program. The other two protocols are those of real programs: how the searches of
//! an example end, and how answers return to the event loop of a server.
#![cfg(feature = "shuttle")]

extern crate executor_model as executor;

/// In the program, this module is: `pub(crate) use std::{sync, thread, time}`.
mod door {
    pub(crate) use executor_model::program::{sync, thread, time};
}

// In a package of models for the program, the file is included as `#[path = "../../src/protocol.rs"]`.
mod protocol;

mod event_loop;
mod parallel_search;

use door::sync::Arc;
use door::thread;
use door::time::Duration;
use executor::CancelToken;
use executor::channel::PutError;
use protocol::Writer;

const SCHEDULES: usize = 1_000;

#[test]
fn a_flush_comes_back_when_its_lines_are_written() {
    shuttle::check_random(
        || {
            let writer: Writer = Writer::new(1);
            for line in ["one", "two", "three"] {
                writer.put(line).unwrap();
            }
            writer.flush(3);
            assert_eq!(writer.close(), ["one", "two", "three"]);
        },
        SCHEDULES,
    );
}

/// The check of the broken variant must fail.
#[test]
#[should_panic(expected = "deadlock")]
fn a_notification_that_comes_too_early_is_found() {
    shuttle::check_random(
        || {
            let writer = Writer::<false>::new(1);
            writer.put("one").unwrap();
            writer.flush(1);
        },
        SCHEDULES,
    );
}

#[test]
fn a_flush_with_a_time_limit_ends_in_virtual_time() {
    shuttle::check_random(
        || {
            let writer: Writer = Writer::new(1);
            writer.put("one").unwrap();
            let hour = Duration::from_hours(1);
            let (written, took) = writer.flush_timeout(2, hour);
            assert!(written <= 1 && took == hour, "{written} after {took:?}");
            assert_eq!(writer.close(), ["one"]);
        },
        SCHEDULES,
    );
}

#[test]
fn what_a_cancelled_task_could_not_put_is_not_written() {
    shuttle::check_random(
        || {
            let writer: Arc<Writer> = Arc::new(Writer::new(0));
            let token = CancelToken::new();
            let own = (Arc::clone(&writer), token.clone());
            let client = thread::spawn(move || own.1.attach(|| own.0.put("one")));
            token.cancel();
            let put = client.join().unwrap();
            let written = Arc::into_inner(writer).unwrap().close();
            match put {
                Ok(()) => assert_eq!(written, ["one"]),
                Err(PutError::Interrupted(line)) => assert!(written.is_empty() && line == "one"),
                Err(other) => panic!("{other}"),
            }
        },
        SCHEDULES,
    );
}
