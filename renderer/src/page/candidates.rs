//! Chooses among the files that a page offers for one image, in `srcset`, `sizes` and `<source>`.

use super::Viewport;
use super::parse::Attributes;
use std::path::Path;

/// The largest number of candidates that are considered for one image.
const MOST: usize = 50;

/// The size of an `em` in pixels, outside of any text.
const EM: f32 = 16.0;

/// The files that a `<picture>` element offers.
#[derive(Default)]
pub(super) struct Offer {
    /// The file of the first usable `<source>`.
    pub(super) file: Option<File>,
}

/// A file that a page offers for an image.
pub(super) struct File {
    pub(super) address: String,
    /// How many pixels of the file belong to one CSS pixel.
    pub(super) density: f32,
}

impl Offer {
    pub(super) fn add(&mut self, source: &Attributes<'_>, viewport: Viewport) {
        self.file = self.file.take().or_else(|| of_source(source, viewport));
    }
}

/// Returns the file that a `<source>` offers in a `<picture>` element. Returns `None` if the program
/// cannot decode the file's type, or if the file is for another screen.
fn of_source(attributes: &Attributes<'_>, viewport: Viewport) -> Option<File> {
    let media = attributes.get("media").is_none_or(|media| is_for(media, viewport));
    let kind = attributes.get("type").is_none_or(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        matches!(&*kind, "" | "image/png" | "image/jpeg" | "image/jpg" | "image/gif" | "image/webp")
    });
    let chosen = choose(attributes, None, viewport).filter(|_| media && kind)?;
    let path = chosen.address.split(['?', '#']).next().map(Path::new).and_then(Path::extension);
    let is_known_not_to_be_decoded = path.is_some_and(|extension| {
        ["avif", "svg", "jxl", "heic", "heif"].iter().any(|other| extension.eq_ignore_ascii_case(other))
    });
    (attributes.get("type").is_some() || !is_known_not_to_be_decoded).then_some(chosen)
}

/// Returns the best file: the smallest one that has enough pixels for the image's width on the page, or
/// else the largest one.
pub(super) fn choose(attributes: &Attributes<'_>, src: Option<&str>, viewport: Viewport) -> Option<File> {
    let set = attributes.get("srcset").unwrap_or_default();
    let width = attributes.get("sizes").map_or(viewport.width as f32, |sizes| size(sizes, viewport));
    let mut candidates: Vec<_> = candidates(set).take(MOST).collect();
    if candidates.iter().all(|candidate| !matches!(candidate.1, Descriptor::Width(_))) {
        candidates.extend(src.map(|src| (src, Descriptor::Density(1.0))));
    }
    let density = |descriptor: &Descriptor| match descriptor {
        Descriptor::Density(density) => *density,
        Descriptor::Width(pixels) => pixels / width.max(1.0),
    };
    let is_enough = |descriptor: &Descriptor| density(descriptor) >= viewport.scale;
    let enough = candidates.iter().filter(|(_, descriptor)| is_enough(descriptor));
    let by_density = |one: &&(&str, Descriptor), other: &&(&str, Descriptor)| {
        density(&one.1).total_cmp(&density(&other.1))
    };
    let chosen = enough.min_by(by_density).or_else(|| candidates.iter().max_by(by_density));
    let plain = src.map(|src| (src, 1.0)); // used if no candidate is usable
    let chosen = chosen.map(|(address, descriptor)| (*address, density(descriptor))).or(plain);
    chosen.map(|(address, density)| File { address: address.to_owned(), density })
}

/// The descriptor of a candidate, which says how many pixels the file has.
enum Descriptor {
    /// How many pixels the file has for each CSS pixel (`2x`).
    Density(f32),
    /// How many pixels a row of the file has (`800w`).
    Width(f32),
}

/// Returns the candidates of a `srcset`, which are separated by commas; each candidate is an address with a
/// descriptor. An address may itself contain commas.
fn candidates(mut rest: &str) -> impl Iterator<Item = (&str, Descriptor)> {
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
            let (word, behind) =
                rest.split_at(rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len()));
            let address = word.trim_end_matches(',');
            if address.is_empty() {
                return None;
            }
            let (descriptor, behind) = if address.len() < word.len() {
                ("", behind)
            } else {
                behind.split_once(',').unwrap_or((behind, ""))
            };
            rest = behind;
            if let Some(descriptor) = describe(descriptor) {
                return Some((address, descriptor));
            }
        }
    })
}

fn describe(written: &str) -> Option<Descriptor> {
    let Some(word) = written.split_ascii_whitespace().find(|word| !word.ends_with('h')) else {
        return Some(Descriptor::Density(1.0));
    };
    let positive =
        |number: &str| number.parse().ok().filter(|number: &f32| number.is_finite() && *number > 0.0);
    if let Some(number) = word.strip_suffix('w') {
        positive(number).map(Descriptor::Width)
    } else {
        word.strip_suffix('x').and_then(positive).map(Descriptor::Density)
    }
}

/// Returns the width that `sizes` gives to the image, in CSS pixels: the width of the first entry for this
/// screen, or else the width of the screen.
fn size(sizes: &str, viewport: Viewport) -> f32 {
    let fitting = |entry: &str| {
        let entry = entry.trim();
        let (media, length) = entry.rsplit_once(|c: char| c.is_ascii_whitespace()).unwrap_or(("", entry));
        if media.trim().is_empty() || is_for(media, viewport) { length_of(length, viewport) } else { None }
    };
    sizes.split(',').find_map(fitting).unwrap_or(viewport.width as f32)
}

/// Returns whether a media query is true on this screen. An unknown condition counts as false on this
/// screen.
fn is_for(media: &str, viewport: Viewport) -> bool {
    let holds = |condition: &str| {
        let condition = condition.trim().trim_start_matches('(').trim_end_matches(')').to_ascii_lowercase();
        let (name, value) = condition.split_once(':').unwrap_or((&condition, ""));
        let width = viewport.width as f32;
        match name.trim() {
            "" | "all" | "screen" | "only screen" => true,
            "min-width" => length_of(value, viewport).is_some_and(|least| width >= least),
            "max-width" => length_of(value, viewport).is_some_and(|most| width <= most),
            "prefers-color-scheme" => value.trim() == "light",
            _ => false,
        }
    };
    media.split(',').any(|query| query.split(" and ").all(holds))
}

/// Parses a length in CSS pixels.
fn length_of(written: &str, viewport: Viewport) -> Option<f32> {
    let written = written.trim();
    let end = written.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(written.len());
    let (number, unit) = written.split_at(end);
    let number: f32 = number.parse().ok()?;
    match unit {
        "px" => Some(number),
        "em" | "rem" => Some(number * EM),
        "vw" => Some(number / 100.0 * viewport.width as f32),
        "" if number == 0.0 => Some(0.0),
        _ => None,
    }
}
