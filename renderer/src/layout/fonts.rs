//! Turns words into lines of glyphs.
//!
//! The `parley` crate shapes the text, orders right-to-left text, and breaks lines. The `DejaVu` fonts are
//! part of the program. The fonts of the system are not used, so the same page gives the same picture on
//! every machine.

use anyhow::{Context, ensure};
use parley::fontique::{Blob, Collection, CollectionOptions, SourceCache};
use parley::{
    Alignment, AlignmentOptions, BaseDirection, FontContext, FontFamily, FontFamilyName, FontStyle,
    FontWeight, InlineBox, InlineBoxKind, LayoutContext, LineHeight, OverflowWrap, StyleProperty,
    VerticalAlign,
};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The distance from one line to the next, as a multiple of the font size.
const LEADING: f32 = 1.45;

/// How many different characters without a glyph the report names.
const EXAMPLES: usize = 5;

/// The kind of a text, which decides the colour of its glyphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ink {
    /// Text.
    #[default]
    Text,
    /// The text belongs to a link.
    Link,
    /// The text is a note that the renderer adds to the page.
    Note,
}

/// A text that was turned into lines of glyphs.
pub(crate) type Lines = parley::Layout<Ink>;

/// The style in which words are drawn. All lengths are in CSS pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) size: f32,
    pub(crate) width: f32,
    pub(crate) bold: bool,
    pub(crate) monospaced: bool,
    pub(crate) right_to_left: bool,
    pub(crate) ink: Ink,
}

/// A part of a text that has a different style.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Variation {
    Bold,
    Italic,
    Monospaced,
    Link,
}

/// The characters for which no font has a glyph; each one becomes a box in the picture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoGlyph {
    /// The number of characters without a glyph.
    pub count: usize,
    /// The first few of these characters, each listed once.
    pub examples: String,
}

impl NoGlyph {
    /// Counts the characters without a glyph in the lines that were made from `text`.
    pub(super) fn count_in(&mut self, lines: &Lines, text: &str) {
        let all = lines.lines().flat_map(|line| line.runs().collect::<Vec<_>>());
        for run in all {
            for cluster in run.clusters().filter(|cluster| cluster.glyphs().any(|glyph| glyph.id == 0)) {
                self.note(&text[cluster.text_range()]);
            }
        }
    }

    /// Counts one grapheme cluster, which a reader sees as one character. A line feed needs no glyph.
    fn note(&mut self, character: &str) {
        let Some(first) = character.chars().find(|c| !c.is_control() && !c.is_whitespace()) else { return };
        self.count += 1;
        if self.examples.chars().count() < EXAMPLES && !self.examples.contains(first) {
            self.examples.push(first);
        }
    }
}

/// The fonts, and everything else that is needed to turn words into glyphs.
pub(crate) struct Fonts {
    context: FontContext,
    layouts: LayoutContext<Ink>,
    scale: f32,
    /// The font families of `--font`, which are tried first.
    preferred: Vec<String>,
}

impl Fonts {
    /// Loads the fonts of the program, and the fonts of a file.
    pub(crate) fn new(scale: f32, file: Option<&Path>) -> anyhow::Result<Fonts> {
        let mut collection = Collection::new(CollectionOptions { shared: false, system_fonts: false });
        for font in [
            dejavu::sans::regular(),
            dejavu::sans::bold(),
            dejavu::sans::oblique(),
            dejavu::sans::bold_oblique(),
            dejavu::sans_mono::regular(),
            dejavu::sans_mono::bold(),
        ] {
            collection.register_fonts(Blob::new(Arc::new(font)), None);
        }
        let mut preferred = Vec::new();
        if let Some(path) = file {
            let font =
                fs::read(path).with_context(|| format!("the font {} cannot be read", path.display()))?;
            let families = collection.register_fonts(Blob::new(Arc::new(font)), None);
            ensure!(!families.is_empty(), "{} is no font that can be used", path.display());
            preferred
                .extend(families.iter().filter_map(|(id, _)| collection.family_name(*id).map(str::to_owned)));
        }
        let context = FontContext { collection, source_cache: SourceCache::default() };
        Ok(Fonts { context, layouts: LayoutContext::new(), scale, preferred })
    }

    /// Turns words into lines. Each of the `variations` applies to a range of bytes; each of the `boxes` has
    /// a width and a height in pixels, and is placed before a given byte.
    pub(crate) fn set(
        &mut self,
        text: &str,
        setting: Setting,
        variations: &[(Range<usize>, Variation)],
        boxes: &[(usize, f32, f32)],
    ) -> Lines {
        let families = |last: &'static str| -> Vec<FontFamilyName<'_>> {
            let preferred = self.preferred.iter().map(|name| FontFamilyName::named(name));
            preferred.chain([FontFamilyName::named(last), FontFamilyName::named("DejaVu Sans")]).collect()
        };
        let (proportional, monospaced) = (families("DejaVu Sans"), families("DejaVu Sans Mono"));
        let mut builder = self.layouts.ranged_builder(&mut self.context, text, self.scale, true);
        if setting.right_to_left {
            builder.set_base_direction(BaseDirection::Rtl);
        }
        let family = if setting.monospaced { &monospaced } else { &proportional };
        builder.push_default(FontFamily::List(family.into()));
        builder.push_default(StyleProperty::FontSize(setting.size));
        builder.push_default(LineHeight::FontSizeRelative(LEADING));
        builder.push_default(StyleProperty::Brush(setting.ink));
        builder.push_default(OverflowWrap::Anywhere);
        if setting.bold {
            builder.push_default(FontWeight::BOLD);
        }
        for (range, variation) in variations {
            let range = range.clone();
            match variation {
                Variation::Bold => builder.push(FontWeight::BOLD, range),
                Variation::Italic => builder.push(FontStyle::Italic, range),
                Variation::Monospaced => builder.push(FontFamily::List((&monospaced).into()), range),
                Variation::Link => {
                    builder.push(StyleProperty::Brush(Ink::Link), range.clone());
                    builder.push(StyleProperty::Underline(true), range);
                }
            }
        }
        for (id, (index, width, height)) in (0..).zip(boxes) {
            let (index, width, height) = (*index, *width, *height);
            let (kind, vertical_align) = (InlineBoxKind::InFlow, VerticalAlign::BASELINE);
            builder.push_inline_box(InlineBox {
                id,
                kind,
                index,
                width,
                height,
                baseline: None,
                vertical_align,
            });
        }
        let mut lines = builder.build(text);
        lines.break_all_lines(Some(setting.width.max(1.0) * self.scale));
        lines.align(Alignment::Start, AlignmentOptions::default());
        lines
    }
}
