//! Reads links from the header fields of an answer.

use super::{LONGEST, Links, is_web, normalise, refreshed};
use std::{iter, mem};
use url::Url;

/// The largest number of links in a head.
const MOST: usize = 100;

/// Returns the links in the header fields `Link` (RFC 8288) and `Refresh` of an answer, as if the links
/// were in the document. Only links whose `rel` is `next`, `prev` or `canonical` are returned. The links
/// are relative to the URL of the answer.
pub fn of_head(link: &[String], refresh: Option<&str>, url: &Url) -> Links {
    let resolve = |target: &str| {
        let target = url.join(target.trim_ascii()).ok().map(normalise);
        target.filter(|target| is_web(target) && target.as_str().len() <= LONGEST)
    };
    let mut found = Links::default();
    for (target, relations) in link.iter().flat_map(|field| targets(field)).take(MOST) {
        let is = |name: &str| relations.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(name));
        let Some(target) = resolve(target) else { continue };
        if is("canonical") && found.canonical.is_none() {
            found.canonical = Some(target);
        } else if (is("next") || is("prev")) && !is("nofollow") {
            found.links.push(target);
        }
    }
    found.links.extend(refresh.and_then(refreshed).and_then(resolve));
    found
}

/// Returns the targets of a field, each with the value of its `rel`, for example from `<a>; rel="x y", <b>;
/// rel=z`. A link with an `anchor` belongs to another page, and is left out.
fn targets(mut field: &str) -> impl Iterator<Item = (&str, &str)> {
    let all = iter::from_fn(move || {
        let (target, after) = field.split_once('<')?.1.split_once('>')?;
        let (parameters, rest) = until(after, ',');
        field = rest;
        Some((target, parameters))
    });
    all.filter(|(_, parameters)| parameter(parameters, "anchor").is_none())
        .map(|(target, parameters)| (target, parameter(parameters, "rel").unwrap_or_default()))
}

/// Returns the first parameter with the given name.
fn parameter<'p>(mut parameters: &'p str, name: &str) -> Option<&'p str> {
    while !parameters.is_empty() {
        let (one, rest) = until(parameters, ';');
        parameters = rest;
        if let Some((key, value)) = one.split_once('=')
            && key.trim_ascii().eq_ignore_ascii_case(name)
        {
            return Some(value.trim_matches([' ', '\t', '"']));
        }
    }
    None
}

/// Returns the text before the first `stop` character that is not in quotes, and the text after this
/// character.
fn until(text: &str, stop: char) -> (&str, &str) {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let end = text.find(|c| {
        let escapes = is_quoted && !is_escaped && c == '\\';
        let is_plain = !mem::replace(&mut is_escaped, escapes);
        is_quoted ^= is_plain && c == '"';
        c == stop && !is_quoted
    });
    end.map_or((text, ""), |end| (&text[..end], &text[end + stop.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_may_lead_on() {
        let url = Url::parse("http://example.org/list?page=2").expect("a URL");
        let link = [
            "</list?page=3>; rel=\"next\", <?page=1>; title=a; REL = prev , </style.css>; rel=preload",
            "<http://example.org/list>; rel=\"x canonical\"",
            "<ftp://f/>; rel=next, no link, <",
            "</x>; title=\"a, <b>; rel=next\", </y>; title=\"\\\"; rel=next\", </of-another>; rel=next; anchor=\"/page\"",
        ]
        .map(str::to_owned);
        let found = of_head(&link, Some("5; url=/later"), &url);
        let links: Vec<_> = found.links.iter().map(Url::as_str).collect();
        let expected =
            ["http://example.org/list?page=3", "http://example.org/list?page=1", "http://example.org/later"];
        assert_eq!(links, expected);
        assert_eq!(found.canonical.as_ref().map(Url::as_str), Some("http://example.org/list"));
        assert_eq!(of_head(&[], None, &url), Links::default());
    }
}
