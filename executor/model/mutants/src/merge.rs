//! Makes one text with all variants of a file: `fn f() { match crate::mutant() { 17 => {…} _ => {…} } }`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use proc_macro2::TokenTree;

use crate::source::{Source, is_word, name_of, tokens_of};

const SWITCH: &str = "{ match crate::mutant() {";
const IMPORTS: &str = "\n// What the mutants import.\n";

/// The function `mutant`, which is added to the root of each crate that compiles a merged file.
pub(crate) const WHICH: &str = "
/// Which mutant this process is.
#[allow(dead_code)]
pub(crate) fn mutant() -> u32 {
    static WHICH: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *WHICH.get_or_init(|| std::env::var(\"MUTANT\").map_or(0, |number| number.parse().expect(\"a number\")))
}
";

/// A file and its variants.
pub(crate) struct Merged<'a> {
    text: &'a str,
    source: Source<'a>,
    /// For each body with variants: the variants, and for each variant the mutants that have it.
    variants: BTreeMap<usize, Vec<(String, Vec<u32>)>>,
    imports: BTreeSet<String>,
}

impl<'a> Merged<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self> {
        Ok(Self { text, source: Source::of(text)?, variants: BTreeMap::new(), imports: BTreeSet::new() })
    }

    /// Returns the reason why a patched file cannot be a variant, or `None`.
    pub(crate) fn objection(&self, patched: &str) -> Result<Option<&'static str>> {
        let patched = Source::of(patched)?;
        if !patched.has_the_frame_of(&self.source) {
            return Ok(Some("it changes more than bodies of functions"));
        }
        if patched.bodies == self.source.bodies {
            return Ok(Some("it changes no body of a function"));
        }
        // The file's own imports can contain a name twice, for two configurations.
        let known = || self.source.uses.iter().chain(&self.imports);
        let clashes = |import: &&String| {
            name_of(import).is_some() && known().any(|k| name_of(k) == name_of(import) && k != *import)
        };
        let clash = patched.uses.difference(&self.source.uses).find(clashes);
        Ok(clash.map(|_| "it imports another thing of the same name"))
    }

    /// Adds a patched file for which [`objection`](Self::objection) has found no reason.
    pub(crate) fn add(&mut self, mutant: u32, patched: &str) -> Result<()> {
        let patched = Source::of(patched)?;
        self.imports.extend(patched.uses.difference(&self.source.uses).cloned());
        for (index, (body, own)) in patched.bodies.into_iter().zip(&self.source.bodies).enumerate() {
            if body != *own {
                let variants = self.variants.entry(index).or_default();
                match variants.iter_mut().find(|(known, _)| known == body) {
                    Some((_, mutants)) => mutants.push(mutant),
                    None => variants.push((body.to_owned(), vec![mutant])),
                }
            }
        }
        Ok(())
    }

    pub(crate) fn text(&self) -> Result<String> {
        let (mut out, mut done) = (String::new(), 0);
        for (index, variants) in &self.variants {
            let body = self.source.bodies[*index];
            let begin = body.as_ptr().addr() - self.text.as_ptr().addr();
            out.push_str(&self.text[done..begin]);
            out.push_str(SWITCH);
            for (variant, mutants) in variants {
                let pattern = mutants.iter().map(u32::to_string).collect::<Vec<_>>().join(" | ");
                write!(out, "\n{pattern} => {variant}")?;
            }
            write!(out, "\n_ => {body}\n}} }}")?;
            done = begin + body.len();
        }
        out.push_str(&self.text[done..]);
        if !self.imports.is_empty() {
            out.push_str(IMPORTS);
        }
        for import in &self.imports {
            writeln!(out, "#[allow(unused_imports)] use {};", import.replace("::self", "::{self}"))?;
        }
        Ok(out)
    }
}

/// Checks that a mutant of a merged file equals the patched file. The texts must be exactly equal. If the
/// patch changes imports, the bodies must be equal, and the mutant must have at least the imports of the
/// patched file. The check reads the merged text, not the plan for that text.
pub(crate) fn check(merged: &str, mutant: u32, patched: &str) -> Result<()> {
    let (put_back, imports) = put_back(merged, mutant)?;
    if put_back == patched {
        return Ok(());
    }
    let (is, should) = (Source::of(&put_back)?, Source::of(patched)?);
    let same_bodies = is.bodies == should.bodies && is.has_the_frame_of(&should) && is.uses != should.uses;
    ensure!(same_bodies, "put back, mutant {mutant} is not the patched file");
    let imported = |import| is.uses.contains(import) || imports.contains(import);
    ensure!(should.uses.iter().all(imported), "mutant {mutant} lacks an import");
    Ok(())
}

