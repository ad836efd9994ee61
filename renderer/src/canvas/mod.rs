//! The picture that is being painted.
//!
//! Each place is painted independently of all other places, so the order does not change the
//! result. Painting a place again paints the whole place: an image leaves no part of its
//! place-holder visible.

mod glyphs; // lines of text to pixels

use crate::layout::{Area, Ink, Layout, Placed, Setting, to_pixels};
use crate::picture::Picture;
use glyphs::Glyphs;
use std::ops::Range;
use tiny_skia::{Color, FilterQuality, Paint, Pixmap, PixmapPaint, Rect, Transform};

/// The size of the words in an image's place, and the space around them, in CSS pixels.
const NOTE: f32 = 12.0;
const NOTE_MARGIN: f32 = 6.0;

/// How far glyphs may reach beyond the lines of their block, in CSS pixels: less than half the space
/// between two blocks.
const OVERHANG: f32 = 3.0;

/// The distance between a quotation and its bar, in CSS pixels.
const BAR: f32 = 7.0;

const PAPER: [u8; 3] = [255, 255, 255];
const RULE: [u8; 3] = [176, 184, 194];
const PLACEHOLDER: [u8; 3] = [240, 243, 247];
const PLACEHOLDER_EDGE: [u8; 3] = [196, 205, 216];
const GAP: [u8; 3] = [251, 240, 238];
const GAP_EDGE: [u8; 3] = [205, 120, 105];

/// The picture that is being painted. Each element is painted in the place that the layout gives
/// it.
pub struct Canvas {
    layout: Layout,
    glyphs: Glyphs,
    pixels: Pixmap,
    /// The area that was painted after the last [`Canvas::take_changed`].
    changed: Option<Area>,
}

impl Canvas {
    /// Makes the picture of an empty page.
    pub fn new(layout: Layout) -> Canvas {
        let (width, height) = layout.size();
        let mut pixels = Pixmap::new(width, height).expect("the layout has bounds");
        pixels.fill(color(PAPER));
        let changed = Some(Area { x: 0, y: 0, width, height });
        Canvas { layout, glyphs: Glyphs::new(), pixels, changed }
    }

    /// Returns the positions of all elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Paints a block of text. Does nothing if the element is an image, or if it lies below the end of the
    /// picture.
    pub fn paint_text(&mut self, place: usize) {
        match self.layout.placed(place) {
            Some(Placed::Text { x, y, lines, marker, area, images, is_quote }) => {
                // Images within the text are painted separately.
                let kept: Vec<_> = images.iter().map(|area| (*area, copied(&self.pixels, *area))).collect();
                // No other element uses the rows of pixels of a text block, or the space around the block.
                let scale = self.layout.scale;
                let top = (area.y as f32 - OVERHANG * scale).max(0.0);
                let height = area.height as f32 + 2.0 * OVERHANG * scale;
                let width = self.pixels.width() as f32;
                fill(&mut self.pixels, (0.0, top.round(), width, height.round()), PAPER);
                let rows = (0, to_pixels(top), self.pixels.width(), to_pixels(top) + to_pixels(height));
                let clip = (rows.0, rows.1, rows.2, rows.3.min(self.pixels.height()));
                grow(
                    &mut self.changed,
                    Area { x: 0, y: clip.1, width: clip.2, height: clip.3.saturating_sub(clip.1) },
                );
                self.glyphs.paint(&mut self.pixels, lines, (*x, *y), clip);
                if let Some((at, marker)) = marker {
                    self.glyphs.paint(&mut self.pixels, marker, (*at, *y), clip);
                }
                if *is_quote {
                    let (left, right) = (area.x as f32, (area.x + area.width) as f32);
                    let x = if lines.is_rtl() {
                        right + BAR * scale
                    } else {
                        (left - 2.0 * BAR * scale).max(0.0)
                    };
                    let thickness = (3.0 * scale).max(1.0);
                    fill(&mut self.pixels, (x, area.y as f32, thickness, area.height as f32), RULE);
                }
                for (area, pixels) in kept {
                    put_back(&mut self.pixels, area, &pixels);
                }
            }
            Some(Placed::Rule(area)) => {
                grow(&mut self.changed, *area);
                fill_area(&mut self.pixels, *area, RULE);
            }
            _ => (),
        }
    }

    /// Paints a frame with the alternative text of an image, in the place of the image, while the image has
    /// not arrived.
    pub fn paint_placeholder(&mut self, place: usize, alt: &str) {
        self.paint_note(place, alt, PLACEHOLDER, PLACEHOLDER_EDGE);
    }

    /// Paints a frame with the alternative text of an image and the reason why the image is missing, in the
    /// place of the image.
    pub fn paint_gap(&mut self, place: usize, alt: &str, reason: &str) {
        let words = if alt.is_empty() { format!("✗ {reason}") } else { format!("{alt}\n✗ {reason}") };
        self.paint_note(place, &words, GAP, GAP_EDGE);
    }

