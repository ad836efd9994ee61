//! Examines the learner's file before it is compiled: finds the paths that the file names, and the learner's
//! own tests.
//!
//! The text is cut into tokens by the compiler's rules, so words in a comment or a string do not count as
//! paths.

mod door;
mod statics;

use std::ops::Range;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

pub use door::{Refused, WHY};

/// The text of an answer.
pub struct Source<'a> {
    text: &'a str,
    /// The words that are not in the learner's own tests.
    words: Vec<Word>,
    /// The byte ranges of the learner's own tests.
    own_tests: Vec<Range<usize>>,
}

/// A path in the file, or a single name. The paths in the braces of `use std::{…}` are expanded.
struct Word {
    line: usize,
    at: usize,
    path: String,
    role: Role,
}

/// The part of the file in which a path occurs, or the purpose of the path.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Role {
    /// The path is the name of a macro that is called.
    Called,
    /// The path is in a `use`.
    Imported,
    /// The path is among the tokens in the argument of a macro.
    Given,
    #[default]
    Other,
}

impl Word {
    fn at(span: Span, path: String, role: Role) -> Self {
        Self { line: span.start().line, at: span.byte_range().start, path, role }
    }
}

impl<'a> Source<'a> {
    /// Reads the text. If the text cannot be cut into tokens, no path is found, because the compiler will
    /// report the mistake.
    pub fn of(text: &'a str) -> Self {
        let tokens: Vec<TokenTree> =
            text.parse().map_or_else(|_| Vec::new(), |tokens: TokenStream| tokens.into_iter().collect());
        let (mut words, mut own_tests) = (Vec::new(), Vec::new());
        find_own_tests(&tokens, &mut own_tests);
        collect(&tokens, Within::default(), &mut words);
        words.retain(|word| !own_tests.iter().any(|tests| tests.contains(&word.at)));
        Self { text, words, own_tests }
    }

    /// Returns the text without the learner's own tests, with the same line numbers; `None` if there are no
    /// such tests.
    pub fn without_own_tests(&self) -> Option<String> {
        let is_own_test = |at: usize| self.own_tests.iter().any(|tests| tests.contains(&at));
        let kept = |(at, c): (usize, char)| if c != '\n' && is_own_test(at) { ' ' } else { c };
        (!self.own_tests.is_empty()).then(|| self.text.char_indices().map(kept).collect())
    }

    /// Returns the atomic orderings other than `SeqCst` that the file names, each ordering with its lines.
    pub fn weak_orderings(&self) -> Vec<(&'static str, Vec<usize>)> {
        let named = |ordering: &'static str| {
            let path = format!("Ordering::{ordering}");
            let mut lines: Vec<usize> =
                self.words.iter().filter(|word| word.path.ends_with(&path)).map(|word| word.line).collect();
            lines.dedup();
            (ordering, lines)
        };
        let orderings = ["Relaxed", "Acquire", "Release", "AcqRel"].into_iter().map(named);
        orderings.filter(|(_, lines)| !lines.is_empty()).collect()
    }
}

/// The words after which a path can begin with `::`.
const BEFORE_A_PATH: [&str; 13] =
    ["dyn", "impl", "in", "return", "break", "match", "if", "while", "else", "move", "mut", "ref", "where"];

/// The context in which tokens are read.
#[derive(Clone, Copy, Default)]
struct Within<'a> {
    /// The path before the braces of a `use`.
    prefix: &'a str,
    role: Role,
    /// True if the tokens are the argument of `thread_local!`.
    thread_local: bool,
}

