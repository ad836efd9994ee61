//! HTML to text whose lines are those of the document, so that what is found has the line that an editor shows.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use std::cell::{Cell, RefCell};
use std::iter;

/// How far into a document a `<meta>` may name its encoding.
const PRESCAN: usize = 1024;

/// Bytes that the tokenizer gets at once.
const PIECE: usize = 1 << 10;

/// Bytes that one tag may have until it is [`shortened`]. The tokenizer compares each attribute of a tag with all that came before,
/// so a tag with a million of them would keep it busy for hours.
const LONGEST_TAG: usize = 16 << 10;

/// Quotes that are kept of a tag that is shortened.
const MOST_QUOTES: usize = 1000;

/// Elements whose tags do not part words: in `<b>W</b>ord` there is one.
const INLINE: [&str; 22] = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "ins", "mark", "q", "s",
    "small", "span", "strong", "sub", "sup", "u", "wbr",
];

/// The encoding that the first `<meta>` names which names one.
pub(super) fn encoding(document: &[u8]) -> Option<&'static Encoding> {
    let begin = document[..document.len().min(PRESCAN)].to_ascii_lowercase();
    let begin = String::from_utf8_lossy(&begin);
    let named = begin.split("<meta").skip(1).find_map(|meta| {
        let tag = meta.split('>').next()?;
        let value = tag.split_once("charset")?.1.trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let end = value.find(|c: char| matches!(c, '"' | '\'' | ';' | '/') || c.is_ascii_whitespace());
        Encoding::for_label(&value.as_bytes()[..end.unwrap_or(value.len())])
    })?;
    // Whoever could read this far has read ASCII.
    Some(if named == UTF_16LE || named == UTF_16BE { UTF_8 } else { named })
}

/// What a reader of the page sees, in the lines of the document: without tags, comments, scripts and styles.
pub(super) fn text(document: &str) -> String {
    let sink = Sink { text: RefCell::new(Text::new(document.len() / 2)), tokens: Cell::new(0) };
    let (input, tokenizer) = (BufferQueue::default(), Tokenizer::new(sink, TokenizerOpts::default()));
    let (mut rest, mut tokens, mut bytes, mut quotes) = (document, 0, 0, 0);
    while !rest.is_empty() {
        // Never more than the rest of a line, so that each token comes while its line is being read: the tokenizer's own count of lines
        // leaves some out.
        let piece = &rest[..rest.floor_char_boundary(PIECE)];
        let piece = piece.split_inclusive('\n').next().unwrap_or(piece);
        rest = &rest[piece.len()..];
        if tokenizer.sink.tokens.get() != tokens {
            (tokens, bytes, quotes) = (tokenizer.sink.tokens.get(), 0, 0);
        }
        bytes += piece.len();
        let is_long = bytes > LONGEST_TAG;
        input.push_back(if is_long { shortened(piece, &mut quotes) } else { StrTendril::from_slice(piece) });
        let _ = tokenizer.feed(&input); // it pauses at scripts only if told to
        tokenizer.sink.text.borrow_mut().line += usize::from(piece.ends_with('\n'));
    }
    tokenizer.end();
    tokenizer.sink.text.into_inner().written
}

/// Of a piece of a tag or comment that is too long: what may end it, and its lines. What comes behind an end is content again.
fn shortened(piece: &str, quotes: &mut usize) -> StrTendril {
    let (tag, after) = piece.split_at(piece.find('>').unwrap_or(piece.len()));
    let mut kept = String::with_capacity(piece.len());
    for c in tag.chars() {
        let is_quote = matches!(c, '"' | '\'');
        *quotes += usize::from(is_quote);
        if matches!(c, '-' | '\n') || is_quote && *quotes <= MOST_QUOTES {
            kept.push(c);
        } else if !kept.ends_with(' ') {
            kept.push(' '); // so that no two dashes come together that were apart
        }
    }
    kept.push_str(after);
    StrTendril::from_slice(&kept)
}

/// Gets the tokens of a document.
struct Sink {
    text: RefCell<Text>,
    /// How many there were.
    tokens: Cell<usize>,
}

