//! What a document may reach: which addresses are fetched because it names them.
//!
//! There is one rule for the images of a page, the companies of a list and the target of a redirect. A document that came over
//! HTTP was made by a stranger, so it must not choose a file of this machine: what is in that file would be shown, or its price
//! ranked, as if the stranger had sent it.

use crate::gap::Gap;
use url::Url;

/// Checks that the document at `from` may name `to`: always an `http` or `https` address, a `file` only if it is a file itself.
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
