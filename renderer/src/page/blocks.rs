//! Builds blocks of text and images from tags and words.
//!
//! No tree of elements is built. Each tag changes the context of the following words: a few short stacks hold
//! the open lists, quotations and styles. So the time to parse a page is linear in the length of the page,
//! even if the elements are nested deeply or wrongly. A block ends where another block begins, and an end tag
//! without a start tag is ignored.

use super::candidates::{self, Offer};
use super::image::image;
use super::lists::List;
use super::open::{End, Open};
use super::parse::{Attributes, PageLimits};
use super::tags::{is_block, is_concealed, is_control, is_hidden, is_void, level};
use super::words::{DEEPEST, LONGEST_BLOCK, Spans, Words, pieces};
use super::{Element, ImageRef, Page, TextBlock, TextKind};
use std::sync::Arc;
use url::Url;

/// A page under construction, built from its tags.
pub(super) struct Blocks {
    page: Page,
    limits: PageLimits,
    /// The document's own address, and the base address that the document sets for relative references.
    document: Url,
    base: Option<Url>,

    /// The block that is being read.
    words: Words,
    heading: Option<u8>,
    lists: Vec<List>,
    /// The marker of the list item that the next block begins; `None` if the next block begins no list item.
    marker: Option<String>,
    /// For each open element that sets a direction: whether its text reads from right to left.
    directions: Vec<(Open, bool)>,
    quotes: usize,
    preformatted: usize,
    in_definition: bool,
    /// The open element whose content is skipped.
    hidden: Option<Open>,
    /// The closed `<details>` element whose summary is being read; its content after the summary is
    /// skipped.
    summary_of: Option<Open>,
    in_title: bool,
    pub(super) is_xml: bool,
    /// The images in the block.
    images: Vec<ImageRef>,
    /// The files that the open `<picture>` element offers.
    picture: Option<Offer>,
}

impl Blocks {
    pub(super) fn new(base: &Url, limits: PageLimits, is_xml: bool) -> Blocks {
        Blocks {
            page: Page::default(),
            limits,
            document: base.clone(),
            base: None,
            words: Words::default(),
            heading: None,
            lists: Vec::new(),
            marker: None,
            directions: Vec::new(),
            quotes: 0,
            preformatted: 0,
            in_definition: false,
            hidden: None,
            summary_of: None,
            in_title: false,
            is_xml,
            images: Vec::new(),
            picture: None,
        }
    }

    pub(super) fn finish(mut self) -> Page {
        self.end_block();
        for list in self.lists.drain(..) {
            list.close(&mut self.page.elements);
        }
        self.page.title = self.page.title.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
        self.page
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.in_title {
            let title = self.page.title.get_or_insert_default();
            let room = LONGEST_BLOCK.saturating_sub(title.len());
            title.push_str(&text[..text.floor_char_boundary(room)]);
        } else if self.hidden.is_some() {
        } else if self.preformatted > 0 {
            for line in text.split_inclusive('\n').flat_map(pieces) {
                self.split_if_long();
                self.words.push_as_it_is(&line.replace('\t', "    ").replace('\r', ""));
            }
        } else {
            self.running_text(text);
        }
    }

    /// Adds words; white space between two words becomes one blank.
    fn running_text(&mut self, text: &str) {
        for word in text.split_inclusive(|c: char| c.is_ascii_whitespace()) {
            let bare = word.trim_end_matches(|c: char| c.is_ascii_whitespace());
            for piece in pieces(bare) {
                self.split_if_long();
                self.words.push_word(piece);
            }
            if bare.len() < word.len() {
                self.words.push_blank();
            }
        }
    }

    /// Returns whether a tag belongs to a drawing or a formula, in which `<tag/>` has no content.
    pub(super) fn is_foreign(&self, name: &str) -> bool {
        let in_foreign = self.hidden.as_ref().is_some_and(|hidden| matches!(&*hidden.name, "svg" | "math"));
        in_foreign || matches!(name, "svg" | "math")
    }

