//! Finds the names in an answer that bypass `crate::sync`.
//!
//! The model does not know a `std::sync::Mutex`: a thread that waits for such a lock blocks all threads for
//! ever. The model's message in that case is hard to understand, so the file is checked before it runs.

use std::fmt::{self, Display, Formatter};

use super::{Role, Source, Word};

/// The text that says why an answer takes its locks and threads from `crate::sync`.
pub const WHY: &str = "The tests put other locks and threads behind `crate::sync`, ones whose schedule they decide. Those of std\n\
                       they can neither see nor stop: the test would hang, or miss the mistake it is there for.";

/// A name in an answer that is not allowed.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// The line.
    pub line: usize,
    /// The path or the words that are not allowed.
    pub path: String,
    /// The replacement for the path, or the reason why none is needed.
    pub instead: String,
}

impl Display for Refused {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {} names `{}`; write instead: {}", self.line, self.path, self.instead)
    }
}

/// The types of `std::sync` that are the same in `crate::sync`. The tests need no other types of `std::sync`.
const SAME_IN_SYNC: [&str; 11] = [
    "Arc",
    "Weak",
    "LockResult",
    "TryLockResult",
    "PoisonError",
    "TryLockError",
    "atomic::Ordering",
    "mpsc::SendError",
    "mpsc::RecvError",
    "mpsc::TryRecvError",
    "mpsc::TrySendError",
];

const NO_CLOCK: &str = "nothing of the kind: wait for what has to happen, not for a time";
const NO_STATIC: &str = "a field of your struct, behind a `crate::sync::Mutex`: the tests run your code thousands of times in one \
                         process, and a static would still hold what the last run left. Two instances beside each other would share \
                         it, too. (What never changes can be a `const`)";
const NO_OTHER_NAME: &str = "`std` or `core`, under its own name, at the beginning of each path: the tests read in this file what you \
                             take of it";
const NO_PART: &str = "the whole path where you need it: the tests cannot read what a macro puts together. (Is it a variable? Give \
                       it another name)";
const NO_PANICKING: &str =
    "nothing of the kind: catch the panic, or let a guard remember whether the work was done";
const NO_UNSAFE: &str = "safe Rust, with the value behind a lock: in `unsafe` code neither the compiler nor the tests see a race \
                         for a value or a memory ordering that is too weak";
const NO_MACHINE: &str = "nothing of the kind: take as many threads as you are asked for";

impl Source<'_> {
    /// Returns the names that bypass `crate::sync`, in the order of their lines. The learner's own tests may
    /// use names that bypass `crate::sync`.
    pub fn refused(&self) -> Vec<Refused> {
        let mut refused: Vec<Refused> = self.words.iter().filter_map(|word| self.refuse(word)).collect();
        refused.sort_by_key(|refused| refused.line);
        refused.dedup();
        refused
    }

    fn refuse(&self, word: &Word) -> Option<Refused> {
        let bare =
            || word.path == "thread_local" && word.role == Role::Called && !self.imports_thread_local();
        let instead = match (word.path.as_str(), word.role) {
            ("unsafe", _) => NO_UNSAFE.to_owned(),
            ("extern crate", _) | ("std" | "core", Role::Imported) => NO_OTHER_NAME.to_owned(),
            ("std" | "core", Role::Given) => NO_PART.to_owned(),
            (path, _) if path.starts_with("static ") || path == "static" => NO_STATIC.to_owned(),
            (path, _) => instead(path).or_else(|| {
                bare().then(|| "`use crate::sync::thread_local;` at the top, or it is that of std".to_owned())
            })?,
        };
        Some(Refused { line: word.line, path: word.path.clone(), instead })
    }

    fn imports_thread_local(&self) -> bool {
        let imports = |word: &Word| {
            word.role != Role::Called && word.path.ends_with("sync::thread_local")
                || word.path == "crate::sync::*"
        };
        self.words.iter().any(imports)
    }
}

/// Returns the replacement for this path, or the reason why none is needed. Returns `None` if the path is
/// allowed.
fn instead(path: &str) -> Option<String> {
    let (krate, rest) = path.split_once("::").unwrap_or((path, ""));
    if krate.starts_with("exercises_") {
        return Some("nothing of it: that is what the tests are made of".to_owned());
    }
    if !["std", "core"].contains(&krate) {
        return None;
    }
    let (module, name) = rest.split_once("::").unwrap_or((rest, ""));
    match (module, name) {
        ("*", _) => Some(format!("what you need of {krate}, by its name")),
        ("thread_local", _) => Some("`crate::sync::thread_local`".to_owned()),
        ("thread", "Result") => None,
        ("time", name) if is_at(name, "Duration") => None,
        ("time", _) | ("thread", "sleep" | "sleep_ms" | "park_timeout") => Some(NO_CLOCK.to_owned()),
        ("thread", "panicking") => Some(NO_PANICKING.to_owned()),
        ("thread", "available_parallelism") => Some(NO_MACHINE.to_owned()),
        ("sync", name) if SAME_IN_SYNC.iter().any(|same| is_at(name, same)) => None,
        ("sync", name)
            if ["Once", "OnceLock", "LazyLock", "OnceState"].iter().any(|once| is_at(name, once)) =>
        {
            Some(NO_STATIC.to_owned())
        }
        ("sync", "") => Some("`crate::sync`".to_owned()),
        ("sync", name) => Some(format!("`crate::sync::{name}`")),
        ("thread", "") => Some("`crate::sync::thread`".to_owned()),
        ("thread", name) => Some(format!("`crate::sync::thread::{name}`")),
        _ => None,
    }
}

