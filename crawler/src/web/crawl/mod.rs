//! The crawl: how the next page is selected, how a thread works on this page, and how the state becomes
//! durable.
//!
//! | module | what it is about |
//! |---|---|
//! | [`store`] | the source of a worker's work, and the loop of a worker |
//! | [`frontier`] | the set of pages; it decides which pages may be fetched now, and when the crawl has ended |
//! | [`record`], [`under_way`], [`state`] | the record of each page, the list of jobs in progress, and the file with all records |
//! | [`keeper`] | makes changes of the state durable, in groups |
//! | [`results`] | the results that a store reports after the crawl |
//! | [`save`] | saves pages as files |
//! | [`visitor`] | the data that all threads of a run share |
//! | [`rules`] | asks a site for its rules and its lists of pages |
//! | [`visit`] | fetches one page and records its links |
//! | [`outcome`] | a worker's lease, its outcome, and the effect of the outcome |
//! | [`disk`] | a store on the disk, for one process |
//! | `shared`, with the feature `redis` | a store in an engine, on which many processes work |
//! | [`run`] | the start of a run |

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