    /// Paints an image, scaled to fit its place.
    pub fn paint_image(&mut self, place: usize, picture: &Picture) {
        let Some(Placed::Image(area)) = self.layout.placed(place) else { return };
        grow(&mut self.changed, *area);
        fill_area(&mut self.pixels, *area, PAPER);
        let picture = picture.fitting(area.width, area.height);
        let (width, height) = (picture.width() as f32, picture.height() as f32);
        // If there is room, an image is painted at its own size in CSS pixels.
        let fit =
            (area.width as f32 / width).min(area.height as f32 / height).min(self.layout.scale.max(1.0));
        let (left, top) =
            ((area.width as f32 - width * fit) / 2.0, (area.height as f32 - height * fit) / 2.0);
        let transform = Transform::from_row(
            fit,
            0.0,
            0.0,
            fit,
            area.x as f32 + left.floor(),
            area.y as f32 + top.floor(),
        );
        let quality = if (fit - 1.0).abs() < 0.01 { FilterQuality::Nearest } else { FilterQuality::Bilinear };
        let paint = PixmapPaint { quality, ..PixmapPaint::default() };
        self.pixels.draw_pixmap(0, 0, picture.pixels.as_ref(), &paint, transform, None);
    }

    /// Returns width, height, and the pixels row by row: each pixel has four bytes, for red, green, blue and
    /// alpha. All pixels are opaque.
    pub fn pixels(&self) -> (u32, u32, &[u8]) {
        (self.pixels.width(), self.pixels.height(), self.pixels.data())
    }

    /// Returns the area that has changed since the last call, and its pixels as in
    /// [`pixels`](Canvas::pixels). Returns `None` if nothing was painted. The first call returns the whole
    /// picture.
    pub fn take_changed(&mut self) -> Option<(Area, Vec<u8>)> {
        let Area { x, y, width, height } = self.changed.take()?;
        let (across, down, pixels) = self.pixels();
        let area = Area { x, y, width: width.min(across - x), height: height.min(down - y) };
        let rows = pixels.chunks_exact(across as usize * 4).skip(y as usize).take(area.height as usize);
        let (begin, end) = (x as usize * 4, (x + area.width) as usize * 4);
        Some((area, rows.flat_map(|row| &row[begin..end]).copied().collect()))
    }

    /// Returns the picture as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let (width, height, pixels) = self.pixels();
        crate::frames::png(width, height, pixels)
    }

    /// Paints a frame with words, which are cut off at the edge of the frame.
    fn paint_note(&mut self, place: usize, words: &str, ground: [u8; 3], edge: [u8; 3]) {
        let Some(Placed::Image(area)) = self.layout.placed(place) else { return };
        let (area, scale) = (*area, self.layout.scale);
        grow(&mut self.changed, area);
        fill_area(&mut self.pixels, area, edge);
        let thickness = u32::from(area.width > 4 && area.height > 4);
        let inner = Area {
            x: area.x + thickness,
            y: area.y + thickness,
            width: area.width - 2 * thickness,
            height: area.height - 2 * thickness,
        };
        fill_area(&mut self.pixels, inner, ground);
        let width = area.width as f32 / scale - 2.0 * NOTE_MARGIN;
        if width < NOTE || words.is_empty() {
            return;
        }
        let setting = Setting {
            size: NOTE,
            width,
            bold: false,
            monospaced: false,
            right_to_left: false,
            ink: Ink::Note,
        };
        let lines = self.layout.fonts.set(words, setting, &[], &[]);
        let at = (area.x as f32 + NOTE_MARGIN * scale, area.y as f32 + NOTE_MARGIN * scale / 2.0);
        let clip = (inner.x, inner.y, inner.x + inner.width, inner.y + inner.height);
        self.glyphs.paint(&mut self.pixels, &lines, at, clip);
    }
}

/// Returns the bytes of each row of an area.
fn rows(pixels: &Pixmap, area: Area) -> impl Iterator<Item = Range<usize>> + use<> {
    let (width, bottom) = (pixels.width() as usize, pixels.height().min(area.y + area.height));
    let begin = move |row| (row as usize * width + area.x as usize) * 4;
    (area.y..bottom).map(move |row| begin(row)..begin(row) + area.width as usize * 4)
}

fn copied(pixels: &Pixmap, area: Area) -> Vec<u8> {
    rows(pixels, area).flat_map(|row| &pixels.data()[row]).copied().collect()
}

fn put_back(pixels: &mut Pixmap, area: Area, kept: &[u8]) {
    for (row, kept) in rows(pixels, area).zip(kept.chunks_exact(area.width as usize * 4)) {
        pixels.data_mut()[row].copy_from_slice(kept);
    }
}

fn grow(changed: &mut Option<Area>, by: Area) {
    *changed = Some(changed.map_or(by, |area| area.with(by)));
}

fn color([red, green, blue]: [u8; 3]) -> Color {
    Color::from_rgba8(red, green, blue, 255)
}

fn fill_area(pixels: &mut Pixmap, area: Area, ink: [u8; 3]) {
    fill(pixels, (area.x as f32, area.y as f32, area.width as f32, area.height as f32), ink);
}

/// Fills a rectangle, given by left, top, width and height.
fn fill(pixels: &mut Pixmap, (x, y, width, height): (f32, f32, f32, f32), ink: [u8; 3]) {
    let mut paint = Paint::default();
    paint.set_color(color(ink));
    paint.anti_alias = false;
    if let Some(rect) = Rect::from_xywh(x, y, width, height) {
        pixels.fill_rect(rect, &paint, Transform::identity(), None);
    }
}
