//! Paints lines of text: the `swash` crate makes images of glyphs, and this module blends them over the
//! picture.

use crate::layout::{Ink, Lines};
use parley::{GlyphRun, PositionedLayoutItem};
use std::collections::HashMap;
use swash::FontRef;
use swash::scale::image::Image;
use swash::scale::{Render, ScaleContext, Source};
use swash::zeno::{Format, Vector};
use tiny_skia::{Pixmap, PremultipliedColorU8};

/// How many glyph images are kept. If the next image would exceed this number, all kept images are dropped
/// first.
const MOST_GLYPHS: usize = 4096;

/// The part of the picture that may be painted: its left, top, right and bottom edges.
pub(super) type Clip = (u32, u32, u32, u32);

/// Paints glyphs, and keeps the image of each glyph, because most glyphs occur many times on a page.
pub(super) struct Glyphs {
    context: ScaleContext,
    images: HashMap<Key, Option<Image>>,
}

/// The key of a glyph's image: font, glyph, size, and the glyph's horizontal position within a pixel,
/// in quarters.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    font: (u64, u32),
    glyph: u32,
    size: u32,
    quarter: u8,
}

impl Glyphs {
    pub(super) fn new() -> Glyphs {
        Glyphs { context: ScaleContext::new(), images: HashMap::new() }
    }

    /// Paints lines so that their upper left corner is at a given point.
    pub(super) fn paint(&mut self, pixels: &mut Pixmap, lines: &Lines, at: (f32, f32), clip: Clip) {
        for line in lines.lines() {
            let metrics = line.metrics();
            if at.1 + metrics.block_min_coord > clip.3 as f32
                || at.1 + metrics.block_max_coord < clip.1 as f32
            {
                continue; // skips most lines of a block that is cut off
            }
            for item in line.items() {
                if let PositionedLayoutItem::GlyphRun(run) = item {
                    self.paint_run(pixels, &run, at, clip);
                }
            }
        }
    }

    fn paint_run(&mut self, pixels: &mut Pixmap, run: &GlyphRun<'_, Ink>, (x, y): (f32, f32), clip: Clip) {
        let ink = rgb(run.style().brush);
        let (font, size) = (run.run().font(), run.run().font_size());
        for glyph in run.positioned_glyphs() {
            let (left, baseline) = (x + glyph.x, to_pixel(y + glyph.y));
            let column = to_pixel(left.floor());
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 3
            let quarter = ((left - left.floor()) * 4.0) as u8;
            let key =
                Key { font: (font.data.id(), font.index), glyph: glyph.id, size: size.to_bits(), quarter };
            if self.images.len() >= MOST_GLYPHS {
                self.images.clear();
            }
            let context = &mut self.context;
            let image = self.images.entry(key).or_insert_with(|| {
                let font = FontRef::from_index(font.data.as_ref(), font.index as usize)?;
                let mut scaler = context.builder(font).size(size).hint(false).build();
                let glyph = u16::try_from(glyph.id).ok()?;
                Render::new(&[Source::Outline])
                    .format(Format::Alpha)
                    .offset(Vector::new(f32::from(quarter) / 4.0, 0.0))
                    .render(&mut scaler, glyph)
            });
            if let Some(image) = image {
                let at =
                    (column + i64::from(image.placement.left), baseline - i64::from(image.placement.top));
                blend(pixels, image, at, ink, clip);
            }
        }
        if run.style().underline.is_some() {
            let metrics = run.run().font_metrics();
            let top = to_pixel(y + run.baseline() - metrics.underline_offset);
            let (left, right) = (to_pixel(x + run.offset()), to_pixel(x + run.offset() + run.advance()));
            for row in top..top + to_pixel(metrics.underline_size).max(1) {
                for column in left..right {
                    cover(pixels, (column, row), 255, ink, clip);
                }
            }
        }
    }
}

#[allow(clippy::cast_possible_truncation)] // saturates, far outside the picture
fn to_pixel(length: f32) -> i64 {
    length.round() as i64
}

/// Paints the image of a glyph; each byte says how much of a pixel is covered.
fn blend(pixels: &mut Pixmap, image: &Image, at: (i64, i64), ink: [u8; 3], clip: Clip) {
    let width = image.placement.width.max(1) as usize;
    for (row, covers) in (at.1..).zip(image.data.chunks(width)) {
        for (column, covered) in (at.0..).zip(covers) {
            if *covered > 0 {
                cover(pixels, (column, row), *covered, ink, clip);
            }
        }
    }
}

/// Blends a colour over a pixel; `covered` says how much of the pixel the colour covers, in 255ths. The
/// picture is opaque before and after the blending.
fn cover(
    pixels: &mut Pixmap,
    (x, y): (i64, i64),
    covered: u8,
    ink: [u8; 3],
    (left, top, right, bottom): Clip,
) {
    if x < i64::from(left) || y < i64::from(top) || x >= i64::from(right) || y >= i64::from(bottom) {
        return;
    }
    let width = i64::from(pixels.width());
    let Some(pixel) =
        usize::try_from(y * width + x).ok().and_then(|index| pixels.pixels_mut().get_mut(index))
    else {
        return;
    };
    let mix = |under: u8, over: u8| {
        let (under, over, covered) = (u32::from(under), u32::from(over), u32::from(covered));
        u8::try_from((under * (255 - covered) + over * covered + 127) / 255).unwrap_or(255)
    };
    let [red, green, blue] = ink;
    let mixed = [mix(pixel.red(), red), mix(pixel.green(), green), mix(pixel.blue(), blue)];
    if let Some(mixed) = PremultipliedColorU8::from_rgba(mixed[0], mixed[1], mixed[2], 255) {
        *pixel = mixed;
    }
}

fn rgb(ink: Ink) -> [u8; 3] {
    match ink {
        Ink::Text => [28, 30, 33],
        Ink::Link => [11, 87, 164],
        Ink::Note => [92, 98, 108],
    }
}
