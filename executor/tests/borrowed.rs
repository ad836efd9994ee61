//! This separate program tests tasks and jobs that borrow from another thread's stack: `bash .ci/run
//! sanitizer` builds only this test program with the address sanitizer. `cargo test` runs the same tests as a
//! part of the test program `executor`.

#[path = "executor/fork_join/mod.rs"]
mod fork_join;

#[path = "executor/scope.rs"]
mod scope;

#[expect(dead_code, unused_imports, unused_macros, reason = "the tests of other modules use the rest")]
#[path = "executor/support.rs"]
mod support;
