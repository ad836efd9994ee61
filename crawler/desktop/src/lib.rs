//! Desktop search: an index on disk of the files below some directories; a search in the index takes
//! milliseconds to find the files that have the given words.
//!
//! ```text
//!              paths of files that changed                 words
//!   walk ──────────────▶ queue with a bound ──▶ read ──▶ writer ──▶ index on disk ──▶ search
//!   one thread              and pills        n threads
//! ```
//!
//! The threads are in the program `index`; this library has the functions that do the work of each thread.
//!
//! | module | what it is about |
//! |---|---|
//! | [`walk`] | finds the files, one directory after the other |
//! | [`content`] | turns a file into text: encodings, HTML, files that are not text |
//! | `words` | turns text into words |
//! | [`store`] | the index on disk, and its versions |
//! | [`known`] | the files that were in the index before a run, and which of them the run has not seen |
//! | [`writer`] | adds documents to the index and commits them |
//! | [`query`], [`mod@search`] | find the files that have some words |
//! | [`place`] | the line of a file that shows why it was found |
//! | [`crawl`] | compares the files of the walk with the index |
//! | [`tally`], [`progress`] | the counts of indexed, skipped and removed files |
//! | [`indexing`], [`args`] | a run of `index`: the data that its threads share, and its report |
//! | [`tree`] | writes example files |
//!
//! # What holds
//!
//! 1. For each file, the index has at most one version. The commit that adds the next version of a file also
//!    removes the previous version of this file.
//! 2. A committed version stays in the index, however the process ends. After a crash, the next run indexes
//!    all uncommitted files, because the index does not have them.
//! 3. A run removes a file from the index only if the run reached its end, has read the file's directory, and
//!    has not seen the file.
//! 4. Memory does not grow with the tree, except for one byte for each file that the index had before. With
//!    `--follow`, memory also holds the names of the directories outside the tree that are reached by links.

pub mod content;
pub use content::{Content, Skipped, Stamp, read};

mod html;
mod words;

pub mod walk;
pub use walk::{Rules, roots};

pub mod store;
pub use store::{Store, guarded};

pub mod known;
pub use known::Known;

pub mod writer;
pub use writer::{Batch, File, Writer};

pub mod crawl;
pub use crawl::Crawl;

pub mod tally;
pub use tally::Tally;

pub mod progress;

pub mod args;
pub use args::{IndexArgs, SearchArgs};

pub mod indexing;
pub use indexing::{Indexing, read_guarded};

pub mod query;
pub use query::Query;

pub mod place;
pub use place::Place;

pub mod search;
pub use search::{Hit, Hits, Now, search};

pub mod tree;

/// Prepares the text or the name of a file for a terminal: replaces control characters, because a terminal
/// obeys them.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
