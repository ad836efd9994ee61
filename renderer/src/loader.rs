//! Loads one image, from its reference on the page to its pixels. In every strategy, loading an
//! image is the work of a task.

use crate::fetch::fetch;
use crate::gap::Gap;
use crate::layout::Layout;
use crate::page::{ImageRef, Page, Source};
use crate::picture::{ImageLimits, Picture, decode};
use crate::repeats::Repeats;
use crate::timeline::{Activity, Timeline};
use executor::{CancelKind, CancelToken, Cancelled, JoinError};
use std::collections::HashMap;
use std::time::Duration;

/// Loads images: fetches and decodes them, on the calling thread.
///
/// The loader has no threads of its own, and does not decide in which order images are loaded. A strategy
/// decides which threads call [`load`](Loader::load), and which threads wait for the result.
pub struct Loader {
    /// For each image in the picture, the width and height of the largest place where it is shown.
    rooms: HashMap<usize, (u32, u32)>,
    limits: ImageLimits,
    timeout: Duration,
    timeline: Timeline,
    observer: Box<dyn Fn(&ImageRef) + Send + Sync>,
}

/// The result of loading an image.
#[derive(Debug)]
pub struct Loaded {
    /// The place of the image on the page.
    pub place: usize,
    /// The number of bytes that were fetched for the image.
    pub bytes: u64,
    /// The image's pixels, or the reason why there are none.
    pub picture: Result<Picture, Gap>,
}

impl Loaded {
    /// Makes the result for an image from the way in which its task has ended. If the task has panicked, the
    /// result is a gap.
    ///
    /// # Errors
    /// Returns an error if the wait has failed, or if the task was cancelled.
    pub fn by_task(place: usize, ended: Result<Loaded, JoinError<Loaded>>) -> anyhow::Result<Loaded> {
        match ended {
            Ok(loaded) => Ok(loaded),
            Err(JoinError::Panicked(panic)) => {
                Ok(Loaded { place, bytes: 0, picture: Err(Gap::Panicked(panic.to_string())) })
            }
            Err(other) => Err(other.into()),
        }
    }
}

impl Loader {
    pub(crate) fn new(
        page: &Page,
        layout: &Layout,
        repeats: &Repeats,
        limits: ImageLimits,
        timeout: Duration,
        timeline: Timeline,
    ) -> Loader {
        let room = |place| {
            let areas = repeats.of(place).iter().filter_map(|place| layout.area(*place)).collect::<Vec<_>>();
            Some((areas.iter().map(|area| area.width).max()?, areas.iter().map(|area| area.height).max()?))
        };
        let rooms = page.images().filter_map(|image| Some((image.place, room(image.place)?))).collect();
        Loader { rooms, limits, timeout, timeline, observer: Box::new(|_| ()) }
    }

    /// From now on, calls `observer` at the start of each [`load`](Loader::load), on the thread that loads
    /// the image.
    pub fn observe(&mut self, observer: impl Fn(&ImageRef) + Send + Sync + 'static) {
        self.observer = Box::new(observer);
    }

    /// Fetches an image and decodes it to the size of the largest place where the page shows this image.
    ///
    /// Blocks for at most the time limit of `--timeout`. A failure becomes a [`Gap`] in the result, not an
    /// error, so a caller that waits for many images learns of each failure.
    ///
    /// # Errors
    /// Returns an error if the token was cancelled: the page no longer needs the image.
    pub fn load(&self, image: &ImageRef, token: &CancelToken) -> Result<Loaded, Cancelled> {
        (self.observer)(image);
        let limited = token.with_timeout(self.timeout);
        let mut bytes = 0;
        let picture = match self.pixels(image, &limited, &mut bytes) {
            // If the time limit of this image has passed, the result is a gap. If the token was cancelled for
            // another reason, the whole task is cancelled.
            Err(cancelled) if !token.is_cancelled() && is_deadline(&cancelled) => {
                Err(Gap::TimedOut { after: self.timeout })
            }
            Err(cancelled) => return Err(cancelled),
            Ok(picture) => picture,
        };
        Ok(Loaded { place: image.place, bytes, picture })
    }

    fn pixels(
        &self,
        image: &ImageRef,
        token: &CancelToken,
        count: &mut u64,
    ) -> Result<Result<Picture, Gap>, Cancelled> {
        let Some(room) = self.rooms.get(&image.place) else { return Ok(Err(Gap::OutsideThePicture)) };
        let fetched;
        let bytes = match &image.source {
            Err(gap) => return Ok(Err(gap.clone())),
            Ok(Source::Data(bytes)) => bytes,
            Ok(Source::Url(url)) => {
                let _bar = self.timeline.bar(Activity::Fetching, label(image));
                match fetch(url, self.limits.bytes, token)? {
                    Err(gap) => return Ok(Err(gap)),
                    Ok(it) => fetched = it.bytes,
                }
                *count = fetched.len() as u64;
                &fetched
            }
        };
        let _bar = self.timeline.bar(Activity::Decoding, label(image));
        decode(bytes, &self.limits, *room, token)
    }
}

fn is_deadline(cancelled: &Cancelled) -> bool {
    cancelled.reason().is_some_and(|reason| reason.kind() == CancelKind::Deadline)
}

/// Returns the name of an image in a timeline: the last part of its address.
pub(crate) fn label(image: &ImageRef) -> String {
    match &image.source {
        Ok(Source::Url(url)) => {
            url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or("").to_owned()
        }
        _ => format!("image {}", image.place),
    }
}
