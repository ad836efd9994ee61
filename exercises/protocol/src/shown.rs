//! Decides which failure a learner sees first.
//!
//! One mistake often breaks several properties, and some of their messages mislead: for example, an answer
//! with a thread for each job also breaks the order of jobs. So the failures are shown in an order that
//! begins with the one that says most about the mistake:
//!
//! 1. A failure in a tested step of the property comes before a failure in an `aside`, such as a pool that
//!    never ends.
//! 2. A failure within the first [`SOON`] schedules comes before a rare failure, which may have another
//!    cause. A failure on one of the first schedules also comes before a failure that occurs only if a wait
//!    ends without a notification.
//! 3. A property of the first stage comes before a property of the second stage, which the learner may not
//!    have begun.
//! 4. A property with a lower rank in `exercise.toml` comes first. A property that many mistakes break has a
//!    rank above 0.
//! 5. If no other rule decides, the order of `exercise.toml` decides, which is from simple to hard.
//!
//! For each wrong answer, the proof checks that the failure that is shown first has the expected message. The
//! second rule makes this check possible: usually the proof needs to try only the first schedules of the
//! other properties.

use crate::{Exercise, Failure, Property};

/// A failure on one of this many first schedules does not count as rare. On these schedules, the model ends
/// no wait without a notification. So if an answer also fails because another thread is faster, the learner
/// sees that failure, with the faster thread.
pub const SOON: usize = 200;

/// The place of a failure among the failures of an answer. The failure with the smallest `Place` is shown
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    aside: bool,
    rare: bool,
    stage: u8,
    rank: u8,
    listed: usize,
}

impl Exercise {
    /// Returns the place of a failure; `property` is the name of the property that failed.
    pub fn place(&self, property: &str, failure: &Failure) -> Place {
        let listed = self.properties.iter().position(|listed| listed.name == property);
        let (stage, rank) = listed.map_or((0, 0), |n| (self.properties[n].stage, self.properties[n].rank));
        let (aside, rare) = (failure.aside, failure.found > SOON);
        Place { aside, rare, stage, rank, listed: listed.unwrap_or(usize::MAX) }
    }

    /// Returns the properties in the order in which their failures are shown if no other rule decides.
    pub fn by_rank(&self) -> Vec<&Property> {
        let mut properties: Vec<&Property> = self.properties.iter().collect();
        properties.sort_by_key(|property| (property.stage, property.rank)); // keeps the order of properties of one rank
        properties
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Schedule;

    #[test]
    fn what_says_most_comes_first() {
        let description = "title = \"\"\nchapters = []\nneeds = []\nhints = []\nafterwards = \"\"\n\
             [[property]]\nname = \"general\"\npromise = \"\"\nrank = 1\n\
             [[property]]\nname = \"simple\"\npromise = \"\"\n\
             [[property]]\nname = \"hard\"\npromise = \"\"\n\
             [[property]]\nname = \"later\"\npromise = \"\"\nstage = 2\n";
        let exercise: Exercise = toml::from_str(description).unwrap();
        let failure =
            |found, aside| Failure { found, aside, ..Failure::new("", "", "", Schedule::default()) };
        let order = [
            ("simple", failure(SOON, false)),
            ("hard", failure(1, false)),
            ("general", failure(1, false)),
            ("later", failure(1, false)),
            ("hard", failure(SOON + 1, false)),
            ("general", failure(SOON + 1, false)),
            ("simple", failure(1, true)),
            ("general", failure(1, true)),
        ];
        let places: Vec<Place> = order.iter().map(|(name, failure)| exercise.place(name, failure)).collect();
        assert!(places.is_sorted(), "{places:?}");
        let by_rank: Vec<&str> = exercise.by_rank().iter().map(|property| property.name.as_str()).collect();
        assert_eq!(by_rank, ["simple", "hard", "general", "later"]);
    }
}
