//! Compares the public interface of the library with `interface.txt`, which has a line for each
//! item.
//!
//! If you change the interface, you must also change `interface.txt`; so each change is intended and visible
//! in the commit.
//!
//! ```sh
//! cargo run -p interface               # compares
//! cargo run -p interface -- --write    # writes the file anew
//! ```
//!
//! The program gets the items from rustdoc, which analyses the crate. Rustdoc prints the items in a form that
//! is meant only for tools, and each version of Rust may change this form. With a version of Rust other than
//! the project's version, the comparison may be impossible; this is an error only if `CI` is set.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

use public_api::{Builder, MINIMUM_NIGHTLY_RUST_VERSION};

fn main() -> ExitCode {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = here.join("../interface.txt");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| here.join("../../target"), Into::into);
    let documented = Command::new(env!("CARGO"))
        .args(["rustdoc", "--quiet", "--package", "task-execution", "--lib", "--all-features", "--"])
        .args(["-Zunstable-options", "--output-format=json", "--deny=warnings"])
        .env("RUSTC_BOOTSTRAP", "1") // this form of output is for nightly compilers, and for those that are told to be one
        .status();
    if !documented.is_ok_and(|status| status.success()) {
        return ExitCode::FAILURE;
    }
    let items = Builder::from_rustdoc_json(target.join("doc/executor.json"))
        .sorted(true)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    let now = match items {
        Ok(items) => without_methods_of_traits(items.items().map(ToString::to_string)),
        Err(error) => {
            eprintln!("not compared: this takes a Rust like {MINIMUM_NIGHTLY_RUST_VERSION}: {error}");
            return if env::var_os("CI").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    if env::args().nth(1).is_some_and(|argument| argument == "--write") {
        fs::write(&file, now).expect("the file of the interface can be written");
        return ExitCode::SUCCESS;
    }
    let before = fs::read_to_string(&file).unwrap_or_default();
    let (gone, new) = (missing(&before, &now), missing(&now, &before));
    if gone.is_empty() && new.is_empty() {
        return ExitCode::SUCCESS;
    }
    for (sign, lines) in [("-", gone), ("+", new)] {
        for line in lines {
            println!("{sign} {line}");
        }
    }
    eprintln!(
        "The public interface has changed. If that is meant: cargo run -p interface -- --write, and a line in CHANGELOG.md"
    );
    ExitCode::FAILURE
}

/// If a type implements a trait, this fact is part of the type's interface. The methods of the implementation
/// belong to the trait, not to the type.
fn without_methods_of_traits(items: impl Iterator<Item = String>) -> String {
    let (mut lines, mut is_of_a_trait) = (String::new(), false);
    for item in items {
        let is_impl = item.starts_with("impl");
        if is_impl || is_of_a_module(&item) || !(item.starts_with("pub fn") || item.starts_with("pub type")) {
            is_of_a_trait = is_impl && item.contains(" for ");
        }
        if is_impl || !is_of_a_trait {
            lines += &item.replace("core::", "std::").replace("alloc::", "std::");
            lines.push('\n');
        }
    }
    lines
}

/// Returns whether an item is a free function, that is, a function of a module of the library. The path of a
/// free function contains no name of a type, which would begin with a capital letter.
fn is_of_a_module(item: &str) -> bool {
    let Some(item) = item.strip_prefix("pub fn executor::") else { return false };
    let path = item.split(['(', '<']).next().unwrap_or(item);
    path.split("::").all(|part| part.starts_with(char::is_lowercase))
}

/// Returns the lines of one text that the other text does not have.
fn missing<'t>(of: &'t str, from: &str) -> Vec<&'t str> {
    let from: Vec<_> = from.lines().collect();
    of.lines().filter(|line| !from.contains(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::{missing, without_methods_of_traits};

    #[test]
    fn an_item_that_comes_or_goes_is_seen_and_a_method_of_a_trait_is_not() {
        let items = [
            "pub struct A",
            "impl A",
            "pub fn A::a()",
            "impl core::fmt::Debug for A",
            "pub fn A::fmt()",
            "pub fn B<T>::fmt()",
            "pub fn u64::from(B)",
            "pub fn executor::f<T>(A)",
            "pub struct B",
        ];
        let now = without_methods_of_traits(items.map(str::to_owned).into_iter());
        assert_eq!(
            now,
            "pub struct A\nimpl A\npub fn A::a()\nimpl std::fmt::Debug for A\npub fn executor::f<T>(A)\npub struct B\n"
        );
        assert_eq!(
            missing(&now, "pub struct A\nimpl A\npub struct B\npub fn C()\n"),
            ["pub fn A::a()", "impl std::fmt::Debug for A", "pub fn executor::f<T>(A)"]
        );
        assert_eq!(missing("pub fn C()\n", &now), ["pub fn C()"]);
    }
}
