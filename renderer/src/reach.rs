//! Decides which addresses a document may name, so that they are fetched.
//!
//! There is one rule for the images of a page, the companies of a list and the target of a redirect. A
//! document that came over HTTP is not trusted, so it must not choose a local file: the contents of that file
//! would be shown, or its price ranked, as if the sender of the document had sent it.

use crate::gap::Gap;
use url::Url;

/// Checks that the document at `from` may name `to`: always an `http` or `https` address, a `file` address
/// only if the document is a file itself.
///
/// # Errors
/// [`Gap::Unusable`] with the reason, for any other address.
pub(crate) fn check(from: &Url, to: &Url) -> Result<(), Gap> {
    match to.scheme() {
        "http" | "https" => Ok(()),
        "file" if from.scheme() == "file" => Ok(()),
        "file" => Err(Gap::Unusable("a page from elsewhere may not show files of this machine".to_owned())),
        other => Err(Gap::Unusable(format!("{other} addresses are not fetched"))),
    }
}
