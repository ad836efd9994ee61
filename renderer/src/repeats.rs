//! Images that a page shows several times: they are loaded once.

use crate::page::{ImageRef, Page, Source};
use std::collections::HashMap;
use std::sync::Arc;

/// For each image on a page, all places where the same image is shown.
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
                // An advertisement can be cancelled, but the same image elsewhere on the page must not be
                // cancelled.
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

    /// All places where the image in this place is shown, in the order of the page; this place is one of
    /// them.
    pub(crate) fn of(&self, place: usize) -> Arc<[usize]> {
        self.of.get(&place).map_or_else(|| Arc::from([]), Arc::clone)
    }
}
