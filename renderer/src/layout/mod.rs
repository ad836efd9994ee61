//! Computes the positions of everything on a page, before any image has arrived.
//!
//! The size of an image's place comes from the page, or from the first bytes of a local file, or is a
//! default size. When an image arrives, its place does not change: the image is scaled to fit. So nothing on
//! the page moves, and the picture does not depend on the order in which images arrive.
//!
//! All blocks are in one column, one below the other. An image in a block with words is placed among these
//! words, in one of their lines. Other images are placed side by side in a row, as long as there is room.

mod fonts; // words to lines of glyphs
pub use fonts::NoGlyph;
use fonts::Variation;
pub(crate) use fonts::{Fonts, Ink, Lines, Setting};

use crate::page::{Element, ImageRef, Page, Style, TextBlock, TextKind};
use parley::PositionedLayoutItem;
use std::collections::HashMap;
use std::path::Path;

/// The space around the column, in CSS pixels; a narrow page has less space.
const MARGIN: f32 = 32.0;

/// The space between two blocks, and the larger space above a heading.
const GAP: f32 = 14.0;
const ABOVE_HEADING: f32 = 12.0;

/// How far an item of a list, or a quotation, is indented.
const INDENT: f32 = 28.0;

/// The default size of an image's place, and the default size for an image in a line of words, where most
/// images are icons.
const DEFAULT_IMAGE: (f32, f32) = (320.0, 180.0);
const IMAGE_IN_LINE: (f32, f32) = (1.2 * 16.0, 1.2 * 16.0);

/// The height of the tallest image.
const TALLEST_IMAGE: f32 = 1200.0;

/// The largest width and the largest number of pixels of a picture, even if the options ask for more.
const WIDEST: u32 = 100_000;
const MOST_PIXELS: u64 = 500_000_000;

/// The options of the layout of a page.
#[derive(Debug, Clone)]
pub struct LayoutOptions<'a> {
    /// The width of the picture in CSS pixels.
    pub width: u32,
    /// The number of pixels in the picture for each CSS pixel.
    pub scale: f32,
    /// A font file whose fonts are tried first.
    pub font: Option<&'a Path>,
    /// The largest number of pixels of the picture; elements further down are cut off.
    pub max_pixels: u64,
}

/// A rectangle, in pixels of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// The distance from the left edge of the picture, in pixels.
    pub x: u32,
    /// The distance from the upper edge of the picture, in pixels.
    pub y: u32,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
}

impl Area {
    /// Returns the smallest rectangle that contains both rectangles.
    pub(crate) fn with(self, other: Area) -> Area {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let bottom = (self.y + self.height).max(other.y + other.height);
        Area { x, y, width: right - x, height: bottom - y }
    }
}

/// The lines of text and the places of the images on a page.
pub struct Layout {
    pub(crate) fonts: Fonts,
    pub(crate) scale: f32,
    size: (u32, u32),
    /// The position of each element, by the element's index.
    placed: Vec<Placed>,
    elements: usize,
    /// The rectangles of the images within blocks of text, by the index of the image.
    in_text: HashMap<usize, Option<Area>>,
    no_glyph: NoGlyph,
}

/// An element and its position. The positions are in pixels of the picture.
pub(crate) enum Placed {
    Text {
        x: f32,
        y: f32,
        lines: Box<Lines>,
        marker: Option<(f32, Box<Lines>)>,
        area: Area,
        /// The positions of images within the text.
        images: Vec<Area>,
        is_quote: bool,
    },
    Image(Area),
    Rule(Area),
    /// True if the element lies below the end of the picture.
    Cut,
}

/// Where the next element begins, in CSS pixels.
struct Pen {
    y: f32,
    /// The right edge of the last image in the current row, and the lower edge of the row.
    row: Option<(f32, f32)>,
}

impl Layout {
    /// Computes the layout of the page.
    ///
    /// # Errors
    /// Returns an error with a sentence if the font cannot be read or is not a font.
    pub fn new(page: &Page, options: &LayoutOptions<'_>) -> anyhow::Result<Layout> {
        let scale = if options.scale.is_finite() { options.scale.clamp(0.01, 100.0) } else { 1.0 };
        let options = &LayoutOptions { scale, width: options.width.clamp(1, WIDEST), ..options.clone() };
        let width = to_pixels(options.width as f32 * options.scale).clamp(1, WIDEST);
        let tallest = u32::try_from(options.max_pixels.min(MOST_PIXELS) / u64::from(width))
            .unwrap_or(u32::MAX)
            .clamp(1, 1 << 24);
        let mut layout = Layout {
            fonts: Fonts::new(options.scale, options.font)?,
            scale: options.scale,
            size: (width, tallest),
            placed: Vec::new(),
            elements: page.elements.len(),
            in_text: HashMap::new(),
            no_glyph: NoGlyph::default(),
        };
        let (margin, column) = column(options.width);
        let mut pen = Pen { y: margin, row: None };
        for element in &page.elements {
            let placed = match element {
                Element::Text(block) => layout.place_text(page, block, &mut pen, margin, column),
                Element::Image(image) => layout.place_image(image, &mut pen, margin, column),
            };
            layout.placed.push(placed);
            if pen.y * options.scale > tallest as f32 {
                break; // everything after it is cut off
            }
        }
        let bottom = pen.row.map_or(pen.y, |(_, bottom)| bottom + GAP) - GAP + margin;
        layout.size.1 = to_pixels(bottom * options.scale).clamp(1, tallest);
        Ok(layout)
    }

