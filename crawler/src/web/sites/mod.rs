//! Reads the contents of addresses, pages and the files of a site.
//!
//! | module | what it is about |
//! |---|---|
//! | [`urls`] | which addresses are the same page, and which belong to the crawl |
//! | [`links`] | where a page leads |
//! | [`robots`] | what a site forbids, and how long it wants to be left alone |
//! | [`sitemap`] | the pages that a site lists |

pub mod urls;

pub mod links;
pub mod robots;
pub mod sitemap;
