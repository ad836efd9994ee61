//! Follows every link of the built book that leads to a place in the book: the page or file must exist, and
//! so must the `#fragment`.

use crate::book::pages::files_below;
use anyhow::Context;
use executor::CancelToken;
use hypertext::html::{self, Reader, Tag};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The links of a page, and the places on the page to which links can lead.
#[derive(Default)]
struct Html {
    links: Vec<String>,
    fragments: BTreeSet<String>,
}

/// Returns the links of the book in `dir` that lead to a target that does not exist.
///
/// # Errors
/// Returns an error if a page cannot be read.
pub(super) fn faults(dir: &Path) -> anyhow::Result<Vec<String>> {
    let paths = files_below(dir, &|path| path.extension().is_some_and(|extension| extension == "html"))?;
    let mut pages = BTreeMap::new();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        pages.insert(path, html::read(&text, Html::default(), &CancelToken::current())?);
    }
    let mut faults = BTreeSet::new();
    for (path, page) in &pages {
        let name = path.strip_prefix(dir).unwrap_or(path).display();
        // These two pages are skipped: the page for printing repeats the other pages, and the page for
        // missing pages is shown at many addresses.
        if path.file_name().is_some_and(|file| file == "print.html" || file == "404.html") {
            continue;
        }
        for link in &page.links {
            if let Err(fault) = follow(dir, path, link, &pages) {
                faults.insert(format!("{name}: the link to {link} {fault}"));
            }
        }
    }
    Ok(faults.into_iter().collect())
}

fn follow(dir: &Path, from: &Path, link: &str, pages: &BTreeMap<PathBuf, Html>) -> Result<(), String> {
    let (path, fragment) =
        link.split_once('#').map_or((link, None), |(path, fragment)| (path, Some(fragment)));
    let path = path.split('?').next().unwrap_or_default();
    let elsewhere =
        link.starts_with("//") || path.split_once(':').is_some_and(|(scheme, _)| !scheme.contains('/'));
    if elsewhere {
        return Ok(()); // links to the web are not checked
    }
    let target = match path {
        "" => from.to_path_buf(),
        path => plain(&from.parent().unwrap_or(dir).join(decoded(path))),
    };
    if !target.starts_with(dir) {
        return Err("leaves the book; it works only for those who have the sources beside it".into());
    }
    let target = if target.is_dir() { target.join("index.html") } else { target };
    if !target.is_file() {
        return Err("leads nowhere: there is no such file".into());
    }
    match (fragment, pages.get(&target)) {
        (Some(fragment), Some(page))
            if !fragment.is_empty() && !page.fragments.contains(&decoded(fragment)) =>
        {
            Err(format!("leads to a page that has nothing called #{fragment}"))
        }
        _ => Ok(()),
    }
}

/// Returns the path with `.` and `..` resolved.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

impl Reader for Html {
    fn tag(&mut self, tag: &Tag<'_>) {
        for (name, value) in tag.attributes() {
            match name {
                "id" | "name" => drop(self.fragments.insert(value.to_owned())),
                "href" | "src" => self.links.push(value.to_owned()),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(page: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("part")).unwrap();
        fs::write(dir.path().join("index.html"), "<h1 id=\"top\">Top</h1>").unwrap();
        fs::write(dir.path().join("part/page.html"), page).unwrap();
        faults(dir.path()).unwrap()
    }

    #[test]
    fn links_that_lead_somewhere_are_fine() {
        let page = r##"<a id="here"></a><a href="#here">a</a><a href="../index.html#top">b</a><img src="../">
                       <a href="https://example.org/x#y">c</a><a href="mailto:a@b">d</a><a href="page.html?highlight=x">e</a>
                       <script>let no = '<a href="nowhere.html">';</script>"##;
        assert_eq!(faults_of(page), Vec::<String>::new());
    }

    #[test]
    fn each_kind_of_broken_link_is_named() {
        for (link, fault) in [
            ("gone.html", "part/page.html: the link to gone.html leads nowhere"),
            ("#gone", "nothing called #gone"),
            ("../index.html#bottom", "nothing called #bottom"),
            ("../../../secret.rs", "leaves the book"),
        ] {
            let found = faults_of(&format!("<p><a href=\"{link}\">x</a>"));
            assert!(found.len() == 1 && found[0].contains(fault), "{link}: {found:?}");
        }
        assert_eq!(faults_of("<img src=\"gone.svg\">").len(), 1);
    }
}
