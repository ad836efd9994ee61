//! The input fields below the questions of a *Predict* section. A block ` ```predict ` of the page describes
//! them, with the expressions that find the right values in the text that the page shows. In the built page,
//! the fields of the block are data for `predict.js`.

use crate::book::includes::includes;
use crate::book::pages::Page;
use anyhow::{Context, anyhow, bail, ensure};
use mdbook_driver::book::Book;
use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::ops::Range;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Marker {
    field: Vec<Field>,
}

/// A question with one input field: an order of items, a choice between options, or (without items and
/// options) a number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Field {
    ask: String,
    /// The name, without folders, of an included file that contains the right value; if no file is named, the
    /// page's own text contains the value.
    from: Option<String>,
    /// The expression whose first group matches the right value.
    find: Option<String>,
    unit: Option<String>,
    /// True if the number is measured, so that a value near it is right, too.
    #[serde(default)]
    about: bool,
    #[serde(default)]
    options: Vec<Choice>,
    /// Each item has a text and an expression. The right order follows from the numbers in the first groups;
    /// for expressions without a group, it follows from the positions at which the matches end.
    #[serde(default)]
    items: Vec<[String; 2]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    say: String,
    /// The value for which this option is right, if the value is not the text of the option.
    is: Option<String>,
    /// The fact that a reader who chooses this option has overlooked.
    but: Option<String>,
}

/// Replaces the block on each page of the book by the data for the script.
///
/// # Errors
/// Returns an error that names the faults of all blocks.
pub(super) fn put(book: &mut Book, sources: &Path) -> anyhow::Result<()> {
    let mut faults = Vec::new();
    book.for_each_chapter_mut(|chapter| {
        let Some(name) = chapter.source_path.as_ref().map(|path| path.display().to_string()) else { return };
        let page = Page { path: sources.join(&name), name, text: chapter.content.clone() };
        match marked(&page) {
            Ok(Some((place, data))) => {
                let data = data.to_string().replace('<', "\\u003c"); // so no text ends the element
                let script = format!("<script type=\"application/json\" class=\"predict\">{data}</script>");
                chapter.content.replace_range(place, &script);
            }
            Ok(None) => {}
            Err(fault) => faults.push(fault),
        }
    });
    ensure!(faults.is_empty(), "the book has predictions that cannot be judged:\n  {}", faults.join("\n  "));
    Ok(())
}

/// Returns the faults of the blocks, and the pages that have a *Predict* section without a block.
pub(super) fn faults(pages: &[Page]) -> Vec<String> {
    let fault = |page: &Page| match marked(page) {
        Err(fault) => Some(fault),
        Ok(Some(_)) => None,
        Ok(None) => {
            let heading = headings(page).find(|(_, text)| text.starts_with("## Predict"));
            heading
                .map(|(line, _)| page.fault(line, "has no block ```predict, so no field for the prediction"))
        }
    };
    pages.iter().filter_map(fault).collect()
}

fn headings(page: &Page) -> impl DoubleEndedIterator<Item = (usize, &str)> {
    let lines: Vec<_> =
        page.lines().filter(|line| line.block.is_none() && line.text.starts_with("## ")).collect();
    lines.into_iter().map(|line| (line.number, line.text))
}

/// Returns the place of a page's block and the data for the script.
fn marked(page: &Page) -> Result<Option<(Range<usize>, Value)>, String> {
    let fence = Regex::new(r"(?ms)^```predict\r?\n(.*?)^```\r?$").expect("a valid expression");
    let Some(block) = fence.captures(&page.text) else { return Ok(None) };
    let place = block.get_match().range();
    let line = page.text[..place.start].lines().count() + 1;
    let data = || {
        let section = headings(page).rfind(|(number, _)| *number < line);
        let is_predict = section.is_some_and(|(_, text)| text.starts_with("## Predict"));
        ensure!(is_predict, "a block ```predict belongs to the end of a section *Predict*");
        ensure!(fence.find_iter(&page.text).count() == 1, "a page has only one block ```predict");
        let marker: Marker = toml::from_str(&block[1])?;
        let text = fence.replace(&page.text, "").into_owned();
        let own = Page { path: page.path.clone(), name: page.name.clone(), text };
        let data = |field: &Field| field.data(&own).with_context(|| format!("{:?}", field.ask));
        let fields = marker.field.iter().map(data).collect::<anyhow::Result<Vec<_>>>()?;
        ensure!(!fields.is_empty(), "the block ```predict has no [[field]]");
        Ok(Value::Array(fields))
    };
    let data = data().map_err(|error: anyhow::Error| page.fault(line, format!("{error:#}").trim_end()))?;
    Ok(Some((place, data)))
}

