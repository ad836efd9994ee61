//! A search: the words and phrases that a file must have, and the words and phrases that a file must not
//! have.

use crate::store::Fields;
use crate::words::words_of;
use tantivy::Term;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, PhraseQuery, Query as IndexQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

/// The factor by which a match in a file's name counts more than a match in the file's text.
const NAME: f32 = 2.0;

/// Words and phrases. A single word is a phrase of one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Words and phrases that must be in the text or in the name.
    pub(super) wanted: Vec<Vec<String>>,
    /// Words and phrases that must not be in the text or in the name.
    unwanted: Vec<Vec<String>>,
}

impl Query {
    /// Parses words in the form in which a user types them. A text `"in quotes"` is a phrase, and so is an
    /// argument that has spaces and no quotes. `-word` excludes files that have this word. All characters
    /// except letters and digits only separate words, so no input is invalid.
    ///
    /// # Errors
    /// Returns a sentence for the user if there is nothing to search for.
    pub fn parse(typed: &[String]) -> Result<Query, String> {
        let mut query = Query { wanted: Vec::new(), unwanted: Vec::new() };
        for argument in typed {
            if argument.contains('"') {
                query.quoted(argument);
            } else {
                query.part(argument);
            }
        }
        if query.wanted.is_empty() {
            return Err(format!("there is no word in {:?} that a file has to have", typed.join(" ")));
        }
        Ok(query)
    }

    /// Quotes enclose phrases; outside of quotes, spaces separate words.
    fn quoted(&mut self, argument: &str) {
        let mut sign = "";
        for (number, piece) in argument.split('"').enumerate() {
            if number % 2 == 1 {
                self.part(&format!("{sign}{piece}"));
                continue;
            }
            sign = if piece.ends_with(" -") || piece == "-" { "-" } else { "" };
            piece.split_whitespace().filter(|word| *word != "-").for_each(|word| self.part(word));
        }
    }

    fn part(&mut self, written: &str) {
        let unwanted = written.trim_start().strip_prefix('-');
        let words = words_of(unwanted.unwrap_or(written));
        if words.is_empty() {
            return;
        }
        if unwanted.is_some() { self.unwanted.push(words) } else { self.wanted.push(words) }
    }

    /// Returns the query in the form that the library accepts.
    pub(super) fn for_index(&self, fields: Fields) -> BooleanQuery {
        let anywhere = |words: &Vec<String>| -> Box<dyn IndexQuery> {
            let name = BoostQuery::new(phrase(fields.name, words), NAME);
            Box::new(BooleanQuery::union(vec![phrase(fields.text, words), Box::new(name)]))
        };
        let wanted = self.wanted.iter().map(|words| (Occur::Must, anywhere(words)));
        let unwanted = self.unwanted.iter().map(|words| (Occur::MustNot, anywhere(words)));
        BooleanQuery::new(wanted.chain(unwanted).collect())
    }
}

fn phrase(field: Field, words: &[String]) -> Box<dyn IndexQuery> {
    let mut terms = words.iter().map(|word| Term::from_field_text(field, word));
    match words.len() {
        1 => Box::new(TermQuery::new(terms.next().expect("one"), IndexRecordOption::WithFreqs)),
        _ => Box::new(PhraseQuery::new(terms.collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(typed: &[&str]) -> (Vec<String>, Vec<String>) {
        let typed: Vec<_> = typed.iter().map(|argument| (*argument).to_owned()).collect();
        let query = Query::parse(&typed).unwrap();
        let joined = |phrases: &[Vec<String>]| phrases.iter().map(|words| words.join(" ")).collect();
        (joined(&query.wanted), joined(&query.unwanted))
    }

    #[test]
    fn words_phrases_and_what_must_not_be_there() {
        let none: [&str; 0] = [];
        let table: [(&[&str], &[&str], &[&str]); 9] = [
            (&["Thread", "pool"], &["thread", "pool"], &none),
            (&["thread pool"], &["thread pool"], &none),
            (&["\"thread pool\" queue"], &["thread pool", "queue"], &none),
            (&["a \"b c\" -\"d e\" -f"], &["a", "b c"], &["d e", "f"]),
            (&["std::io", "-read_to_end"], &["std io"], &["read to end"]),
            (&["x", "--"], &["x"], &none),
            (&["unclosed \"quote here"], &["unclosed", "quote here"], &none),
            (&["日本"], &["日 本"], &none),
            (&["well-known"], &["well known"], &none),
        ];
        for (typed, wanted, unwanted) in table {
            let (seen_wanted, seen_unwanted) = parsed(typed);
            assert_eq!(seen_wanted, wanted, "{typed:?}");
            assert_eq!(seen_unwanted, unwanted, "{typed:?}");
        }
    }

    #[test]
    fn nothing_to_search_for_is_an_error() {
        for typed in [&["!?"][..], &["-word"], &["\"\""], &[""]] {
            let typed: Vec<_> = typed.iter().map(|argument| (*argument).to_owned()).collect();
            Query::parse(&typed).unwrap_err();
        }
    }
}
