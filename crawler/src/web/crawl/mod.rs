//! The crawl: the selection of the next page, the work of a thread on it, and the durable state.
//!
//! | module | what it is about |
//! |---|---|
//! | [`store`] | what a worker takes its work from, and how it works |
//! | [`frontier`] | which pages there are, which may be fetched now, and when the crawl is over |
//! | [`record`], [`under_way`], [`state`] | what is known of each page, what is being fetched, and the file with both |
//! | [`keeper`] | makes changes of the state durable, in groups |
//! | [`results`] | what a store tells when the crawl has ended |
//! | [`save`] | the pages as files |
//! | [`visitor`] | what all threads of a run have in common |
//! | [`rules`] | asks a site for its rules and its lists of pages |
//! | [`visit`] | what is done with one page |
//! | [`outcome`] | what a worker is given to do, and what follows from what came of it |
//! | [`disk`] | a store on the disk, for one process |
//! | `shared`, with the feature `redis` | a store in an engine, on which many processes work |
//! | [`run`] | where a run begins |

pub mod store;

pub mod frontier;

pub mod record;
pub mod under_way;

pub mod state;

pub mod keeper;
pub mod results;

pub mod save;

pub mod visitor;

pub mod rules;

pub mod visit;

pub mod outcome;

pub mod disk;
#[cfg(feature = "redis")]
pub mod shared;

pub mod run;
