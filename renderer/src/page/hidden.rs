//! Elements whose content is left out, and where they end.
//!
//! The end tag of a paragraph, an item or a cell may be missing. It ends then where the next one begins or where what it is in
//! ends, or else all the rest of the page would be left out with it.

use super::tags::is_block;

/// An element whose content is left out.
pub(super) struct Hidden {
    pub(super) name: String,
    /// How many of its name are open.
    depth: usize,
    /// How many lists and tables are open in it. Their items and cells end nothing outside.
    nested: usize,
}

impl Hidden {
    pub(super) fn new(name: &str) -> Hidden {
        Hidden { name: name.to_owned(), depth: 1, nested: 0 }
    }

    /// A tag begins. Whether this element ends before it.
    pub(super) fn ends_before(&mut self, tag: &str) -> bool {
        let ends = self.nested == 0
            && match &*self.name {
                "p" => is_block(tag) || is_list(tag) || tag == "hr",
                "li" => tag == "li",
                "dt" | "dd" => matches!(tag, "dt" | "dd"),
                "td" | "th" => matches!(tag, "td" | "th" | "tr" | "tbody" | "tfoot"),
                "tr" => matches!(tag, "tr" | "tbody" | "tfoot"),
                _ => false,
            };
        if !ends {
            self.depth += usize::from(self.name == tag);
            self.nested += usize::from(holds_items(tag));
        }
        ends
    }

    /// A tag ends. Whether this element ends with it.
    pub(super) fn ends_with(&mut self, tag: &str) -> bool {
        self.depth -= usize::from(self.name == tag);
        self.depth == 0
    }

    /// A tag ends that is not this element's. Whether this element was in it, and ends, too.
    pub(super) fn ends_within(&mut self, tag: &str) -> bool {
        if self.nested > 0 {
            self.nested -= usize::from(holds_items(tag));
            return false;
        }
        match &*self.name {
            "p" => tag != "p" && (is_block(tag) || is_list(tag)),
            "li" => is_list(tag),
            "dt" | "dd" => tag == "dl",
            "td" | "th" => matches!(tag, "tr" | "tbody" | "thead" | "tfoot" | "table"),
            "tr" => matches!(tag, "tbody" | "thead" | "tfoot" | "table"),
            _ => false,
        }
    }
}

fn is_list(name: &str) -> bool {
    matches!(name, "ul" | "ol" | "menu" | "dir" | "dl")
}

fn holds_items(name: &str) -> bool {
    is_list(name) || name == "table"
}
