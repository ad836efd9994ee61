//! Decides which failure a learner sees first.
//!
//! One mistake often breaks several properties, and what some of them say of it is beside the point: a thread
//! per job also breaks the order of jobs. So failures are shown in an order, from the one that says most
//! about the mistake:
//!
//! 1. A failure of what the property is about, before a failure aside, such as an end of the pool that never
//!    comes.
//! 2. A failure within the first [`SOON`] schedules, before a rare one, which is perhaps a consequence of
//!    something else. It also comes before a failure that only a wait without a notification shows.
//! 3. A property of the first stage, before one of the second, which the learner perhaps has not begun.
//! 4. By the rank of the property in `exercise.toml`: a property that many mistakes break has a rank above 0.
//! 5. In the order of `exercise.toml`, which is from simple to hard.
//!
//! The proof checks of each wrong answer that the failure which comes first says what it should. It can do so
//! because of the second rule: as a rule it need not try more than the first schedules of the other properties.

use crate::{Exercise, Failure, Property};

/// A failure on one of the first so many schedules is not rare. On these, the model ends no wait without a
/// notification. So if an answer also breaks when another thread is faster, the learner is shown the faster
/// thread.
pub const SOON: usize = 200;

/// The place of a failure among those of an answer. The least is shown first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    aside: bool,
    rare: bool,
    stage: u8,
    rank: u8,
    listed: usize,
}

impl Exercise {
    /// The place of a failure of the property of this name.
    pub fn place(&self, property: &str, failure: &Failure) -> Place {
        let listed = self.properties.iter().position(|listed| listed.name == property);
        let (stage, rank) = listed.map_or((0, 0), |n| (self.properties[n].stage, self.properties[n].rank));
        let (aside, rare) = (failure.aside, failure.found > SOON);
        Place { aside, rare, stage, rank, listed: listed.unwrap_or(usize::MAX) }
    }

    /// The properties in the order in which their failures are shown, if they differ in nothing else.
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