/// The text as far as it is written.
struct Text {
    written: String,
    /// Lines that it has.
    lines: usize,
    /// The line of the document that is being read.
    line: usize,
    /// The element that is being left out: a script or a style.
    left_out: Option<String>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.tokens.set(self.tokens.get() + 1);
        let mut text = self.text.borrow_mut();
        match token {
            Token::CharacterTokens(characters) => text.write(&characters),
            Token::TagToken(tag) => {
                let is_start = tag.kind == TagKind::StartTag;
                text.tag(&tag.name, is_start);
                if is_start {
                    return raw(&tag.name);
                }
            }
            _ => (),
        }
        TokenSinkResult::Continue
    }
}

/// Of some elements the content is no markup.
fn raw(name: &str) -> TokenSinkResult<()> {
    match name {
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

impl Text {
    fn new(capacity: usize) -> Text {
        Text { written: String::with_capacity(capacity), lines: 1, line: 1, left_out: None }
    }

    fn write(&mut self, characters: &str) {
        if self.left_out.is_some() {
            return;
        }
        self.written.extend(iter::repeat_n('\n', self.line - self.lines));
        self.lines = self.line;
        // Breaks come with the next line. What is written as `&#10;` is none in the document.
        self.written.extend(characters.chars().map(|c| if c == '\n' { ' ' } else { c }));
    }

    fn tag(&mut self, name: &str, is_start: bool) {
        match &self.left_out {
            Some(left_out) if !is_start && left_out == name => self.left_out = None,
            None if is_start && matches!(name, "script" | "style") => self.left_out = Some(name.to_owned()),
            _ => (),
        }
        if !INLINE.contains(&name) {
            self.written.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// The words of each line.
    fn lines(document: &str) -> Vec<Vec<String>> {
        text(document).split('\n').map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    }

    #[test]
    fn a_word_is_in_the_line_in_which_the_document_has_it() {
        let document = "<!doctype html>\n<title>One\nTwo</title><style>\nx{}\n</style>\r\n<p\nclass=a>Three<!-- a\nb -->four\n\n\n\
                        &lt;five&#10;six<script>\nvar hidden;\n</script>\n<b>se</b>ven <li>eight<li>nine\n";
        let found = lines(document);
        for (number, line) in document.split('\n').enumerate() {
            for word in found.get(number).into_iter().flatten() {
                let visible = word.trim_start_matches('<').chars().take(2).collect::<String>();
                assert!(line.contains(&visible), "{word:?} is not in line {number}: {line:?}");
            }
        }
        let words: Vec<_> = found.concat();
        assert_eq!(words, ["One", "Two", "Three", "four", "<five", "six", "seven", "eight", "nine"]);
    }

    #[test]
    fn an_element_without_an_end_is_no_trouble() {
        assert_eq!(lines("a<script>\nb\nc"), [vec!["a"]]);
        assert_eq!(lines("a</script>b<p"), [vec!["a", "b"]]);
    }

    #[test]
    fn a_tag_with_a_million_attributes_is_read_in_time() {
        let attributes: String =
            (0..1_000_000).flat_map(|n| [" a".to_owned(), n.to_string(), "=\n".to_owned()]).collect();
        let begin = Instant::now();
        let found = lines(&format!("before<p{attributes}>after"));
        assert!(begin.elapsed() < Duration::from_secs(20), "it took {:?}", begin.elapsed());
        assert_eq!(
            (found.len(), &found[0], &found[1_000_000]),
            (1_000_001, &vec!["before".to_owned()], &vec!["after".to_owned()])
        );
    }

    #[test]
    fn a_long_comment_and_long_text_are_kept_in_their_lines() {
        let found =
            lines(&format!("a<!--{}-->b {}\nc", "x> - x ->\n".repeat(20_000), "word ".repeat(50_000)));
        assert_eq!(found.len(), 20_002);
        assert_eq!(
            (found[0][0].as_str(), found[20_000][0].as_str(), found[20_000].len()),
            ("a", "b", 50_001)
        );
        assert_eq!(found[20_001], ["c"]);
    }

    #[test]
    fn a_meta_names_the_encoding() {
        for (document, name) in [
            ("<meta charset=shift_jis>", Some("Shift_JIS")),
            ("<META CHARSET = \"koi8-r\" >", Some("KOI8-R")),
            ("<meta http-equiv=content-type content='text/html; charset=latin1'>", Some("windows-1252")),
            ("<meta name=a><meta charset=utf-16>", Some("UTF-8")),
            ("<meta charset=nothing>", None),
            ("<p>charset=koi8-r", None),
        ] {
            assert_eq!(encoding(document.as_bytes()).map(Encoding::name), name, "{document}");
        }
    }
}