impl Field {
    /// Returns the field as data for the script.
    fn data(&self, page: &Page) -> anyhow::Result<Value> {
        let text = self.text(page)?;
        let is_number = self.options.is_empty() && self.items.is_empty();
        ensure!(
            is_number || self.unit.is_none() && !self.about,
            "only a number has a unit, and only a number is about right"
        );
        ensure!(self.options.is_empty() || self.items.is_empty(), "it has options and items");
        if !self.items.is_empty() {
            ensure!(self.find.is_none(), "each item has an expression, so there is none for the field");
            return self.order(&text);
        }
        let value = found(self.find.as_deref().context("it has no `find`")?, &text)?;
        let value = value.get(1).context("the expression has no group")?.as_str();
        if is_number {
            let right = number(value)?;
            return Ok(
                json!({ "kind": "number", "ask": self.ask, "unit": self.unit, "about": self.about, "right": right }),
            );
        }
        let is_right = |option: &&Choice| option.is.as_ref().unwrap_or(&option.say) == value;
        let right: Vec<_> = self.options.iter().filter(is_right).map(|option| &option.say).collect();
        let [right] = right[..] else {
            bail!("`{value}` is right in {} of the options, and must be in one", right.len());
        };
        let options: Vec<_> =
            self.options.iter().map(|option| json!({ "say": option.say, "but": option.but })).collect();
        ensure!(options.len() > 1, "one option is no choice");
        Ok(json!({ "kind": "choice", "ask": self.ask, "options": options, "right": right }))
    }

    /// Returns the text that contains the right value.
    fn text(&self, page: &Page) -> anyhow::Result<String> {
        let Some(from) = &self.from else { return Ok(page.text.replace('\r', "")) };
        let is_named = |file: &&str| Path::new(file).ends_with(from);
        let file = includes(&page.text).map(|include| include.file).find(is_named);
        let file =
            page.path.with_file_name(file.with_context(|| format!("the page does not include {from}"))?);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {from}"))?;
        Ok(text.replace('\r', ""))
    }

    fn order(&self, text: &str) -> anyhow::Result<Value> {
        let mut places = Vec::new();
        for [item, expression] in &self.items {
            let captures = found(expression, text)?;
            #[expect(clippy::cast_precision_loss, reason = "no file has that many characters")]
            let place = captures.get(1).map_or_else(
                || Ok(captures.get(0).map_or(0, |all| all.end()) as f64),
                |group| number(group.as_str()),
            )?;
            places.push((place, item));
        }
        places.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let same = places.windows(2).find(|pair| pair[0].0.total_cmp(&pair[1].0).is_eq());
        if let Some([(_, one), (_, other)]) = same {
            bail!("{one:?} and {other:?} have the same place");
        }
        ensure!(places.len() > 1, "one item has no order");
        let shown: Vec<_> = self.items.iter().map(|[item, _]| item).collect();
        let right: Vec<_> = places.into_iter().map(|(_, item)| item).collect();
        ensure!(right != shown, "the items stand in the right order already");
        Ok(json!({ "kind": "order", "ask": self.ask, "items": shown, "right": right }))
    }
}

/// Returns the first match of an expression. In an expression, `^` and `$` match the ends of a line.
fn found<'a>(expression: &str, text: &'a str) -> anyhow::Result<Captures<'a>> {
    let lines = Regex::new(&format!("(?m){expression}"))?;
    lines.captures(text).ok_or_else(|| anyhow!("nothing matches `{expression}`"))
}

