//! What borrows from another thread's stack, by itself: `bash .ci/run sanitizer` builds this program, and nothing else of the
//! tests, with the address sanitizer. `cargo test` has the same tests in `it`.

#[path = "it/fork_join/mod.rs"]
mod fork_join;

#[path = "it/scope.rs"]
mod scope;

#[expect(dead_code, unused_imports, unused_macros, reason = "the tests of other modules use the rest")]
#[path = "it/support.rs"]
mod support;