    pub(super) fn start(&mut self, name: &str, attributes: &Attributes<'_>) {
        if let Some(hidden) = &mut self.hidden {
            if hidden.shows(name) {
                self.summary_of = self.hidden.take();
            } else if !hidden.ends_before(name) {
                return;
            }
        }
        self.hidden = None;
        self.end_directions(|open| open.ends_before(name));
        self.note_direction(name, attributes);
        if is_control(name) {
            self.words.keep_apart();
        }
        match name {
            _ if is_hidden(name) || is_concealed(name, attributes) => {
                self.hidden = (!is_void(name)).then(|| Open::new(name));
            }
            "details" if attributes.get("open").is_none() => {
                self.end_block();
                self.hidden = Some(Open::closed(name));
            }
            "title" => self.in_title = self.page.title.is_none(),
            "base" => self.set_base(attributes),
            "br" => self.break_line(),
            "picture" => self.picture = Some(Offer::default()),
            "source" => {
                if let Some(offer) = &mut self.picture {
                    offer.add(attributes, self.limits.viewport);
                }
            }
            "wbr" => self.words.push_chance_to_break(),
            "img" | "image" => self.push_image(attributes),
            "input" if attributes.get("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => {
                self.push_image(attributes);
            }
            "hr" => {
                self.end_block();
                self.push_text(TextKind::Rule, String::new(), Vec::new(), Vec::new());
            }
            "ul" | "ol" | "menu" | "dir" => self.open_list(name, attributes),
            "li" => self.open_item(attributes),
            "td" | "th" => self.open_cell(name),
            "a" => {
                self.words.close("a"); // links do not nest
                if attributes.get("href").is_some() {
                    self.words.open("a");
                }
            }
            _ => self.start_of_another(name),
        }
    }

    fn start_of_another(&mut self, name: &str) {
        if is_block(name) {
            self.end_block();
            match name {
                "blockquote" => self.quotes += 1,
                "pre" | "listing" | "xmp" | "plaintext" => self.preformatted += 1,
                "dt" => {
                    self.words.close("dt");
                    self.in_definition = false;
                }
                "tr" => self.words.close("th"),
                "dd" => {
                    self.words.close("dt");
                    self.in_definition = true;
                }
                _ => self.heading = level(name),
            }
        }
        self.words.open(name);
    }

    pub(super) fn end(&mut self, name: &str) {
        match self.hidden.as_mut().map(|hidden| hidden.ends_at(name)) {
            Some(End::No) => return,
            Some(End::Own) => {
                self.hidden = None;
                self.end_directions(|open| open.ends_at(name) != End::No);
                return;
            }
            Some(End::Implied) | None => self.hidden = None,
        }
        if is_control(name) {
            self.words.keep_apart();
        }
        self.words.close(name);
        match name {
            "dl" => self.words.close("dt"), // perhaps its end tag is missing
            "tr" | "table" => self.words.close("th"),
            _ => (),
        }
        match name {
            "title" => self.in_title = false,
            "picture" => self.picture = None,
            "p" | "br" if self.words.is_empty() && self.images.is_empty() => (),
            "br" => self.break_line(),
            "ul" | "ol" | "menu" | "dir" => {
                self.end_block();
                if let Some(list) = self.lists.pop() {
                    list.close(&mut self.page.elements);
                }
                self.marker = None;
            }
            "dd" | "dl" => {
                self.end_block();
                self.in_definition = false;
            }
            "blockquote" => {
                self.end_block();
                self.quotes = self.quotes.saturating_sub(1);
            }
            "pre" | "listing" | "xmp" => {
                self.end_block();
                self.preformatted = self.preformatted.saturating_sub(1);
            }
            _ if is_block(name) => {
                self.end_block();
                self.heading = None;
            }
            _ => (),
        }
        self.end_directions(|open| open.ends_at(name) != End::No);
        match name {
            "summary" => self.hidden = self.summary_of.take(),
            "details" => self.summary_of = None,
            _ => (),
        }
    }

    /// At a tag, closes each element with a direction that ends at this tag, together with all open elements
    /// inside this element.
    fn end_directions(&mut self, mut ends: impl FnMut(&mut Open) -> bool) {
        let mut first = None;
        for (at, (open, _)) in self.directions.iter_mut().enumerate() {
            first = first.or(ends(open).then_some(at)); // each element must see the tag
        }
        if let Some(first) = first {
            self.end_block();
            self.directions.truncate(first);
        }
    }

    fn note_direction(&mut self, name: &str, attributes: &Attributes<'_>) {
        let Some(direction) = attributes.get("dir") else { return };
        if !is_void(name) && self.directions.len() < DEEPEST && !matches!(name, "span" | "bdo" | "bdi") {
            self.end_block();
            self.directions.push((Open::new(name), direction.eq_ignore_ascii_case("rtl")));
        }
    }

