//! A page as the renderer sees it: blocks of text and references to images, in the order of the document.
//!
//! Nothing is fetched here and nothing is drawn. Style sheets, tables and scripts are left out: a page is its
//! words and its images.

use crate::gap::Gap;
use crate::picture::size;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use url::Url;

mod blocks; // tags to blocks of text and images
mod candidates; // which file, of those that are offered
mod image; // references to images
mod lists; // numbers of items
mod open; // where elements end
mod parse; // bytes to a page
mod tags; // what the names of tags say
mod words; // the words of a block, and how they are set
pub use parse::{NoPage, PageLimits, Viewport};

/// The contents of a page, in the order of the document.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The text of its `<title>`.
    pub title: Option<String>,
    /// Text and images. The index of an element is its *place*, by which all other modules refer to it.
    pub elements: Vec<Element>,
    /// How many more elements the document has than the limits allow.
    pub left_out: usize,
}

/// A piece of a page.
#[derive(Debug, Clone)]
pub enum Element {
    /// Words.
    Text(TextBlock),
    /// An image, whose bytes are not part of the text.
    Image(Arc<ImageRef>),
}

/// Words that stand together: a heading, a paragraph, an item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextBlock {
    /// Its kind, which decides how it is set.
    pub kind: TextKind,
    /// The words, with exactly the white space that is shown: a line feed ends a line.
    pub text: String,
    /// Parts of `text`, as ranges of bytes, that are set in another way. They may overlap.
    pub spans: Vec<(Range<usize>, Style)>,
    /// Images in the text: the byte before which each stands, and its place. The places of these images come
    /// directly after the block's own place.
    pub images: Vec<(usize, usize)>,
    /// True if the page says that it reads from right to left (`dir="rtl"`). If the page does not say so, the
    /// words decide the direction.
    pub right_to_left: bool,
}

/// The kind of a block of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextKind {
    /// `<h1>` to `<h6>`.
    Heading(u8),
    /// Anything that is not another kind.
    Paragraph,
    /// An item of a list.
    Item {
        /// How many lists it is in, from 1.
        depth: u8,
        /// The marker before it: `•`, or `3.`
        marker: String,
    },
    /// `<pre>`: its line breaks and blanks count.
    Preformatted,
    /// `<blockquote>`.
    Quote,
    /// `<hr>`: a line across the page, without words.
    Rule,
}

/// How a part of a text is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `<strong>`, `<b>`, `<th>`.
    Strong,
    /// `<em>`, `<i>`, `<cite>`.
    Emphasis,
    /// `<code>`, `<kbd>`, `<samp>`.
    Code,
    /// `<a href>`.
    Link,
}

/// An image as the page refers to it.
#[derive(Debug)]
pub struct ImageRef {
    /// Its place on the page: the index among the [elements](Page::elements).
    pub place: usize,
    /// Where it is, or why the page gives no usable address.
    pub source: Result<Source, Gap>,
    /// The text that is shown in the image's stead: `alt`, or nothing.
    pub alt: String,
    /// Width and height in CSS pixels, as far as the page gives them.
    pub width: Option<u32>,
    /// See [`width`](ImageRef::width).
    pub height: Option<u32>,
    /// Pixels of the file for each CSS pixel, as the page says.
    pub density: f32,
    /// Width and height in CSS pixels that the file says it has, if that was known before the page was laid
    /// out.
    pub own_size: Option<(f32, f32)>,
    /// True if its `class` has the word `advertisement` or `ad`.
    pub is_advertisement: bool,
}

/// Where an image is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// The image is at an address: `http`, `https`, or `file` if the page is a file, too.
    Url(Url),
    /// The image is on the page itself: these are the bytes of a `data:` address.
    Data(Vec<u8>),
}

impl Page {
    /// Finds the sizes of images whose size the page does not give, in `data:` addresses and in files:
    /// `of_file` returns the beginning of a file. Only the first `most` images are measured. The images must
    /// not be shared yet.
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

    /// The images, in the order of the document.
    pub fn images(&self) -> impl Iterator<Item = &Arc<ImageRef>> {
        self.elements.iter().filter_map(|element| match element {
            Element::Image(image) => Some(image),
            Element::Text(_) => None,
        })
    }
}
