//! The behaviour of the executors, one test per behaviour, one module per subject.
//!
//! A name such as `END-5` in a test's comment is the behaviour's number in `CONFORMANCE.md`, the list of what the
//! conformance tests of `java.util.concurrent` pin down. It says where each behaviour is tested, or why not.

mod support;

mod ordering;

mod lifecycle;

mod closing;

mod panic;

mod cancel;

mod masked;

mod cancel_task;

mod callbacks;

mod handle;

mod time_limits;

mod printed;

mod taking_out;

mod shared;

mod promise;

mod awaiting;

mod memory;

mod reentrancy;

mod latch;

mod semaphore;

mod simple;

mod stats;

mod threads;

mod queues;

mod bad_queue;

mod saturation;

mod blocking;

mod factory;

mod hooks;

mod settings;

mod panic_handler;

mod traps;

mod invoke_all;

mod invoke_any;

mod completion;

mod cancelling;

mod auto_traits;
