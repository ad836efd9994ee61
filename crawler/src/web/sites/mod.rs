//! Reads the contents of addresses, pages and the files of a site.
//!
//! | module | what it is about |
//! |---|---|
//! | [`urls`] | which addresses name the same page, and which addresses belong to the crawl |
//! | [`links`] | the links of a page |
//! | [`robots`] | the pages that a site forbids, and the pause that it asks for |
//! | [`sitemap`] | the pages that a site lists |

pub mod urls;

pub mod links;
pub mod robots;
pub mod sitemap;
