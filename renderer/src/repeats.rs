//! Finds images that a page shows several times, so that each image is loaded only once.

use crate::page::{ImageRef, Page, Source};
use std::collections::HashMap;
use std::sync::Arc;

/// For each image, all places where the page shows it.
pub(crate) struct Repeats {
    of: HashMap<usize, Arc<[usize]>>,
}

impl Repeats {
    pub(crate) fn on(page: &Page) -> Repeats {
        let mut same: HashMap<(&Source, bool), Vec<usize>> = HashMap::new();
        let mut of = HashMap::new();
        for image in page.images() {
            let ImageRef { place, source, is_advertisement, .. } = &**image;
            match source {
                // An advertisement can be cancelled, but the same image elsewhere on the page must not
                // be cancelled with it.
                Ok(source) => same.entry((source, *is_advertisement)).or_default().push(*place),
                Err(_) => _ = of.insert(*place, Arc::from([*place])),
            }
        }
        for places in same.into_values() {
            let shared: Arc<[usize]> = Arc::from(&*places);
            of.extend(places.into_iter().map(|place| (place, Arc::clone(&shared))));
        }
        Repeats { of }
    }

    /// Returns all places that show the same image as this place, including this place, in the order of
    /// the page.
    pub(crate) fn of(&self, place: usize) -> Arc<[usize]> {
        self.of.get(&place).map_or_else(|| Arc::from([]), Arc::clone)
    }
}
