//! What borrows from another thread's stack, by itself: `bash .ci/run sanitizer` builds this program, and nothing else of the
//! tests, with the address sanitizer. `cargo test` has the same tests in `executor`.

#[path = "executor/fork_join/mod.rs"]
mod fork_join;

#[path = "executor/scope.rs"]
mod scope;

#[expect(dead_code, unused_imports, unused_macros, reason = "the tests of other modules use the rest")]
#[path = "executor/support.rs"]
mod support;
