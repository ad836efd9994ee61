//! Checks whether colours stand out from their background, in light and dark themes: the contrast must reach
//! level AA of the Web Content Accessibility Guidelines.

use super::Declaration;
use regex::Regex;
use std::collections::BTreeMap;

/// The lowest allowed contrast of a text.
const TEXT: f64 = 4.5;
/// The lowest allowed contrast of a line, or of an area with a meaning.
const SHAPE: f64 = 3.0;
/// Variables and classes for the colours of texts, in the styles of the theme and of the figures.
const TEXTS: [&str; 4] = ["text", ".small", "--ink", "--bad"];
/// Classes for texts within coloured areas.
const WITHIN: [&str; 2] = [".within", ".on-colour"];
/// Colours without a meaning: backgrounds, and lines that only guide the eye.
const FREE: [&str; 4] = ["--paper", ".paper", ".grid", ".band"];

/// Red, green and blue, each from 0 to 1.
type Colour = [f64; 3];

/// The background behind colours: the page of a theme, or the paper of a chart.
pub(super) struct Background {
    name: &'static str,
    is_dark: bool,
    paper: Colour,
    text: Colour,
}

/// Returns the pages of mdBook's themes.
pub(super) fn backgrounds(of_mdbook: &[Declaration]) -> Vec<Background> {
    let themes = [("light", false), ("rust", false), ("coal", true), ("navy", true), ("ayu", true)];
    let page = |(name, is_dark): (&'static str, bool)| {
        let value = |wanted: &str| {
            let is_it = |found: &&Declaration| {
                found.name == wanted && matches!(&found.rules[..], [rule] if rule.contains(name))
            };
            of_mdbook.iter().find(is_it).and_then(|found| colour(&found.value))
        };
        Some(Background { name, is_dark, paper: value("--bg")?, text: value("--fg")? })
    };
    themes.into_iter().filter_map(page).collect()
}

/// Returns the paper of a figure (the colour behind it), for the light and the dark theme, if the figure has
/// its own paper.
pub(super) fn paper(style: &[Declaration]) -> Vec<Background> {
    let paper = |(name, is_dark)| {
        let colours = colours(style, is_dark);
        let either = |one: &str, other: &str| colours.get(one).or(colours.get(other)).copied();
        let (paper, text) = (either(".paper", "--paper")?, either("text", "--ink")?);
        Some(Background { name, is_dark, paper, text })
    };
    [("the light", false), ("the dark", true)].into_iter().filter_map(paper).collect()
}

/// Returns the colours that do not stand out from their background, and the papers that stay light in the
/// dark theme.
pub(super) fn faults(name: &str, style: &[Declaration], behind: &[Background]) -> Vec<String> {
    let mut faults = Vec::new();
    if let [light, dark] = behind
        && contrast(light.paper, dark.paper) < SHAPE
    {
        faults.push(format!("{name}: its paper is as light in the dark"));
    }
    for background in behind {
        for Pair { what, colour, behind, least } in pairs(style, background) {
            let (theme, contrast) = (background.name, contrast(colour, behind));
            if contrast < least {
                faults.push(format!(
                    "{name}: in {theme}, {what} has a contrast of {contrast:.2}, less than {least}"
                ));
            }
        }
    }
    faults
}

/// A colour, its background, and the lowest allowed contrast between the two.
struct Pair {
    what: String,
    colour: Colour,
    behind: Colour,
    least: f64,
}

/// Returns the colours of a style, each with its background.
fn pairs(style: &[Declaration], background: &Background) -> Vec<Pair> {
    let Background { is_dark, paper, text, .. } = *background;
    let colours = colours(style, is_dark);
    let mut pairs = Vec::new();
    for (key, &colour) in &colours {
        let mut add = |behind, least| pairs.push(Pair { what: key.clone(), colour, behind, least });
        match key.as_str() {
            key if FREE.contains(&key) => {}
            key if TEXTS.contains(&key) => add(paper, TEXT),
            key if WITHIN.contains(&key) => {
                for area in colours.iter().filter(|(key, _)| is_area(key)).map(|(_, area)| *area) {
                    add(area, TEXT);
                }
            }
            _ => add(paper, SHAPE),
        }
    }
    for faint in style.iter().filter(|found| found.name == "opacity") {
        let Ok(opacity) = faint.value.parse::<f64>() else { continue };
        let colour = [0, 1, 2].map(|part| text[part] * opacity + paper[part] * (1.0 - opacity));
        pairs.push(Pair { what: faint.rules.join(" "), colour, behind: paper, least: TEXT });
    }
    pairs
}

/// Returns whether this is the colour of areas that contain texts.
fn is_area(key: &str) -> bool {
    key.starts_with("--figure-") || matches!(key, ".s0" | ".s1" | ".s2" | ".s3" | ".s4")
}

/// Returns the colours that a style gives to variables and classes, in the light or the dark theme. Skips
/// colours for printing on paper, and values that are not a plain colour.
fn colours(style: &[Declaration], is_dark: bool) -> BTreeMap<String, Colour> {
    let mut colours = BTreeMap::new();
    for declaration in style.iter().filter(|found| !found.is_within("print")) {
        let is_for_the_dark = declaration.is_within("dark)") || declaration.is_within(".navy");
        let Some(colour) = colour(&declaration.value).filter(|_| is_dark || !is_for_the_dark) else {
            continue;
        };
        let selector = declaration.rules.last().map_or("", String::as_str);
        let class = selector.rsplit(' ').next().unwrap_or_default();
        let key = if declaration.name.starts_with("--") { &declaration.name } else { class };
        colours.insert(key.to_owned(), colour);
    }
    colours
}

