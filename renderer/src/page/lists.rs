//! The lists that are open, and the numbers of their items.
//!
//! A list that counts down to 1 begins with the number of its items, but this number is known only at the end
//! of the list. So at first its items are numbered from 1 downwards. At the end of the list, the same number
//! is added to the numbers of all items before the first item that has a `value`.

use super::parse::Attributes;
use super::{Element, TextKind};

/// A list whose end tag has not been read yet.
pub(super) struct List {
    /// The number of the next item, and the step from this number to the number after it. `None` if the items
    /// have no numbers.
    numbers: Option<(i64, i64)>,
    countdown: Option<Countdown>,
}

/// The item numbers that must be increased at the end of a list.
#[derive(Default)]
struct Countdown {
    items: i64,
    /// The places of these items.
    places: Vec<usize>,
    /// True if an item has set its own number; the following items are numbered from that number on.
    is_settled: bool,
}

impl List {
    pub(super) fn open(name: &str, attributes: &Attributes<'_>) -> List {
        if name != "ol" {
            return List { numbers: None, countdown: None };
        }
        let start = number(attributes, "start");
        let is_reversed = attributes.get("reversed").is_some();
        let step = if is_reversed { -1 } else { 1 };
        let countdown = (is_reversed && start.is_none()).then(Countdown::default);
        List { numbers: Some((start.unwrap_or(1), step)), countdown }
    }

    /// Returns the marker of the next item, if the items have numbers.
    pub(super) fn next_marker(&mut self, attributes: &Attributes<'_>) -> Option<String> {
        let (next, step) = self.numbers.as_mut()?;
        let value = number(attributes, "value");
        *next = value.unwrap_or(*next);
        let marker = format!("{next}.");
        *next = next.saturating_add(*step);
        if let Some(countdown) = &mut self.countdown {
            countdown.items += 1;
            countdown.is_settled |= value.is_some();
        }
        Some(marker)
    }

    /// Records that the block with the marker is the element at this place.
    pub(super) fn note_place(&mut self, place: usize) {
        if let Some(countdown) = self.countdown.as_mut().filter(|countdown| !countdown.is_settled) {
            countdown.places.push(place);
        }
    }

    pub(super) fn close(self, elements: &mut [Element]) {
        let Some(countdown) = self.countdown else { return };
        for place in countdown.places {
            let Some(Element::Text(block)) = elements.get_mut(place) else { continue };
            let TextKind::Item { marker, .. } = &mut block.kind else { continue };
            if let Ok(number) = marker.trim_end_matches('.').parse::<i64>() {
                *marker = format!("{}.", number.saturating_add(countdown.items - 1));
            }
        }
    }
}

fn number(attributes: &Attributes<'_>, name: &str) -> Option<i64> {
    attributes.get(name).and_then(|number| number.trim().parse().ok())
}
