//! The meanings of the names of tags.

use super::Style;
use super::parse::Attributes;

/// The elements that have neither content nor an end tag.
const VOID: [&str; 16] = [
    "img", "image", "br", "hr", "input", "base", "link", "meta", "source", "wbr", "area", "col", "embed",
    "track", "frame", "param",
];

/// The elements whose content does not belong to the page's words.
const HIDDEN: [&str; 15] = [
    "script", "style", "template", "svg", "math", "iframe", "object", "select", "textarea", "noembed",
    "noframes", "audio", "video", "canvas", "datalist",
];

/// Returns the style of the words in an element.
pub(super) fn style(name: &str) -> Option<Style> {
    match name {
        "strong" | "b" | "dt" | "th" | "summary" => Some(Style::Strong),
        "em" | "i" | "cite" | "var" | "dfn" | "address" => Some(Style::Emphasis),
        "code" | "kbd" | "samp" | "tt" => Some(Style::Code),
        "a" => Some(Style::Link),
        _ => None,
    }
}

/// Returns the level of a heading.
pub(super) fn level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

/// Returns whether an element has neither content nor an end tag.
pub(super) fn is_void(name: &str) -> bool {
    VOID.contains(&name)
}

/// Returns whether an element's content does not belong to the page's words.
pub(super) fn is_hidden(name: &str) -> bool {
    HIDDEN.contains(&name)
}

/// Returns whether the attributes of an element hide the element. A page that hides its whole body needs a
/// script that shows the body again. This program runs no scripts, so it shows the body.
pub(super) fn is_concealed(name: &str, attributes: &Attributes<'_>) -> bool {
    match name {
        "html" | "body" | "base" => false,
        "dialog" if attributes.get("open").is_none() => true,
        _ => attributes.get("hidden").is_some() || attributes.get("style").is_some_and(has_no_display),
    }
}

/// Returns whether the last `display` property of a style is `none`.
fn has_no_display(style: &str) -> bool {
    let mut declared = style.split(';').filter_map(|declaration| declaration.split_once(':'));
    let last = declared.rfind(|(name, _)| name.trim().eq_ignore_ascii_case("display"));
    last.is_some_and(|(_, value)| value.trim_start().to_ascii_lowercase().starts_with("none"))
}

/// Returns whether an element is a control: a button or a field, with words that are separate from the
/// surrounding words.
pub(super) fn is_control(name: &str) -> bool {
    matches!(name, "button" | "label" | "input" | "select" | "textarea" | "meter" | "progress" | "output")
}

/// Returns whether an element is a block of its own, and not a part of the words around it.
pub(super) fn is_block(name: &str) -> bool {
    match name {
        "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center" | "dd" | "details"
        | "dialog" | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form"
        | "header" | "hgroup" | "html" | "legend" | "li" | "listing" | "main" | "nav" | "option" | "p"
        | "plaintext" | "pre" | "search" | "section" | "summary" | "table" | "tbody" | "tfoot" | "thead"
        | "tr" | "xmp" => true,
        _ => level(name).is_some(),
    }
}
