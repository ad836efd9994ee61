//! Reads style sheets, as far as the checks need this.

/// A declaration of a style sheet.
pub(super) struct Declaration {
    /// The texts before the braces around the declaration, from the outermost to the innermost: conditions
    /// and selectors.
    pub(super) rules: Vec<String>,
    pub(super) name: String,
    pub(super) value: String,
}

impl Declaration {
    /// Returns whether a rule around the declaration contains this text.
    pub(super) fn is_within(&self, text: &str) -> bool {
        self.rules.iter().any(|rule| rule.contains(text))
    }
}

/// Returns all declarations of a style sheet, in their order.
pub(super) fn declarations(css: &str) -> Vec<Declaration> {
    let (mut found, mut rules, mut text) = (Vec::new(), Vec::new(), String::new());
    for character in without_comments(css).chars() {
        match character {
            '{' => rules.push(std::mem::take(&mut text).trim().to_owned()),
            ';' | '}' => {
                if let Some((name, value)) = text.split_once(':') {
                    let [name, value] = [name, value].map(|part| part.trim().to_owned());
                    found.push(Declaration { rules: rules.clone(), name, value });
                }
                text.clear();
                if character == '}' {
                    rules.pop();
                }
            }
            _ => text.push(character),
        }
    }
    found
}

fn without_comments(css: &str) -> String {
    let mut parts = css.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").map_or("", |(_, after)| after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_know_the_rules_around_them() {
        let css = "/* a: b; */ :root { --a: #fff }\n@media print { .x, .y > p { fill: red; width: 1px; & a { b: c } } }";
        let found: Vec<_> = declarations(css)
            .into_iter()
            .map(|found| format!("{} / {} = {}", found.rules.join(" / "), found.name, found.value))
            .collect();
        assert_eq!(
            found,
            [
                ":root / --a = #fff",
                "@media print / .x, .y > p / fill = red",
                "@media print / .x, .y > p / width = 1px",
                "@media print / .x, .y > p / & a / b = c",
            ]
        );
    }
}