    /// Returns the width and height of the picture in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Returns how many elements lie below the end of the picture.
    pub fn cut(&self) -> usize {
        let below = self.placed.iter().filter(|placed| matches!(placed, Placed::Cut)).count();
        self.elements - self.placed.len() + below
    }

    /// Returns the characters in blocks of text for which no font has a glyph.
    pub fn no_glyph(&self) -> &NoGlyph {
        &self.no_glyph
    }

    /// Returns the position of an element; returns `None` if the element lies below the end of the picture.
    pub fn area(&self, place: usize) -> Option<Area> {
        match self.placed.get(place)? {
            Placed::Text { area, .. } | Placed::Image(area) | Placed::Rule(area) => Some(*area),
            Placed::Cut => None,
        }
    }

    pub(crate) fn placed(&self, place: usize) -> Option<&Placed> {
        self.placed.get(place)
    }

    fn place_text(
        &mut self,
        page: &Page,
        block: &TextBlock,
        pen: &mut Pen,
        margin: f32,
        column: f32,
    ) -> Placed {
        pen.end_row();
        let scale = self.scale;
        if block.kind == TextKind::Rule {
            let area = Area {
                x: to_pixels(margin * scale),
                y: to_pixels(pen.y * scale),
                width: to_pixels(column * scale),
                height: 1,
            };
            pen.y += 1.0 + GAP;
            return if self.has_room_for(area) { Placed::Rule(area) } else { Placed::Cut };
        }
        let indent = match &block.kind {
            TextKind::Item { depth, .. } => (INDENT * f32::from(*depth)).min(column / 2.0),
            TextKind::Quote | TextKind::Preformatted => INDENT.min(column / 4.0),
            _ => 0.0,
        };
        let (size, bold) = match block.kind {
            TextKind::Heading(level) => {
                ([30.0, 24.0, 20.0, 17.0, 16.0, 15.0][usize::from(level.clamp(1, 6)) - 1], true)
            }
            TextKind::Preformatted => (14.0, false),
            _ => (16.0, false),
        };
        if matches!(block.kind, TextKind::Heading(_)) && pen.y > margin {
            pen.y += ABOVE_HEADING;
        }
        let setting = Setting {
            size,
            width: column - indent,
            bold,
            monospaced: block.kind == TextKind::Preformatted,
            right_to_left: block.right_to_left,
            ink: Ink::Text,
        };
        let variations: Vec<_> =
            block.spans.iter().map(|(range, style)| (range.clone(), variation(*style))).collect();
        let lines =
            self.fonts.set(&block.text, setting, &variations, &self.boxes(page, block, setting.width));
        // The marker of an item needs room on the side where lines begin.
        let x = if lines.is_rtl() { margin } else { margin + indent } * scale;
        let marker = match &block.kind {
            TextKind::Item { marker, .. } if !marker.is_empty() => {
                let setting_of_marker = Setting { width: column, right_to_left: false, ..setting };
                let marker = self.fonts.set(marker, setting_of_marker, &[], &[]);
                let at = if lines.is_rtl() {
                    x + setting.width * scale + 8.0 * scale
                } else {
                    x - 8.0 * scale - marker.width()
                };
                Some((at, Box::new(marker)))
            }
            _ => None,
        };
        let y = pen.y * scale;
        let area = Area {
            x: to_pixels(x),
            y: to_pixels(y),
            width: to_pixels(setting.width * scale),
            height: to_pixels(lines.height()),
        };
        pen.y += lines.height() / scale
            + if matches!(block.kind, TextKind::Item { .. }) { GAP / 2.0 } else { GAP };
        if area.y >= self.size.1 {
            return Placed::Cut;
        }
        self.no_glyph.count_in(&lines, &block.text);
        let images = self.place_in_text(block, &lines, (x, y));
        let is_quote = block.kind == TextKind::Quote;
        Placed::Text { x, y, lines: Box::new(lines), marker, area, images, is_quote }
    }

