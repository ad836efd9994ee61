//! Joins a process to a crawl: all processes have the same flags, and each process has its own file.

use super::engine::{Engine, Trouble};
use super::{Joining, wire};
use crate::web::crawl::state::{Changes, State};
use anyhow::{anyhow, bail};
use serde_json::Value;
use std::collections::HashSet;

/// The key of a note in a state; the note names the crawl to which the pages of the state belong.
const CRAWL: &str = "shared crawl";

/// The first process sets the flags of the crawl. Another process is refused if its flags differ, because
/// otherwise the set of pages would depend on the process that finds the pages. Returns the secret key of
/// the crawl's hashes.
pub(super) fn agree(engine: &mut Engine, how: &Joining) -> Result<anyhow::Result<u64>, Trouble> {
    engine.ask::<bool>("HSETNX", "about", &["settings", &how.settings.to_string()])?;
    engine.ask::<bool>("HSETNX", "about", &["secret", &fastrand::u64(..).to_string()])?;
    let (settings, secret): (String, u64) = engine.ask("HMGET", "about", &["settings", "secret"])?;
    let settings = serde_json::from_str(&settings).unwrap_or_default();
    let differ = differences(&settings, &how.settings);
    Ok(if differ.is_empty() {
        Ok(secret)
    } else {
        Err(anyhow!(
            "the crawl {} has other flags, {}: say the same, or name another crawl",
            how.crawl,
            differ.join(", ")
        ))
    })
}

/// Returns the settings that differ, in words.
fn differences(theirs: &Value, ours: &Value) -> Vec<String> {
    let (Some(theirs), Some(ours)) = (theirs.as_object(), ours.as_object()) else {
        return vec!["which this version does not know".to_owned()];
    };
    let names: HashSet<_> = theirs.keys().chain(ours.keys()).collect();
    let value = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    let mut differ: Vec<_> = names
        .into_iter()
        .filter(|name| theirs.get(*name) != ours.get(*name))
        .map(|name| format!("{name} {} and not {}", value(theirs.get(name)), value(ours.get(name))))
        .collect();
    differ.sort();
    differ
}

/// Refuses a file of another crawl: a file has the pages of only one crawl, because otherwise the graph of
/// the file would mix two crawls.
pub(super) fn refuse_others(state: &State, crawl: &str) -> anyhow::Result<()> {
    let path = state.path().display();
    match state.note(CRAWL)? {
        Some(note) if !note.starts_with(&format!("{crawl} ")) => Err(of_another(state)),
        None if !state.is_empty()? => {
            bail!("{path} has pages of a crawl without --frontier: name another file with --state")
        }
        _ => Ok(()),
    }
}

fn of_another(state: &State) -> anyhow::Error {
    anyhow!("{} has pages of another crawl: name another file with --state", state.path().display())
}

/// Returns the name of the file in the engine, and whether the file is new. A file is refused if it belongs
/// to an earlier, deleted crawl of the same name.
pub(super) fn check_state(state: &State, crawl: &str, secret: u64) -> anyhow::Result<(String, bool)> {
    let of_this = format!("{crawl} {secret:x} ");
    if let Some(note) = state.note(CRAWL)? {
        let name = note.strip_prefix(&of_this).ok_or_else(|| of_another(state))?;
        return Ok((name.to_owned(), false));
    }
    let name = format!("{:x}", fastrand::u64(..));
    state.set_note(CRAWL, &(of_this + &name))?;
    Ok((name, true))
}

/// An entry of the stream of records: its mark, and then its names and values in alternation.
type Entry = (String, Vec<String>);

/// Writes records that an earlier run with this file has left in the engine: the run ended before it wrote
/// them to the file. After this call, the engine may delete the records that were written.
pub(super) fn recall(engine: &mut Engine, state: &State, file: &str) -> Result<anyhow::Result<()>, Trouble> {
    let (stream, mut from) = (format!("done:{file}"), "-".to_owned());
    loop {
        let entries: Vec<Entry> = engine.ask("XRANGE", &stream, &[&from, "+", "COUNT", "1000"])?;
        let Some((last, _)) = entries.last() else { break };
        from = format!("({last}");
        if let Err(error) = write_what_is_missing(state, &entries) {
            return Ok(Err(error));
        }
    }
    engine.ask::<()>("DEL", &stream, &[]).map(Ok)
}

fn write_what_is_missing(state: &State, entries: &[Entry]) -> anyhow::Result<()> {
    let mut changes = Changes::default();
    for (_, entry) in entries {
        if let [_, url, _, record] = &entry[..]
            && !state.has(url)?
            && let Some(record) = wire::record(record)
        {
            changes.over.push((url.as_str().into(), record));
        }
    }
    state.commit(&changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_differs_is_named() {
        let ours = json!({ "--depth": 3, "--delay": 1000 });
        assert_eq!(differences(&ours, &ours), Vec::<String>::new());
        assert_eq!(
            differences(&json!({ "--depth": 4, "--delay": 1000, "--only": ["*"] }), &ours),
            ["--depth 4 and not 3", "--only [\"*\"] and not nothing"]
        );
        assert_eq!(differences(&Value::Null, &ours), ["which this version does not know"]);
    }
}
