//! Names of folders as IMAP has them: in a UTF-7 of its own (RFC 3501, 5.1.3).
//!
//! The characters from the space to `~` mean themselves, but for `&`, which is written `&-`. All others stand
//! between `&` and `-`, as base64 of UTF-16: `Entwürfe` is `Entw&APw-rfe`.

use base64::Engine;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

const BASE64: GeneralPurpose = GeneralPurpose::new(&IMAP_MUTF7, NO_PAD);

/// The name of a folder as it is sent.
///
/// A name that is in UTF-7 already, because each `&` in it begins a part that UTF-7 allows, stays as it is.
pub(super) fn sent(name: &str) -> String {
    if name.contains('&') && decoded(name).is_some() { name.to_owned() } else { encoded(name) }
}

fn encoded(name: &str) -> String {
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

/// Decodes a name in UTF-7. `None` if it is not in UTF-7, or not as an encoder writes it.
fn decoded(sent: &str) -> Option<String> {
    let (mut name, mut rest) = (String::new(), sent);
    while let Some((plain, behind)) = rest.split_once('&') {
        let (digits, after) = behind.split_once('-')?;
        name = name + plain + if digits.is_empty() { "&" } else { "" };
        let bytes = BASE64.decode(digits).ok()?;
        let units: Vec<_> = bytes
            .chunks(2)
            .map(|two| two.iter().fold(0, |unit, byte| unit << 8 | u16::from(*byte)))
            .collect();
        name += &String::from_utf16(&units).ok()?;
        rest = after;
    }
    name += rest;
    (encoded(&name) == sent).then_some(name)
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
            ("Entw&APw-rfe", "Entw&APw-rfe"),
            ("Éléments envoyés", "&AMk-l&AOk-ments envoy&AOk-s"),
            ("~peter/mail/台北/日本語", "~peter/mail/&U,BTFw-/&ZeVnLIqe-"), // the RFC's own
            ("😀", "&2D3eAA-"),
            ("R&D", "R&-D"),
            ("R&-D", "R&-D"),
            ("&Jjo!", "&-Jjo!"), // not UTF-7: no end
            ("&AGE-", "&-AGE-"), // an `a`, which no encoder writes so
            ("&APx-", "&-APx-"), // a bit too many
            ("&APw-ü", "&-APw-&APw-"),
        ] {
            assert_eq!(sent(name), sent_as, "{name}");
        }
    }

    #[test]
    fn any_name_comes_back() {
        let mut rng = fastrand::Rng::with_seed(7);
        let characters: Vec<_> = "&&&--+,azAZ09 ~!\"\\üéß台日語😀𝄞".chars().collect();
        for _ in 0..2000 {
            let name: String = (0..rng.usize(..9)).filter_map(|_| rng.choice(&characters)).collect();
            let encoded = encoded(&name);
            assert!(encoded.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{name:?}: {encoded:?}");
            assert_eq!(decoded(&encoded).as_deref(), Some(&*name), "{encoded:?}");
            assert_eq!(sent(&encoded), encoded, "{name:?}");
        }
    }
}