fn number(text: &str) -> anyhow::Result<f64> {
    text.replace(',', "").parse().with_context(|| format!("`{text}` is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: &str = "[[field]]\nask = 'When?'\nfrom = 'a.txt'\nfind = 'b: ([\\d.]+) s'\nunit = 's'\n";
    const CHOICE: &str = "[[field]]\nask = 'Who?'\nfrom = 'a.txt'\nfind = '^c (.*)$'\n\
                          options = [{ say = 'he' }, { say = 'she', is = 'has', but = 'No.' }]\n";
    const ORDER: &str =
        "[[field]]\nask = 'First?'\nfrom = 'a.txt'\nitems = [['c', '^c'], ['a', '^a'], ['b', '^b']]\n";

    /// Returns the data for a page with one block, or the page's only fault.
    fn read(page: &str, block: &str) -> Result<Value, String> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("transcripts")).unwrap();
        fs::write(dir.path().join("transcripts/a.txt"), "a: 9.5 s\nb: 1,004.5 s\nc has\n").unwrap();
        let text = page.replace(
            "BLOCK",
            &format!("```predict{}{block}```", if page.contains('\r') { "\r\n" } else { "\n" }),
        );
        let page = Page { path: dir.path().join("page.md"), name: "page.md".to_owned(), text };
        match (marked(&page), &faults(&[page])[..]) {
            (Ok(Some((_, data))), []) => Ok(data),
            (_, [fault]) => Err(fault.clone()),
            (_, faults) => panic!("{faults:?}"),
        }
    }

    const PAGE: &str =
        "# Page\n\n## Predict\n\nWhen?\n\nBLOCK\n\n## Run\n\n{{#include transcripts/a.txt}}\nAfter 7 s.\n";

    #[test]
    fn right_values_are_read_from_what_the_page_shows() {
        let data = read(PAGE, &NUMBER.replace("[\\d.]", "[\\d.,]")).unwrap();
        assert_eq!(
            data,
            json!([{ "kind": "number", "ask": "When?", "unit": "s", "about": false, "right": 1004.5 }])
        );
        let data = read(PAGE, "[[field]]\nask = 'When?'\nfind = 'After (\\d+) s'\nabout = true\n").unwrap();
        assert_eq!(
            data,
            json!([{ "kind": "number", "ask": "When?", "unit": null, "about": true, "right": 7.0 }])
        );
        let data = read(PAGE, &format!("{CHOICE}{ORDER}")).unwrap();
        let options = json!([{ "say": "he", "but": null }, { "say": "she", "but": "No." }]);
        assert_eq!(data[0], json!({ "kind": "choice", "ask": "Who?", "options": options, "right": "she" }));
        let order =
            |items: &str| read(PAGE, &ORDER.replace("['c', '^c'], ['a', '^a'], ['b', '^b']", items)).unwrap();
        assert_eq!(read(PAGE, ORDER).unwrap()[0]["right"], json!(["a", "b", "c"]));
        let windows = |text: &str| text.replace('\n', "\r\n");
        let own = "[[field]]\nask = 'When?'\nfind = '^After (.*) s.$'\n";
        assert_eq!(read(&windows(PAGE), &windows(own)).unwrap()[0]["right"], json!(7.0));
        assert_eq!(order(r"['b', 'b: ([\d,.]+)'], ['a', 'a: ([\d.]+)']")[0]["right"], json!(["a", "b"]));
    }

    #[test]
    fn each_kind_of_fault_is_named_with_its_page_and_line() {
        let choice = |old: &str, new: &str| CHOICE.replace(old, new);
        let order = |old: &str, new: &str| ORDER.replace(old, new);
        for (block, fault) in [
            (NUMBER.replace("a.txt", "b.txt"), "page.md:7: \"When?\": the page does not include b.txt"),
            (NUMBER.replace("b: ", "d: "), "nothing matches `d: ([\\d.]+) s`"),
            (NUMBER.replace("b: ([\\d.]+) s", "c (.*)"), "`has` is no number"),
            (NUMBER.replace("b: ([\\d.]+) s", "a: "), "the expression has no group"),
            (NUMBER.replace("b: ([\\d.]+) s", "("), "unclosed group"),
            (NUMBER.replace("find", "#"), "it has no `find`"),
            (NUMBER.replace("unit", "until"), "unknown field `until`"),
            (choice("is = 'has'", "is = 'had'"), "`has` is right in 0 of the options"),
            (choice("say = 'he'", "say = 'has'"), "`has` is right in 2 of the options"),
            (choice("{ say = 'he' }, ", ""), "one option is no choice"),
            (choice("options", "unit = 's'\noptions"), "only a number has a unit"),
            (order("items", "find = '(.)'\nitems"), "each item has an expression"),
            (order("['c', '^c'], ['a', '^a']", "['a', '^a']"), "stand in the right order already"),
            (order("'^c'", "'^a'"), "\"c\" and \"a\" have the same place"),
            (order("['c', '^c'], ['a', '^a'], ", ""), "one item has no order"),
            (
                format!("{ORDER}{}", choice("[[field]]\nask = 'Who?'\nfrom = 'a.txt'\n", "")),
                "it has options and items",
            ),
            ("field = []\n".to_owned(), "has no [[field]]"),
        ] {
            let found = read(PAGE, &block).unwrap_err();
            assert!(found.starts_with("page.md:7: ") && found.contains(fault), "{fault}: {found}");
        }
    }

    #[test]
    fn a_block_stands_once_in_its_section_and_each_section_has_one() {
        let fault = |old: &str, new: &str| read(&PAGE.replace(old, new), NUMBER).unwrap_err();
        assert_eq!(
            fault("BLOCK\n", ""),
            "page.md:3: has no block ```predict, so no field for the prediction"
        );
        assert!(fault("## Predict", "## Think").contains("belongs to the end of a section *Predict*"));
        assert!(fault("After 7 s.", "BLOCK").contains("only one block"));
        assert_eq!(
            faults(&[Page { path: "".into(), name: "p.md".into(), text: "# Page\n\n## Run\n".into() }]),
            [""; 0]
        );
    }
}
