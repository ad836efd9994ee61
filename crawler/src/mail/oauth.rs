//! Access tokens of OAuth 2.0, which are used in place of passwords. Gmail and Outlook require access
//! tokens. Access tokens are sent by XOAUTH2, which Gmail and Outlook accept.
//!
//! To get a token, a user needs a browser. So this program reads the token from a file that another program
//! keeps up to date.

use super::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Returns the text with which a user logs in by XOAUTH2. The returned text is as secret as the token.
pub(super) fn response(user: &str, token: &Secret) -> Secret {
    let words = token.between(format!("user={user}\x01auth=Bearer ").as_bytes(), b"\x01\x01");
    Secret::new(STANDARD.encode(words.bytes()))
}
