//! The open elements that affect all of their content: each one is skipped or has a direction.
//!
//! A paragraph, an item or a cell may have no end tag. An element without an end tag ends where the next
//! element of its kind begins or where its parent ends, so the rest of the page does not belong to it.

use super::tags::is_block;

/// An open element. The caller must pass each following tag to [`ends_before`](Open::ends_before) or
/// [`ends_at`](Open::ends_at).
pub(super) struct Open {
    pub(super) name: String,
    /// How many open elements have the same name as this element, this element included.
    depth: usize,
    /// How many lists and tables are open within the element. The items of these lists and the cells of these
    /// tables do not end this element.
    nested: usize,
    /// True if the element is a closed `<details>`: its summary is shown, but its other content is
    /// skipped.
    is_closed: bool,
}

impl Open {
    pub(super) fn new(name: &str) -> Open {
        Open { name: name.to_owned(), depth: 1, nested: 0, is_closed: false }
    }

    /// The element is a closed `<details>`.
    pub(super) fn closed(name: &str) -> Open {
        Open { is_closed: true, ..Open::new(name) }
    }

    /// Returns whether this element ends before the start tag `tag`.
    pub(super) fn ends_before(&mut self, tag: &str) -> bool {
        if self.nested == 0 {
            let ends = match &*self.name {
                "p" => is_block(tag) || is_list(tag) || is_cell(tag) || tag == "hr",
                "li" => tag == "li",
                "dt" | "dd" => matches!(tag, "dt" | "dd"),
                "td" | "th" => is_cell(tag) || tag == "tr" || is_rows(tag),
                "tr" => tag == "tr" || is_rows(tag),
                "thead" | "tbody" | "tfoot" => is_rows(tag),
                _ => false,
            };
            if ends {
                return true;
            }
            self.depth += usize::from(self.name == tag && !holds_items(tag));
        }
        self.nested += usize::from(holds_items(tag));
        false
    }

    /// Returns whether the element that begins with `tag` is shown although this element is skipped: this
    /// is true for the summary of a closed `<details>`.
    pub(super) fn shows(&self, tag: &str) -> bool {
        tag == "summary" && self.is_closed && self.depth == 1 && self.nested == 0
    }

    /// Returns whether this element ends at an end tag: its own end tag, or the end tag of an enclosing
    /// element.
    pub(super) fn ends_at(&mut self, tag: &str) -> End {
        if self.nested > 0 {
            self.nested -= usize::from(holds_items(tag));
            return End::No;
        }
        if self.name == tag {
            self.depth -= 1;
            return if self.depth == 0 { End::Own } else { End::No };
        }
        let ends = match &*self.name {
            "p" => is_block(tag) || is_list(tag) || is_cell(tag),
            "li" => is_list(tag),
            "dt" | "dd" => tag == "dl",
            "td" | "th" => tag == "tr" || is_rows(tag) || tag == "table",
            "tr" => is_rows(tag) || tag == "table",
            "thead" | "tbody" | "tfoot" => tag == "table",
            _ => false,
        };
        if ends { End::Implied } else { End::No }
    }
}

/// How an element ends at an end tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    No,
    /// The end tag belongs to the element itself.
    Own,
    /// The end tag belongs to an enclosing element.
    Implied,
}

fn is_list(name: &str) -> bool {
    matches!(name, "ul" | "ol" | "menu" | "dir" | "dl")
}

fn is_cell(name: &str) -> bool {
    matches!(name, "td" | "th")
}

fn is_rows(name: &str) -> bool {
    matches!(name, "thead" | "tbody" | "tfoot")
}

fn holds_items(name: &str) -> bool {
    is_list(name) || name == "table"
}
