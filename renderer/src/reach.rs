//! Decides which addresses the program may fetch because a document names them.
//!
//! The same rule applies to the images of a page, the companies of a list and the target of a redirect. A
//! document that was fetched over HTTP is not trusted, so the document must not name a local file. If such a
//! document could name a local file, the program would show that file, or rank a price in that file, as if
//! the sender of the document had sent it.

use crate::gap::Gap;
use url::Url;

/// Checks that the document at `from` may name `to`: an `http` or `https` address is always allowed; a `file`
/// address is allowed only if the document itself is a file.
///
/// # Errors
/// For any other address, returns [`Gap::Unusable`] with the reason.
pub(crate) fn check(from: &Url, to: &Url) -> Result<(), Gap> {
    match to.scheme() {
        "http" | "https" => Ok(()),
        "file" if from.scheme() == "file" => Ok(()),
        "file" => Err(Gap::Unusable("a page from elsewhere may not show files of this machine".to_owned())),
        other => Err(Gap::Unusable(format!("{other} addresses are not fetched"))),
    }
}
