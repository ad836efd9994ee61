//! Checks that `crate::sync` has the items that its README lists: for an exercise's library, under the model
//! and on real threads. For this check, one file that uses all of these items is compiled three times: for
//! the library, for the model and for real threads. The file is also compiled with the standard library
//! itself, which shows that the names and methods are those of std.
#![allow(clippy::duplicate_mod, reason = "that is the point")]

use exercises_harness::model::check;

#[path = "."]
mod of_std {
    mod sync {
        pub(super) use std::sync::*;
        pub(super) use std::{thread, thread_local};
    }
    #[path = "uses.rs"]
    pub(super) mod uses;
}

#[path = "."]
mod library {
    use exercises_sync as sync;
    #[path = "uses.rs"]
    pub(super) mod uses;
}

#[path = "."]
mod model {
    use exercises_harness::model::sync;
    #[path = "uses.rs"]
    pub(super) mod uses;
}

#[path = "."]
mod real {
    use exercises_harness::real::sync;
    #[path = "uses.rs"]
    pub(super) mod uses;
}

#[test]
fn everything_works_on_real_threads() {
    for _ in 0..100 {
        of_std::uses::everything();
        library::uses::everything();
        real::uses::everything();
    }
}

#[test]
fn everything_works_under_the_model() {
    check("", "everything_works_under_the_model", "Everything works.", model::uses::everything);
}

#[test]
fn everything_in_the_list_is_used() {
    let (list, text) = (include_str!("../../../sync/README.md"), include_str!("uses.rs"));
    let there = &list[..list.find("What is not there").unwrap()];
    let mut names = 0;
    for row in there.lines().filter(|line| line.starts_with("| `")) {
        for name in row.split('`').skip(1).step_by(2) {
            let name = name.rsplit("::").next().unwrap().trim_end_matches('!');
            let word = |at: usize| text[at..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
            let used = text.match_indices(name).any(|(at, _)| !word(at + name.len()) && !word(at - 1));
            assert!(used, "uses.rs does not use {name}");
            names += 1;
        }
    }
    assert!(names > 60, "{names} names: is the list still a table?");
}

#[test]
fn everything_that_is_there_is_in_the_list() {
    let list = include_str!("../../../sync/README.md");
    let in_code = list.split('`').skip(1).step_by(2).flat_map(|code| code.split("::"));
    let listed: Vec<&str> = in_code.map(|name| name.trim_end_matches('!')).collect();
    let sources = [
        include_str!("../../../sync/src/sync/mod.rs"),
        include_str!("../../../sync/src/sync/barrier.rs"),
        include_str!("../../../sync/src/sync/mpsc.rs"),
        include_str!("../../../sync/src/sync/rwlock.rs"),
        include_str!("../../../sync/src/sync/thread.rs"),
    ];
    let names: Vec<&str> = sources.iter().flat_map(|source| public(source)).collect();
    assert!(names.len() > 80, "{} names: are they still found?", names.len());
    let missing: Vec<_> = names.iter().filter(|name| !listed.contains(name)).collect();
    assert!(missing.is_empty(), "exercises/sync/README.md does not list {missing:?}");
}

/// Returns the names of the public items in a source file.
fn public(source: &str) -> Vec<&str> {
    let is_no_name = |c: char| !c.is_alphanumeric() && c != '_';
    let items = source.split("pub ").skip(1);
    let names = items.flat_map(|item| match item.split_once(' ') {
        Some(("fn" | "struct" | "mod", rest)) => vec![rest.split(is_no_name).next().unwrap()],
        Some(("use", rest)) => {
            let path = &rest[..rest.find(';').unwrap()];
            let names = path.rsplit_once("::").map_or(path, |(_, names)| names);
            names.split(is_no_name).filter(|name| !name.is_empty()).collect()
        }
        _ => Vec::new(),
    });
    names.collect()
}
