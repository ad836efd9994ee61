//! Proves that readers can read what the pages show: code is not wider than the page, texts of figures have
//! enough room, and colours stand out from their background.
//!
//! A book without its own `theme.css` is not checked.

mod code;
mod contrast;
mod figures;
mod style;

use self::style::Declaration;
use crate::book::pages::files_below;
use anyhow::Context;
use std::fs;
use std::path::Path;

/// Returns the faults that make the book, built from `sources` into `built`, hard to read.
///
/// # Errors
/// Returns an error if a page, a figure or a style sheet cannot be read.
pub(super) fn faults(sources: &Path, built: &Path) -> anyhow::Result<Vec<String>> {
    let Ok(theme) = fs::read_to_string(sources.join("../theme.css")) else { return Ok(Vec::new()) };
    let theme = style::declarations(&theme);
    let mut faults = code::faults(built, &theme)?;
    let pages = contrast::backgrounds(&of_mdbook(built)?);
    faults.extend(contrast::faults("theme.css", &theme, &pages));
    for path in files_below(sources, &|path| path.extension().is_some_and(|extension| extension == "svg"))? {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.strip_prefix(sources).unwrap_or(&path).display().to_string().replace('\\', "/");
        let figure = figures::read(&text)?;
        faults.extend(figures::faults(&name, &figure));
        let of_theme =
            |own: &Declaration| theme.iter().any(|of| of.name == own.name && of.is_within("figure "));
        let mut style = style::declarations(&figure.style);
        style.retain(|own| !own.name.starts_with("--") || !of_theme(own));
        faults.extend(contrast::faults(&name, &style, &contrast::paper(&style)));
    }
    Ok(faults)
}

/// Returns the colours of mdBook's own themes.
fn of_mdbook(built: &Path) -> anyhow::Result<Vec<Declaration>> {
    let is_it = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("variables") && name.ends_with(".css")
    };
    let paths = files_below(&built.join("css"), &is_it)?;
    let path = paths.first().context("mdBook has written no css/variables.css")?;
    Ok(style::declarations(&fs::read_to_string(path)?))
}