/// Adds the paths among `tokens`, and the paths in groups of tokens.
fn collect(tokens: &[TokenTree], within: Within<'_>, words: &mut Vec<Word>) {
    let Within { prefix, mut role, thread_local } = within;
    let mut next = 0;
    while let Some(token) = tokens.get(next) {
        next += 1;
        match token {
            TokenTree::Group(group) => collect(&inside(group), Within { role, ..Within::default() }, words),
            TokenTree::Ident(word) if word == "as" => {
                let is_new_name = !is_path_separator(tokens.get(next + 1..).unwrap_or_default());
                next += usize::from(is_new_name);
            }
            TokenTree::Ident(word) if word == "use" => {
                role = if is_punct(tokens.get(next), '<') { role } else { Role::Imported };
            }
            TokenTree::Ident(word) if BEFORE_A_PATH.iter().any(|keyword| word == keyword) => {}
            TokenTree::Ident(word) if word == "extern" && is_word(tokens.get(next), "crate") => {
                words.push(Word::at(word.span(), "extern crate".to_owned(), Role::Other));
                next += 2; // and its name
            }
            TokenTree::Ident(word) if word == "static" => {
                let item = &tokens[next..];
                if !thread_local && !statics::is_plain(item) {
                    words.push(Word::at(word.span(), statics::name(item), Role::Other));
                }
            }
            TokenTree::Ident(ident) => next = add_path(tokens, next, ident, (prefix, role), words),
            TokenTree::Punct(star) if star.as_char() == '*' && !prefix.is_empty() => {
                words.push(Word::at(star.span(), format!("{prefix}::*"), role));
            }
            TokenTree::Punct(quote) if quote.as_char() == '\'' => next += 1, // the name of a lifetime
            TokenTree::Punct(end) if end.as_char() == ';' => role = within.role,
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Adds the path that begins with `first`, the paths that follow in braces of a `use`, and the paths in the
/// argument of a macro. Returns the index of the next token.
fn add_path(
    tokens: &[TokenTree],
    mut next: usize,
    first: &Ident,
    (prefix, role): (&str, Role),
    words: &mut Vec<Word>,
) -> usize {
    let mut path = match (prefix, name_of(first).as_str()) {
        ("", name) => name.to_owned(),
        (prefix, "self") => prefix.to_owned(),
        (prefix, name) => format!("{prefix}::{name}"),
    };
    while is_path_separator(&tokens[next..]) {
        next += 2;
        match tokens.get(next) {
            Some(TokenTree::Ident(name)) => path = format!("{path}::{}", name_of(name)),
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => path.push_str("::*"),
            Some(TokenTree::Group(group)) => {
                collect(&inside(group), Within { prefix: &path, role, ..Within::default() }, words);
                path.clear();
            }
            _ => break, // `::<`
        }
        next += 1;
    }
    let called = is_punct(tokens.get(next), '!');
    let (role, within_role) = if called { (Role::Called, Role::Given) } else { (role, role) };
    let thread_local = path.rsplit("::").next() == Some("thread_local");
    if !path.is_empty() {
        words.push(Word::at(first.span(), path, role));
    }
    if called {
        next += 1;
        next += usize::from(matches!(tokens.get(next), Some(TokenTree::Ident(_)))); // `macro_rules! name`
        if let Some(TokenTree::Group(given)) = tokens.get(next) {
            next += 1;
            let within = Within { role: within_role, thread_local, ..Within::default() };
            collect(&inside(given), within, words);
        }
    }
    next
}

/// Adds the ranges of the items that are compiled only for tests. `tokens` are the items of a module.
fn find_own_tests(tokens: &[TokenTree], found: &mut Vec<Range<usize>>) {
    let mut next = 0;
    while next < tokens.len() {
        if is_punct(tokens.get(next), '#') && is_punct(tokens.get(next + 1), '!') {
            next += 3; // an attribute of the module itself
            continue;
        }
        let begin = next;
        let mut for_tests = false;
        while is_punct(tokens.get(next), '#')
            && let Some(TokenTree::Group(attribute)) = tokens.get(next + 1)
        {
            for_tests |= is_for_tests(&inside(attribute));
            next += 2;
        }
        let item = &tokens[next..end_of_item(tokens, next)];
        next += item.len();
        if for_tests {
            let (first, last) = (tokens[begin].span().byte_range(), tokens[next - 1].span().byte_range());
            found.push(first.start..last.end);
        } else if let Some(TokenTree::Group(body)) = item.last()
            && item.iter().any(|token| is_word(Some(token), "mod"))
        {
            find_own_tests(&inside(body), found);
        }
    }
}

/// Returns the end of the item that begins at `begin`: its semicolon, or its braces if it has no semicolon.
fn end_of_item(tokens: &[TokenTree], begin: usize) -> usize {
    let mut keywords = tokens[begin..]
        .iter()
        .filter(|token| matches!(token, TokenTree::Ident(_)) && !is_word(Some(token), "pub"));
    let (first, second) = (keywords.next(), keywords.next());
    let is = |token: Option<&TokenTree>, words: &[&str]| words.iter().any(|word| is_word(token, word));
    let braces = if is(first, &["const"]) {
        is(second, &["fn", "async", "unsafe", "extern"])
    } else {
        !is(first, &["use", "static", "type"])
    };
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(body) => braces && body.delimiter() == Delimiter::Brace,
        token => is_punct(Some(token), ';'),
    };
    tokens[begin..].iter().position(ends).map_or(tokens.len(), |length| begin + length + 1)
}

/// Returns true if an attribute with these tokens in its brackets is for tests: `test`, or `cfg(…)` with
/// `test` and without `not`.
fn is_for_tests(attribute: &[TokenTree]) -> bool {
    let names = |tokens: &[TokenTree], wanted: &str| {
        let mut words = Vec::new();
        collect(tokens, Within::default(), &mut words);
        words.iter().any(|word| word.path == wanted)
    };
    match attribute {
        [TokenTree::Ident(name)] => name == "test",
        [TokenTree::Ident(name), TokenTree::Group(condition)] if name == "cfg" => {
            let condition = inside(condition);
            names(&condition, "test") && !names(&condition, "not")
        }
        _ => false,
    }
}

fn inside(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn is_word(token: Option<&TokenTree>, wanted: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(word)) if word == wanted)
}

/// Returns the name without a prefix: `r#std` becomes `std`.
fn name_of(word: &Ident) -> String {
    word.to_string().trim_start_matches("r#").to_owned()
}

fn is_path_separator(tokens: &[TokenTree]) -> bool {
    is_punct(tokens.first(), ':') && is_punct(tokens.get(1), ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "//! An answer.\n#![allow(unused)]\nuse std::{mem, fmt};\npub fn f() {}\n\n\
        #[derive(Debug)]\nstruct S { a: u8 }\n\
        fn name() -> &'static str { \"\" }\n\
        #[cfg(test)]\n#[allow(unused)]\nmod tests {\n    use std::sync::mpsc;\n    #[test]\n    fn works() { f(); }\n}\n\
        #[cfg(test)]\nuse std::thread::{self};\n\
        #[cfg(test)]\nconst N: S = S { a: 1 };\n\
        mod inner {\n    #[test]\n    fn also() {}\n    pub fn g() {}\n}\n\
        #[cfg(not(test))]\nfn h() {}\n";

    #[test]
    fn own_tests_are_taken_out_and_all_else_stays_in_its_line() {
        let kept = Source::of(ANSWER).without_own_tests().unwrap();
        assert_eq!(kept.lines().count(), ANSWER.lines().count());
        for gone in ["tests", "mpsc", "thread", "const N", "also", "#[cfg(test)]"] {
            assert!(!kept.contains(gone), "{gone}: {kept}");
        }
        for (line, text) in ANSWER.lines().zip(kept.lines()) {
            assert!(text.trim().is_empty() || text == line, "{text}");
        }
        for there in [
            "pub fn f()",
            "struct S { a: u8 }",
            "fn name()",
            "mod inner {",
            "pub fn g()",
            "#[cfg(not(test))]\nfn h() {}",
        ] {
            assert!(kept.contains(there), "{there}: {kept}");
        }
        assert!(Source::of("pub fn f() {}").without_own_tests().is_none());
    }

    #[test]
    fn orderings_are_found_where_they_are_named() {
        let orderings = |text| Source::of(text).weak_orderings();
        let text = "use crate::sync::atomic::Ordering::{self, Acquire};\n\
            fn f() { A.store(1, Ordering::Relaxed); A.swap(2, Ordering::Relaxed); }\n\
            // Ordering::Release\nfn g() { A.load(atomic::Ordering::SeqCst); \"Ordering::AcqRel\" }\n";
        assert_eq!(orderings(text), [("Relaxed", vec![2]), ("Acquire", vec![1])]);
        assert!(
            orderings("enum Step { Acquire, Release }\n#[test]\nfn t() { Ordering::Relaxed; }").is_empty()
        );
    }

    #[test]
    fn what_is_no_rust_names_nothing() {
        let source = Source::of("fn f() { std::sync::Mutex");
        assert!(source.refused().is_empty() && source.without_own_tests().is_none());
    }
}
