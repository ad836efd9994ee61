//! A source file, cut into the bodies of its functions and the text around them.
//!
//! The tokens are the compiler's tokens, so braces in strings and comments do not count as braces.

use std::collections::BTreeSet;
use std::ops::Range;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

#[derive(PartialEq, Eq)]
pub(crate) struct Source<'a> {
    /// The text before, between and after the bodies. This text contains the `use` declarations of the file's
    /// inner modules, but not the `use` declarations of the file itself.
    pub frame: Vec<String>,
    /// The bodies of functions with their braces. Some bodies are a part of `frame` instead: a `const fn`
    /// cannot ask which mutant the process runs, and the variants of a function that returns `impl Trait`
    /// would have different types.
    pub bodies: Vec<&'a str>,
    /// The full names of the imports: `use a::{b, c as d};` gives `a::b` and `a::c as d`.
    pub uses: BTreeSet<String>,
}

impl<'a> Source<'a> {
    pub(crate) fn of(text: &'a str) -> Result<Self> {
        let mut reader = Reader::default();
        reader.items(&tokens_of(text)?, true);
        let (mut frame, mut bodies, mut done) = (vec![String::new()], Vec::new(), 0);
        for (range, is_body) in reader.cuts {
            frame.last_mut().expect("it begins with one").push_str(&text[done..range.start]);
            done = range.end;
            if is_body {
                bodies.push(&text[range]);
                frame.push(String::new());
            }
        }
        frame.last_mut().expect("it begins with one").push_str(&text[done..]);
        Ok(Self { frame, bodies, uses: reader.uses })
    }

    /// True if the two files differ only in bodies and `use` declarations. The comparison ignores white
    /// space, because a patch that adds or removes an import can leave an empty line.
    pub(crate) fn has_the_frame_of(&self, other: &Self) -> bool {
        self.frame.len() == other.frame.len()
            && self.frame.iter().zip(&other.frame).all(|(a, b)| a.split_whitespace().eq(b.split_whitespace()))
    }
}

pub(crate) fn tokens_of(text: &str) -> Result<Vec<TokenTree>> {
    let tokens: TokenStream = text.parse().map_err(|error| anyhow!("{error}"))?;
    Ok(tokens.into_iter().collect())
}

#[derive(Default)]
struct Reader {
    /// The places at which the file is cut, in order. The flag is true for a body and false for a `use`
    /// declaration.
    cuts: Vec<(Range<usize>, bool)>,
    uses: BTreeSet<String>,
}

impl Reader {
    fn items(&mut self, tokens: &[TokenTree], of_the_file: bool) {
        let mut next = 0;
        while let Some(token) = tokens.get(next) {
            match token {
                TokenTree::Ident(word)
                    if word == "fn" && matches!(tokens.get(next + 1), Some(TokenTree::Ident(_))) =>
                {
                    let end = end_of_function(tokens, next);
                    if let Some(TokenTree::Group(body)) = tokens.get(end)
                        && !is_const(&tokens[..next])
                        && !returns_impl(&tokens[next..end])
                    {
                        self.cuts.push((body.span().byte_range(), true));
                    }
                    next = end;
                }
                // This case excludes the `use<'a>` of a type.
                TokenTree::Ident(word)
                    if word == "use" && of_the_file && !is_punct(tokens.get(next + 1), '<') =>
                {
                    let end = (next..tokens.len())
                        .find(|&at| is_punct(tokens.get(at), ';'))
                        .unwrap_or(tokens.len() - 1);
                    write_out("", &tokens[next + 1..end], &mut self.uses);
                    self.cuts
                        .push((word.span().byte_range().start..tokens[end].span().byte_range().end, false));
                    next = end;
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    self.items(&group.stream().into_iter().collect::<Vec<_>>(), false);
                }
                _ => {}
            }
            next += 1;
        }
    }
}

/// Returns the position of a function's body; for a function without a body, returns the position of its
/// semicolon. The `fn` of the function is at `begin`.
fn end_of_function(tokens: &[TokenTree], begin: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    (begin..tokens.len()).find(|&at| ends(&tokens[at])).unwrap_or(tokens.len())
}

