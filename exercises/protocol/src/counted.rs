use std::fmt::Display;

/// Returns a number of things in words: "1 thread", "2 threads". The function works for nouns whose plural
/// ends in `s`.
pub fn counted(number: impl Display, thing: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "thread")), ["0 threads", "1 thread", "2 threads"]);
        assert_eq!(counted(1.5, "request"), "1.5 requests");
    }
}