/// Returns the text of one mutant, and its additional imports.
pub(crate) fn put_back(merged: &str, mutant: u32) -> Result<(String, BTreeSet<String>)> {
    let (merged, imports) = merged.split_once(IMPORTS).unwrap_or((merged, ""));
    let (mut out, mut done) = (String::new(), 0);
    for body in Source::of(merged)?.bodies.into_iter().filter(|body| body.starts_with(SWITCH)) {
        let begin = body.as_ptr().addr() - merged.as_ptr().addr();
        out.push_str(&merged[done..begin]);
        out.push_str(arm(body, mutant)?);
        done = begin + body.len();
    }
    out.push_str(&merged[done..]);
    let imports = Source::of(imports)?.uses;
    Ok((out, imports.into_iter().map(|import| import.replace("{self}", "self")).collect()))
}

/// Returns the body of one mutant.
fn arm(switch: &str, mutant: u32) -> Result<&str> {
    let tokens = tokens_of(switch)?;
    let Some(TokenTree::Group(braces)) = tokens.first() else { anyhow::bail!("no body") };
    let Some(TokenTree::Group(arms)) = braces.stream().into_iter().last() else { anyhow::bail!("no arms") };
    let (wanted, mut here) = (mutant.to_string(), false);
    for token in arms.stream() {
        match &token {
            TokenTree::Literal(number) => here |= number.to_string() == wanted,
            TokenTree::Group(body) if here => return Ok(&switch[body.span().byte_range()]),
            token => here |= is_word(token, "_"),
        }
    }
    None.context("no arm is its own")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "use a::B;\n\nfn f() -> u8 { // one\n    1\n}\n\nimpl X {\n    fn g(&self) { B; }\n}\n";

    fn merged(variants: &[&str]) -> String {
        let mut merged = Merged::new(TEXT).unwrap();
        for (number, variant) in (1..).zip(variants) {
            assert_eq!(merged.objection(variant).unwrap(), None);
            merged.add(number, variant).unwrap();
        }
        merged.text().unwrap()
    }

    #[test]
    fn each_mutant_put_back_is_its_patched_file() {
        let two = TEXT.replace("    1", "    2");
        let both = two.replace("B;", "return;").replace("use a::return;", "use a::B;");
        let imports = TEXT.replace("use a::B;", "use a::B;\nuse c::D;").replace("{ B; }", "{ D; }");
        let merged = merged(&[&two, &both, &imports]);
        assert!(
            merged.contains("{ match crate::mutant() {\n1 | 2 => { // one\n    2\n}\n_ => {"),
            "{merged}"
        );
        assert!(merged.ends_with("use c::D;\n"), "{merged}");
        for (number, text) in [(0, TEXT), (1, &two), (2, &both), (3, &imports)] {
            check(&merged, number, text).unwrap();
        }
        for (number, text) in [(0, &*two), (1, TEXT), (1, &both), (3, &both), (4, &two)] {
            assert!(check(&merged, number, text).is_err(), "{number}");
        }
    }

    #[test]
    fn a_lost_import_is_noticed() {
        let imports = TEXT.replace("use a::B;", "use a::B;\nuse c::D;").replace("{ B; }", "{ D; }");
        let merged = merged(&[&imports]);
        assert!(check(&merged.replace("use c::D;", "use c::E;"), 1, &imports).is_err());
    }

    #[test]
    fn what_cannot_be_a_variant_is_said() {
        let merged = Merged::new(TEXT).unwrap();
        for other in [
            TEXT.replace("fn f", "pub fn f"),
            TEXT.to_owned(),
            TEXT.replace("use a::B;", "use a::{B, C};"),
            TEXT.replace("use a::B;", "use c::B;").replace("{ B; }", "{ B }"),
        ] {
            assert!(merged.objection(&other).unwrap().is_some(), "{other}");
        }
    }
}