/// Returns true if the path is equal to `place` or inside `place`: `Arc::new` is inside `Arc`.
fn is_at(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that one path is refused in each text, at the given line and with the given replacement.
    fn assert_refused(texts: &[(&str, usize, &str, &str)]) {
        for (text, line, path, instead) in texts {
            let refused = Source::of(text).refused();
            let [one] = &refused[..] else { panic!("{text}: {refused:?}") };
            assert_eq!((one.line, one.path.as_str()), (*line, *path), "{text}");
            assert!(one.instead.contains(instead), "{text}: {}", one.instead);
        }
    }

    #[test]
    fn what_goes_past_the_door_is_named_with_its_line_and_with_what_to_write() {
        assert_refused(&[
            ("use std::sync::Mutex;", 1, "std::sync::Mutex", "`crate::sync::Mutex`"),
            (
                "\nuse std::{collections::VecDeque, sync::{Arc, Mutex}};",
                2,
                "std::sync::Mutex",
                "`crate::sync::Mutex`",
            ),
            ("use std::sync::{self, Arc};", 1, "std::sync", "`crate::sync`"),
            ("use std::sync::*;", 1, "std::sync::*", "`crate::sync::*`"),
            ("use std::{sync::*, mem};", 1, "std::sync::*", "`crate::sync::*`"),
            ("use std::*;", 1, "std::*", "what you need of std"),
            ("use std::sync::mpsc::{self, SendError};", 1, "std::sync::mpsc", "`crate::sync::mpsc`"),
            ("\n\nlet t = std :: thread::spawn(f);", 3, "std::thread::spawn", "`crate::sync::thread::spawn`"),
            ("use std::thread as t;", 1, "std::thread", "`crate::sync::thread`"),
            (
                "std::thread_local! { static N: u8 = 1 }",
                1,
                "std::thread_local",
                "`crate::sync::thread_local`",
            ),
            ("let now = std::time::Instant::now();", 1, "std::time::Instant::now", "not for a time"),
            ("std::thread::sleep(d);", 1, "std::thread::sleep", "not for a time"),
            (
                "use core::sync::atomic::AtomicBool;",
                1,
                "core::sync::atomic::AtomicBool",
                "`crate::sync::atomic::",
            ),
            ("use std::sync::LazyLock;", 1, "std::sync::LazyLock", "a static would still hold"),
            (
                "\npub(crate) use ::std :: sync::Condvar as C;",
                2,
                "std::sync::Condvar",
                "`crate::sync::Condvar`",
            ),
            (
                "fn f() { return ::std::thread::spawn(g) }",
                1,
                "std::thread::spawn",
                "`crate::sync::thread::spawn`",
            ),
            ("type T = <A as std::sync::X>::Y;", 1, "std::sync::X", "`crate::sync::X`"),
            ("fn f(x:std::sync::Mutex<u8>) {}", 1, "std::sync::Mutex", "`crate::sync::Mutex`"),
            (
                "fn f() { vec![std::sync::Mutex::new(0)]; }",
                1,
                "std::sync::Mutex::new",
                "`crate::sync::Mutex::new`",
            ),
            ("/* a comment,\nand more */ use std::thread;", 2, "std::thread", "`crate::sync::thread`"),
            ("std::thread::panicking()", 1, "std::thread::panicking", "catch the panic"),
            (
                "thread_local! {\n    static N: u8 = 1\n}",
                1,
                "thread_local",
                "`use crate::sync::thread_local;`",
            ),
            ("fn f() {}\nunsafe impl Sync for S {}", 2, "unsafe", "safe Rust"),
            ("let x = unsafe{ *p };", 1, "unsafe", "safe Rust"),
            ("use exercises_harness::fail;", 1, "exercises_harness::fail", "what the tests are made of"),
        ]);
    }

    #[test]
    fn a_static_that_can_change_is_refused_wherever_it_stands() {
        assert_refused(&[
            ("static N: AtomicUsize = AtomicUsize::new(0);", 1, "static N", "a static would still hold"),
            ("fn f() {\n    static mut N: u8 = 0;\n}", 2, "static mut N", "a field of your struct"),
            ("static N: &'static [Cell<u8>] = &[];", 1, "static N", "Two instances"),
            ("static N: [Mutex<u8>; 2] = f();", 1, "static N", "Two instances"),
            ("static F: fn() = f;", 1, "static F", "can be a `const`"),
            ("macro_rules! s { ($n:ident, $t:ty) => { static $n: $t = f(); } }", 1, "static", "a field"),
            ("m! { static N: u8 = 1; static M: Cell<u8> = f(); }", 1, "static M", "a field"),
            (
                "thread_local! { static A: u8 = { static B: Cell<u8> = f(); 1 } }\nuse crate::sync::thread_local;",
                1,
                "static B",
                "a field",
            ),
        ]);
    }

    #[test]
    fn another_name_for_std_is_refused() {
        assert_refused(&[
            ("extern crate std as plain;\nuse plain::sync::Mutex;", 1, "extern crate", "under its own name"),
            ("mod m {\n    pub extern crate std;\n}", 2, "extern crate", "under its own name"),
            ("use std as plain;", 1, "std", "under its own name"),
            ("use ::std as plain;", 1, "std", "under its own name"),
            ("use {core as plain, crate::sync};", 1, "core", "under its own name"),
            ("use std::{self as plain, mem};", 1, "std", "under its own name"),
            ("pub use std;", 1, "std", "under its own name"),
            ("use r#std::thread;", 1, "std::thread", "`crate::sync::thread`"),
            ("use r#std as plain;", 1, "std", "under its own name"),
            (
                "macro_rules! m { ($a:ident) => { $a::sync::Mutex::new(0) } }\nfn f() { m!(std); }",
                2,
                "std",
                "the whole path",
            ),
            (
                "macro_rules! m { () => { ::std::sync::Mutex::new(0) } }",
                1,
                "std::sync::Mutex::new",
                "`crate::sync::Mutex::new`",
            ),
        ]);
    }

    #[test]
    fn all_of_them_are_named() {
        let text = "use std::sync::{Mutex, mpsc};\nuse std::thread;\n";
        let lines: Vec<usize> = Source::of(text).refused().iter().map(|refused| refused.line).collect();
        assert_eq!(lines, [1, 1, 2]);
    }

    #[test]
    fn what_is_no_lock_and_no_thread_is_fine() {
        for text in [
            "use crate::sync::{Mutex, thread};",
            "// not std::sync::Mutex",
            "/// Not a `std::sync::Mutex`.\nfn f() {}",
            "fn f() { println!(\"{} std::sync::Mutex\", r#\"std::thread::spawn\"#, 'a', b\"std::time\"); }",
            "use std::collections::VecDeque; // std::thread is elsewhere",
            "use std::panic::{AssertUnwindSafe, catch_unwind};",
            "use std::{collections::VecDeque, panic};\nuse crate::sync;",
            "use std::{collections::{HashMap, VecDeque}, mem};\nfn thread() {}",
            "/* std::sync /* and */ std::thread\nstd::time */ fn f() {}",
            "use std::sync::{Arc, Weak, PoisonError, atomic::Ordering, mpsc::SendError};\nfn f() { Arc::new(1); }",
            "use std::time::Duration;\nfn f() { std::time::Duration::MAX; }\nfn g(r: std::thread::Result<()>) {}",
            "use crate::sync::thread_local;\nthread_local! { static N: u8 = 1 }",
            "use crate::sync::{Mutex, thread_local};\nthread_local! { static N: u8 = 1 }",
            "use crate::sync::*;\nthread_local! { static N: u8 = 1 }",
            "use crate::sync;\nsync::thread_local! { static N: u8 = 1 }",
            "crate::sync::thread_local! { static N: u8 = 1 }",
            "// thread_local! {}",
            "#![forbid(unsafe_code)] // no unsafe",
            "use std::{fmt as sync, mem};",
            "fn f(std: f64) -> u64 { let core = 1; std as u64 + core }",
            "static A: &str = \"\";\nstatic B: &'static [(u8, bool)] = &[];\nstatic C: [[u64; N + 1]; 2] = [[0; N + 1]; 2];",
            "fn f() -> &'static AtomicBool { static N: f32 = 1.0; g::<dyn A + 'static>() }",
            "fn f() -> impl Sized + use<> { if a != std { assert!(b) } }",
            "mod sync { pub fn std() {} }\nfn thread() { sync::std(); }",
            "fn f() {}\n#[cfg(test)]\nmod tests {\n    use std::{sync::mpsc, thread, time::Instant};\n}",
            "#[test]\nfn f() { std::thread::sleep(std::time::Duration::ZERO); }",
        ] {
            assert_eq!(Source::of(text).refused(), [], "{text}");
        }
    }
}
