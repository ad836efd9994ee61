//! Decides whether a `static` in an answer is allowed; an allowed `static` can never change.

use proc_macro2::TokenTree;

use super::{inside, is_path_separator, is_punct};

/// The types whose values cannot change inside a `static`.
const PLAIN: [&str; 17] = [
    "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize",
];

/// Returns true if a `static` item is plain data; `item` has the tokens after the word `static`. A type that
/// is not built into Rust is not plain data, because its contents are not known here.
pub(super) fn is_plain(item: &[TokenTree]) -> bool {
    let Some(colon) = item.iter().position(|token| is_punct(Some(token), ':')) else { return false };
    let kind = &item[colon + 1..];
    let end = kind.iter().position(|token| is_punct(Some(token), '=') || is_punct(Some(token), ';'));
    let is_mutable = matches!(item.first(), Some(TokenTree::Ident(word)) if word == "mut");
    !is_mutable && !is_path_separator(&item[colon..]) && is_plain_type(&kind[..end.unwrap_or(kind.len())])
}

fn is_plain_type(tokens: &[TokenTree]) -> bool {
    let mut lifetime = false;
    !tokens.is_empty()
        && tokens.iter().all(|token| {
            let names_lifetime = std::mem::take(&mut lifetime);
            match token {
                TokenTree::Ident(word) => names_lifetime || PLAIN.iter().any(|plain| word == plain),
                TokenTree::Punct(punct) => {
                    lifetime = punct.as_char() == '\'';
                    matches!(punct.as_char(), '&' | '\'' | ',')
                }
                TokenTree::Group(group) => {
                    let inside = inside(group);
                    // The length of an array may be any expression.
                    let length = inside.iter().position(|token| is_punct(Some(token), ';'));
                    is_plain_type(&inside[..length.unwrap_or(inside.len())])
                }
                TokenTree::Literal(_) => false,
            }
        })
}

/// Returns the name of the item, for a message.
pub(super) fn name(item: &[TokenTree]) -> String {
    let words = item.iter().map_while(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    ["static".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}