/// Parses the colour in a value: `#rgb`, `#rrggbb` or `hsl()`.
fn colour(value: &str) -> Option<Colour> {
    let of = |pattern: &str| Regex::new(pattern).expect("a valid expression").captures(value);
    if let Some(hsl) = of(r"hsl\((\d+), (\d+)%, (\d+)%\)") {
        let [hue, saturation, light] = [1, 2, 3].map(|part| hsl[part].parse().unwrap_or(0.0));
        let (saturation, light): (f64, f64) = (saturation / 100.0, light / 100.0);
        let share = |shift: f64| {
            let place = (shift + hue / 30.0) % 12.0;
            light - saturation * light.min(1.0 - light) * (place - 3.0).min(9.0 - place).clamp(-1.0, 1.0)
        };
        return Some([0.0, 8.0, 4.0].map(share));
    }
    let digits = of(r"#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")?[1].to_owned();
    let digit = |at: usize| f64::from(u8::from_str_radix(&digits[at..=at], 16).unwrap_or(0));
    let part = |part| match digits.len() {
        3 => digit(part) * 17.0,
        _ => digit(2 * part) * 16.0 + digit(2 * part + 1),
    };
    Some([0, 1, 2].map(|number| part(number) / 255.0))
}

/// Returns the contrast of two colours, from 1 to 21.
fn contrast(one: Colour, other: Colour) -> f64 {
    let luminance = |colour: Colour| {
        let [red, green, blue] = colour
            .map(|part| if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) });
        0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    };
    let (one, other) = (luminance(one), luminance(other));
    one.max(other) / one.min(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::readable::style::declarations;

    #[test]
    fn contrasts_are_those_of_the_guidelines() {
        for (one, other, expected) in [
            ("#fff", "#000", 21.0),
            ("#777", "#ffffff", 4.48),
            ("hsl(0, 0%, 100%)", "#c98a1b", 2.94),
            ("hsl(226, 23%, 11%)", "#161923", 1.0),
            ("hsl(60, 9%, 87%)", "#e1e1db", 1.0),
        ] {
            let found = contrast(colour(one).unwrap(), colour(other).unwrap());
            assert!((found - expected).abs() < 0.01, "{one} on {other}: {found}");
        }
        assert_eq!(colour("#8a8a8a33"), None, "this lets something shine through");
    }

    const CHART: &str =
        "text { fill: #222 } .within { fill: #fff } .paper { fill: #fff } .grid { stroke: #ccc }
        .s0 { color: #2f6f9f }
        @media screen and (prefers-color-scheme: dark) {
            text { fill: #ddd } .within { fill: #111 } .paper { fill: #1b1b1b } .s0 { color: #6fb3e0 } }";

    fn of_a_chart(style: &str) -> Vec<String> {
        let style = declarations(style);
        faults("a.svg", &style, &paper(&style))
    }

    #[test]
    fn each_colour_of_a_chart_is_compared_with_what_is_behind_it() {
        assert_eq!(of_a_chart(CHART), Vec::<String>::new());
        for (now, then, fault) in [
            ("text { fill: #222 }", "text { fill: #777 }", "in the light, text has a contrast of 4.48"),
            ("text { fill: #ddd }", "text { fill: #666 }", "in the dark, text has a contrast of 3.00"),
            ("#2f6f9f", "#a0b0c0", "in the light, .s0 has a contrast of 2.22, less than 3"),
            (".within { fill: #111 }", "", "in the dark, .within has a contrast of 2.28"),
            (".paper { fill: #1b1b1b }", "", "its paper is as light in the dark"),
        ] {
            let faults = of_a_chart(&CHART.replace(now, then)).join("\n");
            assert!(faults.contains(fault), "{then}: {faults}");
        }
    }

    #[test]
    fn the_colours_of_the_theme_are_compared_with_each_page() {
        let of_mdbook = ".light, html:not(.js) { --bg: hsl(0, 0%, 100%); --fg: #000 }
            .navy { --bg: hsl(226, 23%, 11%); --fg: #bcbdd0 } @media print { .light { --bg: #000 } }";
        let pages = backgrounds(&declarations(of_mdbook));
        let of_a_theme = |theme: &str| faults("theme.css", &declarations(theme), &pages);
        let theme = ":root { --figure-wait: #b35c00 } .navy { --figure-wait: #e2b04f }
            .facts { opacity: 0.8 } .on-colour { fill: #fff } .navy .on-colour { fill: #111 }";
        assert_eq!(of_a_theme(theme), Vec::<String>::new());
        let faults = of_a_theme(&theme.replace("#b35c00", "#c98a1b"));
        assert_eq!(faults.len(), 2, "the area on the page, and the text on it: {faults:?}");
        assert!(
            faults[1].starts_with("theme.css: in light, .on-colour has a contrast of 2.94"),
            "{faults:?}"
        );
        let faults = of_a_theme(&theme.replace("0.8", "0.4"));
        assert!(faults[0].starts_with("theme.css: in light, .facts has a contrast of 2.85"), "{faults:?}");
    }
}