    /// Returns the boxes of the images in a block of text, in pixels.
    fn boxes(&self, page: &Page, block: &TextBlock, width: f32) -> Vec<(usize, f32, f32)> {
        let pixels = |length: f32| (length * self.scale).max(1.0);
        let size = |(offset, place): &(usize, usize)| {
            let Some(Element::Image(image)) = page.elements.get(*place) else { return (*offset, 1.0, 1.0) };
            let (width, height) = place_of(image, stands_beside_words(&block.text, *offset), width);
            (*offset, pixels(width), pixels(height))
        };
        block.images.iter().map(size).collect()
    }

    /// Gives places to the images in a block of text, unless they lie below the end of the picture.
    fn place_in_text(&mut self, block: &TextBlock, lines: &Lines, (x, y): (f32, f32)) -> Vec<Area> {
        self.in_text.extend(block.images.iter().map(|(_, place)| (*place, None)));
        let mut areas = Vec::new();
        for item in lines.lines().flat_map(|line| line.items().collect::<Vec<_>>()) {
            let PositionedLayoutItem::InlineBox(found) = item else { continue };
            // The edges are rounded instead of the sizes, so two neighbouring rectangles share no pixel.
            let (left, top) = (to_pixels(x + found.x), to_pixels(y + found.y));
            let (right, bottom) =
                (to_pixels(x + found.x + found.width), to_pixels(y + found.y + found.height));
            let right = right.min(self.size.0);
            let area = Area { x: left, y: top, width: right.saturating_sub(left), height: bottom - top };
            let place = usize::try_from(found.id).ok().and_then(|id| block.images.get(id));
            if let Some((_, place)) = place.filter(|_| self.has_room_for(area) && area.width > 0) {
                self.in_text.insert(*place, Some(area));
                areas.push(area);
            }
        }
        areas
    }

    fn place_image(&mut self, image: &ImageRef, pen: &mut Pen, margin: f32, column: f32) -> Placed {
        if let Some(in_text) = self.in_text.remove(&image.place) {
            return in_text.map_or(Placed::Cut, Placed::Image);
        }
        let (width, height) = place_of(image, false, column);
        let x = match pen.row {
            Some((right, _)) if right + GAP + width <= margin + column => right + GAP,
            _ => {
                pen.end_row();
                margin
            }
        };
        let bottom = pen.row.map_or(0.0, |(_, bottom)| bottom).max(pen.y + height);
        pen.row = Some((x + width, bottom));
        let scale = self.scale;
        let area = Area {
            x: to_pixels(x * scale),
            y: to_pixels(pen.y * scale),
            width: to_pixels(width * scale).max(1),
            height: to_pixels(height * scale).max(1),
        };
        if self.has_room_for(area) { Placed::Image(area) } else { Placed::Cut }
    }

    fn has_room_for(&self, area: Area) -> bool {
        area.y.saturating_add(area.height) <= self.size.1
    }
}

impl Pen {
    /// Ends a row of images: the next element is placed below the row.
    fn end_row(&mut self) {
        if let Some((_, bottom)) = self.row.take() {
            self.y = bottom + GAP;
        }
    }
}

/// Returns the left edge and the width of the column.
fn column(width: u32) -> (f32, f32) {
    let margin = MARGIN.min(width as f32 / 10.0);
    (margin, width as f32 - 2.0 * margin)
}

/// Returns whether the line that contains this byte of the text has words.
fn stands_beside_words(text: &str, at: usize) -> bool {
    let (before, behind) = text.split_at(at);
    let ends = ['\n', '·']; // of a line, and of a cell
    let line = [before.rsplit(ends).next(), behind.split(ends).next()];
    line.into_iter().flatten().any(|words| !words.trim().is_empty())
}

/// Returns the width and height of an image's place: from the page, from the file, or by default.
fn place_of(image: &ImageRef, is_beside_words: bool, column: f32) -> (f32, f32) {
    let unknown = if is_beside_words { IMAGE_IN_LINE } else { DEFAULT_IMAGE };
    let own = image.own_size.unwrap_or(unknown);
    let shape = own.0 / own.1;
    let (width, height) = match (image.width, image.height) {
        (Some(width), Some(height)) => (width as f32, height as f32),
        (Some(width), None) => (width as f32, width as f32 / shape),
        (None, Some(height)) => (height as f32 * shape, height as f32),
        (None, None) => own,
    };
    let (width, height) = (width.max(1.0), height.max(1.0));
    let shrink = (column / width).min(TALLEST_IMAGE / height).min(1.0);
    ((width * shrink).max(1.0), (height * shrink).max(1.0))
}

fn variation(style: Style) -> Variation {
    match style {
        Style::Strong => Variation::Bold,
        Style::Emphasis => Variation::Italic,
        Style::Code => Variation::Monospaced,
        Style::Link => Variation::Link,
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as it should
pub(crate) fn to_pixels(length: f32) -> u32 {
    length.round() as u32
}
