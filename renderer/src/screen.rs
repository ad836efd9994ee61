//! The screen that the reader sees: the picture that is being painted, and for each image a record of
//! its result.
//!
//! The thread of the page owns the screen, and only this thread paints. Tasks on other threads pass their
//! images to the thread of the page by value. So the screen needs no lock, and no task can change what has
//! been painted.
//!
//! Each image ends in exactly one state: painted, replaced, or a gap with a reason. [`Screen`]
//! guarantees this: if an image is still open when the page is finished, the image becomes a gap.

use crate::canvas::Canvas;
use crate::frames::Frames;
use crate::gap::Gap;
use crate::loader::{Loaded, label};
use crate::page::{Element, ImageRef, Page, Source};
use crate::picture::Picture;
use crate::progress::Progress;
use crate::repeats::Repeats;
use crate::report::{Missing, Report, Seen};
use crate::timeline::{Activity, Timeline};
use std::sync::Arc;

/// The picture that is being painted.
pub struct Screen {
    page: Arc<Page>,
    repeats: Repeats,
    canvas: Canvas,
    timeline: Timeline,
    frames: Option<Frames>,
    progress: Progress,
    report: Report,
    /// For each element, whether its final content has been painted.
    settled: Vec<bool>,
    /// How many blocks of text have not been painted yet.
    text_to_come: usize,
    observer: Box<dyn FnMut(Event) + Send>,
}

/// A finished page.
pub struct Drawn {
    /// The picture.
    pub canvas: Canvas,
    /// The result of drawing the page.
    pub report: Report,
    /// The error, if frames could not be written.
    pub failure: Option<anyhow::Error>,
}

/// An event on a screen. The events are reported in the order in which they happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The text is about to be painted.
    TextBegins,
    /// All text is painted now.
    Text,
    /// The image in this place is painted now.
    Image(usize),
    /// Something else is painted now in the place of this image.
    Replaced(usize),
    /// The program knows now that the image in this place will be missing.
    Gap(usize),
}

impl Event {
    fn name(self) -> &'static str {
        match self {
            Event::TextBegins => "text begins",
            Event::Text => "text",
            Event::Image(_) => "image",
            Event::Replaced(_) => "replaced",
            Event::Gap(_) => "gap",
        }
    }

    fn place(self) -> Option<usize> {
        match self {
            Event::TextBegins | Event::Text => None,
            Event::Image(place) | Event::Replaced(place) | Event::Gap(place) => Some(place),
        }
    }
}

impl Screen {
    pub(crate) fn new(
        page: Arc<Page>,
        repeats: Repeats,
        canvas: Canvas,
        timeline: Timeline,
        frames: Option<Frames>,
        report: Report,
    ) -> Screen {
        let texts = page.elements.iter().filter(|element| matches!(element, Element::Text(_))).count();
        let mut screen = Screen {
            settled: vec![false; page.elements.len()],
            text_to_come: texts,
            progress: Progress::new(report.images),
            observer: Box::new(|_| ()),
            page,
            repeats,
            canvas,
            timeline,
            frames,
            report,
        };
        screen.changed(None); // the reader sees an empty page first
        screen
    }

    /// From now on, calls `observer` for each event, on the thread that paints; the thread waits until the
    /// call returns.
    pub fn observe(&mut self, observer: impl FnMut(Event) + Send + 'static) {
        self.observer = Box::new(observer);
    }

    /// Paints all text, and place-holders for the images.
    pub fn show_text(&mut self) {
        (self.observer)(Event::TextBegins);
        {
            let _bar = self.timeline.bar(Activity::Painting, "text");
            let page = Arc::clone(&self.page);
            for place in 0..page.elements.len() {
                match &page.elements[place] {
                    Element::Text(_) => self.paint_text(place),
                    Element::Image(image) if !self.settled[place] => {
                        self.canvas.paint_placeholder(place, &image.alt);
                    }
                    Element::Image(_) => (),
                }
            }
        }
        self.text_is_there();
    }

    /// Paints one block of text, or the place-holder of an image.
    pub fn show_element(&mut self, place: usize) {
        let _bar = self.timeline.bar(Activity::Painting, "text");
        let page = Arc::clone(&self.page);
        match &page.elements[place] {
            Element::Image(image) if self.is_open(place) => {
                return self.canvas.paint_placeholder(place, &image.alt);
            }
            Element::Image(_) => return,
            Element::Text(_) => self.paint_text(place),
        }
        if self.text_to_come == 0 {
            self.text_is_there();
        } else {
            self.changed(None);
        }
    }

    /// Paints an image in all places where the page shows it; if the image is missing, paints the
    /// reason.
    pub fn show(&mut self, loaded: Loaded) {
        let Loaded { place, bytes, picture } = loaded;
        self.report.bytes += bytes;
        for place in &*self.repeats.of(place) {
            match &picture {
                Ok(picture) if self.canvas.layout().area(*place).is_some() => self.paint(*place, picture),
                Ok(_) => self.leave_out(*place, Gap::OutsideThePicture),
                Err(gap) => self.leave_out(*place, gap.clone()),
            }
        }
    }

