//! Names of folders in the encoding of IMAP, which has its own variant of UTF-7 (RFC 3501, 5.1.3).
//!
//! The characters from the space to `~` represent themselves, except `&`, which is written `&-`. All other
//! characters are written between `&` and `-`, as UTF-16 in base64; for example, `Entwürfe` becomes
//! `Entw&APw-rfe`.

use base64::Engine;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

const BASE64: GeneralPurpose = GeneralPurpose::new(&IMAP_MUTF7, NO_PAD);

/// Returns the name of a folder in the form that is sent to the server.
pub(super) fn sent(name: &str) -> String {
    let is_itself = |c| matches!(c, ' '..='~');
    let (mut sent, mut rest) = (String::new(), name);
    while !rest.is_empty() {
        let (plain, others) = rest.split_at(rest.find(|c| !is_itself(c)).unwrap_or(rest.len()));
        let (others, after) = others.split_at(others.find(is_itself).unwrap_or(others.len()));
        sent += &plain.replace('&', "&-");
        if !others.is_empty() {
            let bytes: Vec<_> = others.encode_utf16().flat_map(u16::to_be_bytes).collect();
            sent = sent + "&" + &BASE64.encode(bytes) + "-";
        }
        rest = after;
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_sent_in_utf_7() {
        for (name, sent_as) in [
            ("INBOX", "INBOX"),
            ("a b%*(", "a b%*("),
            ("Entwürfe", "Entw&APw-rfe"),
            ("Éléments envoyés", "&AMk-l&AOk-ments envoy&AOk-s"),
            ("~peter/mail/台北/日本語", "~peter/mail/&U,BTFw-/&ZeVnLIqe-"), // from the RFC
            ("😀", "&2D3eAA-"),
            ("R&D", "R&-D"),
            ("R&-D", "R&--D"),
            ("&Jjo!", "&-Jjo!"),
            ("&APw-ü", "&-APw-&APw-"),
        ] {
            assert_eq!(sent(name), sent_as, "{name}");
        }
    }
}