    fn set_base(&mut self, attributes: &Attributes<'_>) {
        let base = attributes.get("href").and_then(|href| self.document.join(href).ok());
        let base = base.filter(|base| !base.cannot_be_a_base());
        self.base = self.base.take().or(base); // the first one counts
    }

    fn break_line(&mut self) {
        self.split_if_long();
        self.words.push_as_it_is("\n");
    }

    fn push_image(&mut self, attributes: &Attributes<'_>) {
        if self.page.elements.len() + self.images.len() >= self.limits.elements {
            self.page.left_out += 1;
            return;
        }
        let src = attributes.get("src").map(str::trim).filter(|src| !src.is_empty());
        let offered = self.picture.take().and_then(|offer| offer.file);
        let file = offered.or_else(|| candidates::choose(attributes, src, self.limits.viewport));
        let base = self.base.as_ref().unwrap_or(&self.document);
        self.images.push(image(attributes, file.as_ref(), &self.document, base));
        self.words.push_image();
    }

    fn open_list(&mut self, name: &str, attributes: &Attributes<'_>) {
        self.end_block();
        if self.lists.len() < DEEPEST {
            self.lists.push(List::open(name, attributes));
        }
    }

    fn open_item(&mut self, attributes: &Attributes<'_>) {
        self.end_block();
        let bullet = ["•", "◦", "▪"][self.lists.len().saturating_sub(1).min(2)];
        let marker = self.lists.last_mut().and_then(|list| list.next_marker(attributes));
        self.marker = Some(marker.unwrap_or_else(|| bullet.to_owned()));
    }

    /// Begins a cell of a table. The cells of a row are put in one line.
    fn open_cell(&mut self, name: &str) {
        self.words.close("th");
        self.split_if_long();
        if !self.words.is_empty() {
            self.words.push_as_it_is("  ·  ");
        } else if !self.images.is_empty() {
            self.words.push_as_it_is("\n"); // words of the next cell are not beside the image
        }
        self.words.open(name);
    }

    /// Ends a block that has become too long; its text continues in another block.
    fn split_if_long(&mut self) {
        if self.words.is_long() {
            self.end_block();
        }
    }

    /// Ends the current block: if the block contains words, it becomes a block of text, and its images become
    /// elements.
    pub(super) fn end_block(&mut self) {
        let images = std::mem::take(&mut self.images);
        if let Some((text, spans, offsets)) = self.words.take(self.preformatted > 0) {
            let (begins_item, place) = (self.marker.is_some(), self.page.elements.len());
            let in_text: Vec<_> = offsets.into_iter().zip(place + 1..self.limits.elements).collect();
            let kind = self.kind();
            self.push_text(kind, text, spans, in_text);
            let was_pushed = self.page.elements.len() > place;
            if let Some(list) = self.lists.last_mut().filter(|_| begins_item && was_pushed) {
                list.note_place(place);
            }
        }
        for mut image in images {
            image.place = self.page.elements.len();
            self.push(Element::Image(Arc::new(image)));
        }
    }

    fn kind(&mut self) -> TextKind {
        if let Some(level) = self.heading {
            TextKind::Heading(level)
        } else if self.preformatted > 0 {
            TextKind::Preformatted
        } else if self.marker.is_some() || self.in_definition || !self.lists.is_empty() {
            let depth = self.lists.len() + usize::from(self.in_definition);
            let depth = u8::try_from(depth.clamp(1, DEEPEST)).unwrap_or(1);
            TextKind::Item { depth, marker: self.marker.take().unwrap_or_default() }
        } else if self.quotes > 0 {
            TextKind::Quote
        } else {
            TextKind::Paragraph
        }
    }

    fn push_text(&mut self, kind: TextKind, text: String, spans: Spans, images: Vec<(usize, usize)>) {
        let right_to_left = self.directions.last().is_some_and(|(_, right_to_left)| *right_to_left);
        self.push(Element::Text(TextBlock { kind, text, spans, images, right_to_left }));
    }

    /// Adds an element if the limits allow it; otherwise only counts it.
    fn push(&mut self, element: Element) {
        let length = if let Element::Text(block) = &element { block.text.len() } else { 0 };
        if self.page.elements.len() >= self.limits.elements || length > self.limits.text {
            self.page.left_out += 1;
            return;
        }
        self.limits.text -= length;
        self.page.elements.push(element);
    }
}
