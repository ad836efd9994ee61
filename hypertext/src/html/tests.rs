use super::*;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Collects everything that the reader of a document receives, as one text of `<name a=value>`, `</name>`,
/// text, and `\n` at the end of a line.
#[derive(Default)]
struct Seen {
    shown: String,
    attributes: usize,
    is_xml: bool,
}

impl Reader for Seen {
    fn characters(&mut self, text: &str) {
        self.shown.push_str(&text.replace('\n', "_"));
    }

    fn tag(&mut self, tag: &Tag<'_>) {
        write!(self.shown, "<{}{}", if tag.is_end { "/" } else { "" }, tag.name()).expect("to a string");
        for (name, value) in tag.attributes() {
            write!(self.shown, " {name}={value}").expect("to a string");
        }
        self.shown.push_str(if tag.is_empty { "/>" } else { ">" });
        self.attributes = self.attributes.max(tag.attributes().count());
    }

    fn line_ended(&mut self) {
        self.shown.push('\n');
    }

    fn is_xml(&self, name: &str) -> bool {
        self.is_xml || name == "svg"
    }
}

fn seen(document: &str) -> Seen {
    read(document, Seen::default(), &CancelToken::new()).expect("the token is not cancelled")
}

/// Documents, each with everything that its reader receives.
const DOCUMENTS: &[(&str, &str)] = &[
    ("", ""),
    ("a<B C=D e='f g' h=\"i\" j>k</B>l", "a<b c=D e=f g h=i j=>k</b>l"),
    ("<a b=1 B=2/>&lt;&#x41;&copy=&notit;&#0;", "<a b=1 b=2/><A©=¬it;\u{fffd}"),
    ("<a b='&amp;&ampx=&copy;'></a b=c>", "<a b=&&ampx=©></a>"),
    ("a<!-- <b> -->b<!doctype c>d<?e?>f</ g>h<![CDATA[i]]>j", "abdfhj"),
    ("1 < 2 <3 </4><a<b>", "1 < 2 <3 <a<b>"),
    ("<title>a<b>&amp;</TITLE ><b>", "<title>a<b>&</title><b>"),
    (
        "<script>a<b>&amp;<!--<script></script>--></script><b>",
        "<script>a<b>&amp;<!--<script></script>--></script><b>",
    ),
    ("<style>a</b></style><plaintext></style>", "<style>a</b></style><plaintext></style>"),
    ("<script/>a<b>", "<script>a<b>"),
    ("<svg/><SVG a=b /><b/>", "<svg/><svg a=b/><b>"),
    ("a<b c='d", "a"),
    ("a\0b", "a\0b"),
    ("ä<b ö='&ü&auml;'><!--é-->ß<script>é</script>é", "ä<b ö=&üä>ß<script>é</script>é"),
];

#[test]
fn tags_and_text_are_shown_as_browsers_read_them() {
    for (document, shown) in DOCUMENTS {
        assert_eq!(seen(document).shown, *shown, "{document}");
    }
    let xml = read("<script/><a/>&amp;b", Seen { is_xml: true, ..Seen::default() }, &CancelToken::new());
    assert_eq!(xml.expect("the token is not cancelled").shown, "<script/><a/>&b");
    let tag = |document| seen(document).attributes;
    assert_eq!(tag(&format!("<a{}>", " b".repeat(2 * MOST_ATTRIBUTES))), MOST_ATTRIBUTES);
}

#[test]
fn what_is_in_a_line_is_shown_before_it_ends() {
    for (document, shown) in [
        ("a\nb<c\nd\n>\n\ne&#10;f\n", "a_\nb\n\n<c d=>_\n_\ne_f_"),
        ("a\r\nb\rc\n", "a_\nb_c_"),
        ("<!--\n-->a<\nb</\n>c<script>\n</scrip\nt>", "\na<_\nb\nc<script>_\n</scrip_\nt>"),
        ("&\n&am\n&amp\n;", "&_\n&am_\n&_\n;"),
    ] {
        assert_eq!(seen(document).shown, shown, "{document:?}");
    }
}

/// Checks that the result does not depend on the position at which a piece ends.
#[test]
fn a_piece_ends_anywhere() {
    for (document, shown) in DOCUMENTS {
        for length in PIECE - document.len()..=PIECE {
            let blanks = " ".repeat(length);
            assert_eq!(seen(&(blanks.clone() + document)).shown, blanks + shown, "{length} {document}");
        }
    }
}

/// Each document consists of some megabytes of a single construct, and is deeper or longer than any real
/// page.
#[test]
fn no_document_takes_more_time_than_its_length_asks_for() {
    let names = |count: usize, between: &str| {
        (0..count).map(|n| format!("{n}{between}")).collect::<Vec<_>>().concat()
    };
    for (what, document) in [
        ("elements", "<b><div><p><table><a".repeat(100_000)),
        ("attributes", format!("<p {}>", names(300_000, " "))),
        ("values", format!("<p {}>", names(200_000, "=''"))),
        ("equals", format!("<p {}>", names(200_000, "=\"'' \"="))),
        ("the same attribute", format!("<p {}{}>", names(1_000, " "), "a='' ".repeat(200_000))),
        ("tags", format!("<p {}>", names(999, " ")).repeat(300)),
        ("quotes", "<a '\" '".repeat(200_000)),
        ("a value", format!("<a b='{}", "<&amp".repeat(300_000))),
        ("references", "&amp&&#".repeat(200_000)),
        ("a number", format!("&#{};", "1".repeat(1 << 20))),
        ("a name", format!("<{0}></{0}", "a".repeat(1 << 20))),
        ("ends", "</a ".repeat(300_000)),
        ("comments", "<!--<!->-->".repeat(100_000)),
        ("a comment", format!("<!--{}", "->-- >".repeat(200_000))),
        ("scripts", "<script><!--<script></s".repeat(50_000)),
        ("lines", "\n<a\n>".repeat(200_000)),
    ] {
        let begun = Instant::now();
        let found = seen(&document);
        assert!(found.attributes <= MOST_ATTRIBUTES, "{what}: {} attributes", found.attributes);
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}: {:?}", begun.elapsed());
    }
}

/// A reader that cancels the token at a tag.
struct Cancelling<'t>(&'t CancelToken, usize);

impl Reader for Cancelling<'_> {
    fn characters(&mut self, text: &str) {
        self.1 += text.len();
    }

    fn tag(&mut self, _: &Tag<'_>) {
        self.0.cancel();
    }
}

#[test]
fn a_cancel_ends_the_reading_wherever_it_is() {
    let token = CancelToken::new();
    assert!(read(&format!("<a>{}", "b".repeat(3 * PIECE)), Cancelling(&token, 0), &token).is_err());
    for document in ["a", "<b c='", "<!--", "<title>", "&#"] {
        let document = document.to_owned() + &"1".repeat(3 * PIECE);
        assert!(read(&document, Seen::default(), &token).is_err(), "{document:.9}");
    }
    let token = CancelToken::new();
    let mut reader = Cancelling(&token, 0);
    assert!(
        show(&format!("{}<a>{}", "b".repeat(PIECE - 3), "b".repeat(3 * PIECE)), &mut reader, &token).is_err()
    );
    assert_eq!(reader.1, PIECE - 3, "no text after the cancel");
}
