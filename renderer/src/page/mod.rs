//! A page as the renderer needs it: blocks of text and references to images, in the order of the document.
//!
//! This module fetches nothing and draws nothing. Style sheets, scripts and the shapes of tables are ignored:
//! a page consists of its words and its images.

use crate::gap::Gap;
use crate::picture::size;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use url::Url;

mod blocks; // tags to blocks of text and images
mod candidates; // chooses among the files that are offered
mod image; // references to images
mod lists; // numbers of items
mod open; // where elements end
mod parse; // bytes to a page
mod tags; // what the names of tags mean
mod words; // the words of a block, and how they are set
pub use parse::{NoPage, PageLimits, Viewport};

/// The contents of a page, in the order of the document.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The text of the page's `<title>` element.
    pub title: Option<String>,
    /// The elements of the page: text and images. An element's index is its *place*, by which all other
    /// modules identify it.
    pub elements: Vec<Element>,
    /// How many elements the document has beyond the limits.
    pub left_out: usize,
}

/// An element of a page.
#[derive(Debug, Clone)]
pub enum Element {
    /// A block of words.
    Text(TextBlock),
    /// An image; its bytes are not part of the text.
    Image(Arc<ImageRef>),
}

/// A block of words that belong together: a heading, a paragraph or a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextBlock {
    /// The kind of the block, which decides how its words are drawn.
    pub kind: TextKind,
    /// The words of the block, with exactly the white space to show: a line feed ends a line.
    pub text: String,
    /// The parts of `text` that have a different style, as ranges of bytes. The parts may overlap.
    pub spans: Vec<(Range<usize>, Style)>,
    /// The images within the text: for each image, its place, and the index of the byte of the text before
    /// which the image is shown. The places of these images follow directly after the place of the block.
    pub images: Vec<(usize, usize)>,
    /// True if the page declares that the text reads from right to left (`dir="rtl"`). Without this
    /// declaration, the words decide the direction.
    pub right_to_left: bool,
}

/// The kind of a block of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextKind {
    /// A heading, `<h1>` to `<h6>`.
    Heading(u8),
    /// A paragraph, or any other block that has no special kind.
    Paragraph,
    /// An item of a list.
    Item {
        /// How many lists contain the item, from 1.
        depth: u8,
        /// The marker before the item, such as `•` or `3.`.
        marker: String,
    },
    /// Preformatted text, `<pre>`: its line breaks and blanks are kept.
    Preformatted,
    /// `<blockquote>`.
    Quote,
    /// A horizontal rule, `<hr>`: a line across the page, without words.
    Rule,
}

/// The style of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Bold text, from `<strong>`, `<b>`, `<th>`.
    Strong,
    /// Italic text, from `<em>`, `<i>`, `<cite>`.
    Emphasis,
    /// Code, from `<code>`, `<kbd>`, `<samp>`.
    Code,
    /// `<a href>`.
    Link,
}

/// A page's reference to an image.
#[derive(Debug)]
pub struct ImageRef {
    /// The image's place on the page: its index among the [elements](Page::elements).
    pub place: usize,
    /// The address of the image, or the reason why the page gives no usable address.
    pub source: Result<Source, Gap>,
    /// The text that is shown instead of the image: the value of `alt`, or an empty text.
    pub alt: String,
    /// The width and height in CSS pixels, if the page gives them.
    pub width: Option<u32>,
    /// The height in CSS pixels: see [`width`](ImageRef::width).
    pub height: Option<u32>,
    /// How many pixels of the file belong to one CSS pixel, according to the page.
    pub density: f32,
    /// The width and height in CSS pixels according to the file, if they were known before the page was laid
    /// out.
    pub own_size: Option<(f32, f32)>,
    /// True if the image's `class` attribute contains the word `advertisement` or `ad`.
    pub is_advertisement: bool,
}

/// Where an image comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// The image is at an address with the scheme `http` or `https`, or `file` if the page itself is a file.
    Url(Url),
    /// The image is part of the page: these are the bytes of a `data:` address.
    Data(Vec<u8>),
}

impl Page {
    /// Finds the sizes of images for which the page gives no size: it searches `data:` addresses and files;
    /// the closure `of_file` returns the beginning of a file. Only the first `most` images are measured.
    /// During this call, no other thread may share the images.
    pub(crate) fn measure(&mut self, most: usize, of_file: impl Fn(&Url) -> Option<Vec<u8>>) {
        let mut known = HashMap::new();
        let images = self.elements.iter_mut().filter_map(|element| match element {
            Element::Image(image) => Arc::get_mut(image),
            Element::Text(_) => None,
        });
        for image in images.take(most).filter(|image| image.width.is_none() || image.height.is_none()) {
            let pixels = match &image.source {
                Ok(Source::Data(bytes)) => size(bytes),
                Ok(Source::Url(url)) if url.scheme() == "file" => {
                    *known.entry(url.clone()).or_insert_with(|| of_file(url).and_then(|begin| size(&begin)))
                }
                _ => None,
            };
            let density = image.density;
            image.own_size = pixels.map(|(width, height)| (width as f32 / density, height as f32 / density));
        }
    }

    /// Returns the images, in the order of the document.
    pub fn images(&self) -> impl Iterator<Item = &Arc<ImageRef>> {
        self.elements.iter().filter_map(|element| match element {
            Element::Image(image) => Some(image),
            Element::Text(_) => None,
        })
    }
}
