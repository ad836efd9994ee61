//! References to images: their addresses, and whether the program may fetch these addresses.

use super::candidates::File;
use super::parse::Attributes;
use super::{ImageRef, Source};
use crate::gap::Gap;
use crate::reach;
use url::Url;

/// The greatest width or height that a page may set for an image, in CSS pixels.
const LARGEST: u32 = 10_000;

/// The longest text that may replace an image, in bytes.
const LONGEST_ALT: usize = 500;

/// Makes an image from a tag, with the given file as the source of the image.
pub(super) fn image(
    attributes: &Attributes<'_>,
    file: Option<&File>,
    document: &Url,
    base: &Url,
) -> ImageRef {
    let alt = attributes.get("alt").unwrap_or_default();
    let alt = alt[..alt.floor_char_boundary(LONGEST_ALT)].split_whitespace().collect::<Vec<_>>().join(" ");
    let mut classes = attributes.get("class").unwrap_or_default().split_ascii_whitespace();
    let styled = |name: &str| attributes.get("style").and_then(|style| styled_length(style, name));
    ImageRef {
        place: 0, // set when the image's block is complete
        source: source(file.map(|file| &*file.address), document, base),
        density: file.map_or(1.0, |file| file.density),
        alt,
        width: styled("width").or_else(|| attributes.get("width").and_then(length)),
        height: styled("height").or_else(|| attributes.get("height").and_then(length)),
        own_size: None,
        is_advertisement: classes.any(|class| class == "advertisement" || class == "ad"),
    }
}

fn source(written: Option<&str>, document: &Url, base: &Url) -> Result<Source, Gap> {
    let unusable = |why: &str| Err(Gap::Unusable(why.to_owned()));
    let Some(written) = written else { return unusable("the page does not say where it is") };
    if written.starts_with('#') {
        return unusable("its address is the page's own");
    }
    if written.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        return data(written);
    }
    let Ok(url) = base.join(written) else { return unusable("its address makes no sense") };
    reach::check(document, &url).map(|()| Source::Url(url))
}

fn data(written: &str) -> Result<Source, Gap> {
    let decoded = data_url::DataUrl::process(written).ok().and_then(|url| url.decode_to_vec().ok());
    let wrong = || Gap::Unusable("its data: address makes no sense".to_owned());
    decoded.map(|(bytes, _)| Source::Data(bytes)).ok_or_else(wrong)
}

/// Returns the length in pixels that a style sets, if it sets one.
fn styled_length(style: &str, name: &str) -> Option<u32> {
    let mut values = style.split(';').filter_map(|declaration| declaration.split_once(':'));
    let (_, value) = values.rfind(|(declared, _)| declared.trim().eq_ignore_ascii_case(name))?;
    value.trim().strip_suffix("px").and_then(length)
}

/// Parses a length such as `120`, `120px` or ` 120.5`, in the same way as browsers. A percentage does not
/// count as a length.
fn length(written: &str) -> Option<u32> {
    let written = written.trim();
    let digits = written.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || written.ends_with('%') {
        return None;
    }
    Some(written[..digits].parse().unwrap_or(LARGEST).min(LARGEST))
}