/// True if the return type of a function contains `impl`. The parameters can contain `impl`, too: they are
/// the first group of the signature.
fn returns_impl(signature: &[TokenTree]) -> bool {
    fn has_impl(token: &TokenTree) -> bool {
        match token {
            TokenTree::Group(group) => group.stream().into_iter().any(|token| has_impl(&token)),
            token => is_word(token, "impl"),
        }
    }
    let after_the_parameters =
        signature.iter().skip_while(|token| !matches!(token, TokenTree::Group(_))).skip(1);
    after_the_parameters.into_iter().any(has_impl)
}

/// True if a function is declared `const`. `before` is the text before the function's `fn`.
fn is_const(before: &[TokenTree]) -> bool {
    let qualifiers = before.iter().rev().take_while(|token| {
        ["const", "async", "unsafe", "extern"].iter().any(|word| is_word(token, word))
            || matches!(token, TokenTree::Literal(_))
    });
    qualifiers.into_iter().any(|token| is_word(token, "const"))
}

pub(crate) fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

fn is_punct(token: Option<&TokenTree>, punct: char) -> bool {
    matches!(token, Some(TokenTree::Punct(found)) if found.as_char() == punct)
}

/// Adds the imports of a `use` declaration. `prefix` is the path before the declaration's braces.
fn write_out(prefix: &str, tokens: &[TokenTree], uses: &mut BTreeSet<String>) {
    for tree in tokens.split(|token| is_punct(Some(token), ',')) {
        let mut path = prefix.to_owned();
        for token in tree {
            match token {
                TokenTree::Group(group) => {
                    write_out(&path, &group.stream().into_iter().collect::<Vec<_>>(), uses);
                }
                token if is_word(token, "as") => path.push_str(" as "),
                token => path.push_str(&token.to_string()),
            }
        }
        if !path.is_empty() && !path.ends_with("::") {
            uses.insert(path);
        }
    }
}

/// Returns the name that an import brings into the file, if there is one.
pub(crate) fn name_of(import: &str) -> Option<&str> {
    let name = match import.split_once(" as ") {
        Some((_, name)) => name,
        None => import.strip_suffix("::self").unwrap_or(import).rsplit("::").next()?,
    };
    (name != "_" && name != "*").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_what_the_compiler_takes_for_them() {
        let text = r#"
            use a::{b::{self, C}, d as e};
            fn plain() -> Box<dyn Fn(u8) -> u8> { "}" /* } */ }
            trait T { fn none(&self); fn own<'a>(&'a self) -> impl Sized + use<'a, Self> { 1 } }
            fn in_a_pair() -> (u8, impl Sized) { (1, 2) }
            impl T for X { unsafe fn inner(x: impl Fn()) where X: Sized { fn nested() { 2 } } }
            const unsafe fn fixed() -> u8 { 3 }
            const TABLE: [fn(u8) -> u8; 1] = [|x| { x }];
            mod tests { use super::*; async fn waits() { } }
        "#;
        let source = Source::of(text).unwrap();
        assert_eq!(source.bodies, [r#"{ "}" /* } */ }"#, "{ fn nested() { 2 } }", "{ }"]);
        assert_eq!(source.uses.iter().collect::<Vec<_>>(), ["a::b::C", "a::b::self", "a::d as e"]);
        assert_eq!(
            source.uses.iter().filter_map(|import| name_of(import)).collect::<Vec<_>>(),
            ["C", "b", "e"]
        );
        assert!(source.frame.concat().contains("use super::*"), "a module's import is not the file's");
    }

    #[test]
    fn a_signature_a_type_and_a_constant_are_the_frame() {
        let frame = |a: &str, b: &str| Source::of(a).unwrap().has_the_frame_of(&Source::of(b).unwrap());
        assert!(frame("use a::B;\n\nfn f() { 1 }", "fn f() { 2 }"));
        for other in
            ["fn f(x: u8) { 1 }", "fn f() { 1 } struct S;", "pub fn f() { 1 }", "fn f() { 1 } fn g() { }"]
        {
            assert!(!frame("fn f() { 1 }", other), "{other}");
        }
        assert!(!frame("const fn f() -> u8 { 1 }", "const fn f() -> u8 { 2 }"));
        assert!(!frame("fn f() -> impl Sized { 1 }", "fn f() -> impl Sized { 2 }"));
    }
}