    fn paint(&mut self, place: usize, picture: &Picture) {
        let Some(image) = self.open_image(place) else { return };
        {
            let _bar = self.timeline.bar(Activity::Painting, label(&image));
            self.canvas.paint_image(place, picture);
        }
        self.report.painted += 1;
        if self.report.first_image.is_none() {
            self.report.first_image = Some(self.timeline.now());
            self.timeline.mark("first image");
        }
        self.changed(Some(Event::Image(place)));
    }

    /// Paints the reason why an image is missing, in all places where the page shows it.
    pub fn show_gap(&mut self, place: usize, why: &Gap) {
        for place in &*self.repeats.of(place) {
            self.leave_out(*place, why.clone());
        }
    }

    /// Paints the reason why an image is missing, in this place only.
    pub(crate) fn leave_out(&mut self, place: usize, why: Gap) {
        let Some(image) = self.open_image(place) else { return };
        self.canvas.paint_gap(place, &image.alt, &why.to_string());
        self.report.failed.push(missing(&image, why, &self.timeline));
        self.changed(Some(Event::Gap(place)));
    }

    /// Paints other words in all places of an image that arrived too late. A replaced image does not
    /// count as a gap.
    pub fn show_replacement(&mut self, place: usize, words: &str, why: &Gap) {
        for place in self.repeats.of(place).iter().copied() {
            let Some(image) = self.open_image(place) else { continue };
            self.canvas.paint_placeholder(place, words);
            self.report.replaced.push(missing(&image, why.clone(), &self.timeline));
            self.changed(Some(Event::Replaced(place)));
        }
    }

    /// Runs `wait`; a bar in the timeline shows how long the wait takes.
    pub fn waiting<R>(&self, what: &str, wait: impl FnOnce() -> R) -> R {
        let _bar = self.timeline.bar(Activity::Waiting, what);
        wait()
    }

    /// Returns whether the element in this place is still open.
    pub fn is_open(&self, place: usize) -> bool {
        self.settled.get(place) == Some(&false)
    }

    /// Returns the images that are still open, in the order of the page. An image that the page shows
    /// several times is listed once.
    pub fn open_images(&self) -> Vec<Arc<ImageRef>> {
        let is_first = |image: &Arc<ImageRef>| {
            self.repeats.of(image.place).iter().find(|place| self.is_open(**place)) == Some(&image.place)
        };
        self.page.images().filter(|image| is_first(image)).cloned().collect()
    }

    /// Adds a value to the output of `--json`.
    pub fn add_to_report(&mut self, name: &'static str, value: serde_json::Value) {
        self.report.more.push((name, value));
    }

    /// Ends the page: each image that is still open becomes a gap with the given reason.
    pub(crate) fn finish(mut self, why: &Gap) -> Drawn {
        for image in self.open_images() {
            self.show_gap(image.place, why);
        }
        self.report.whole = self.timeline.now();
        self.timeline.mark("whole page");
        let failure = self.frames.take().and_then(|frames| {
            self.progress.writes_frames();
            frames.finish().err()
        });
        drop(self.progress);
        Drawn { canvas: self.canvas, report: self.report, failure }
    }

    fn paint_text(&mut self, place: usize) {
        if !self.settled[place] {
            self.settled[place] = true;
            self.text_to_come -= 1;
            self.canvas.paint_text(place);
        }
    }

    fn text_is_there(&mut self) {
        self.report.text = Some(self.timeline.now());
        self.timeline.mark("text");
        self.changed(Some(Event::Text));
    }

    /// Marks the image in this place as settled, and returns the image. Returns `None` if the image was
    /// already settled, or if there is no image in this place.
    fn open_image(&mut self, place: usize) -> Option<Arc<ImageRef>> {
        let Some(Element::Image(image)) = self.page.elements.get(place) else { return None };
        if std::mem::replace(&mut self.settled[place], true) { None } else { Some(Arc::clone(image)) }
    }

    fn changed(&mut self, event: Option<Event>) {
        self.progress.update(self.report.text.is_some(), self.report.painted, self.report.failed.len());
        if let Some(frames) = &self.frames
            && let Some((area, pixels)) = self.canvas.take_changed()
        {
            frames.add(self.timeline.now(), area, pixels);
        }
        if let Some(event) = event {
            self.report.seen.push(Seen {
                what: event.name(),
                area: event.place().and_then(|place| self.canvas.layout().area(place)),
                at: self.timeline.now(),
            });
            (self.observer)(event);
        }
    }
}

fn missing(image: &ImageRef, why: Gap, timeline: &Timeline) -> Missing {
    let address = match &image.source {
        Ok(Source::Url(url)) => url.to_string(),
        Ok(Source::Data(_)) => "data:".to_owned(),
        Err(_) => String::new(),
    };
    Missing { place: image.place, address, why, after: timeline.now() }
}
