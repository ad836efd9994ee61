//! Decides which addresses a document may name for the program to fetch.
//!
//! The same rule applies to the images of a page, the companies of a list and the target of a redirect. A
//! document that came over HTTP is not trusted, so it must not choose a local file. Otherwise the program
//! would show the contents of that file, or rank its price, as if they came from the sender of the document.

use crate::gap::Gap;
use url::Url;

/// Checks that the document at `from` may name `to`: always an `http` or `https` address, but a `file`
/// address only if the document itself is a file.
///
/// # Errors
/// Returns [`Gap::Unusable`] with the reason, for any other address.
pub(crate) fn check(from: &Url, to: &Url) -> Result<(), Gap> {
    match to.scheme() {
        "http" | "https" => Ok(()),
        "file" if from.scheme() == "file" => Ok(()),
        "file" => Err(Gap::Unusable("a page from elsewhere may not show files of this machine".to_owned())),
        other => Err(Gap::Unusable(format!("{other} addresses are not fetched"))),
    }
}
