//! Access tokens of OAuth 2.0, which replace passwords: Gmail and Outlook require them. The tokens are sent
//! by XOAUTH2, which both servers accept.
//!
//! To get a token, a user needs a browser. So here a token comes from a file that another program keeps up to
//! date.

use super::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The text that logs a user in by XOAUTH2. This text is as secret as the token.
pub(super) fn response(user: &str, token: &Secret) -> Secret {
    let words = token.between(format!("user={user}\x01auth=Bearer ").as_bytes(), b"\x01\x01");
    Secret::new(STANDARD.encode(words.bytes()))
}
