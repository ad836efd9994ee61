//! The output of `crawl status`: the progress of a crawl, and the workers of the crawl.

use super::engine::{Engine, Trouble};
use anyhow::{anyhow, bail};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;

/// The index of the last worker that is shown, and of the last dead letter that is shown.
const SHOWN: &str = "9"; // the index 9 means ten lines

/// Returns the progress of the crawl as text.
///
/// # Errors
/// Fails if the engine does not answer, or if there is no such crawl.
pub fn print(engine: &str, crawl: &str) -> anyhow::Result<String> {
    let mut engine = Engine::at(engine, crawl)?;
    match read(&mut engine, crawl) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => bail!("there is no crawl {crawl} in this engine"),
        Err(trouble) => Err(anyhow!("{}", trouble.sentence())),
    }
}

fn read(engine: &mut Engine, crawl: &str) -> Result<Option<String>, Trouble> {
    let about: HashMap<String, String> = engine.ask("HGETALL", "about", &[])?;
    if about.is_empty() {
        return Ok(None);
    }
    let now = engine.now()?;
    let count = |name: &str| about.get(name).map_or("0", String::as_str);
    let mut text = format!(
        "{crawl}: {} pages over, {} to do, {} left to another run; {} seen\n",
        count("over"),
        count("open"),
        count("left"),
        count("seen")
    );
    let (leases, sites): (usize, usize) =
        (engine.ask("ZCARD", "leases", &[])?, engine.ask("HLEN", "sites", &[])?);
    let late: usize = engine.ask("ZCOUNT", "leases", &["-inf", &now.to_string()])?;
    let _ = writeln!(text, "{leases} leases, {late} of them have run out");
    let workers: Vec<(String, u64)> = engine.ask("ZREVRANGE", "workers", &["0", SHOWN, "WITHSCORES"])?;
    for (worker, at) in workers {
        let _ =
            writeln!(text, "worker {worker}: heard of {:.1} s ago", now.saturating_sub(at) as f64 / 1000.0);
    }
    let from = format!("({now}");
    let resting: usize = engine.ask("ZCOUNT", "due", &[&from, "+inf"])?;
    let _ = writeln!(text, "{sites} sites, {resting} of them rest");
    let rests: Vec<(String, u64)> =
        engine.ask("ZREVRANGEBYSCORE", "due", &["+inf", &from, "WITHSCORES", "LIMIT", "0", "10"])?;
    for (site, until) in rests {
        let known: Option<String> = engine.ask("HGET", "sites", &[&site])?;
        let known: Value = known.and_then(|known| serde_json::from_str(&known).ok()).unwrap_or_default();
        let waiting: usize = engine.ask("ZCARD", &format!("q:{site}"), &[])?;
        let seconds = until.saturating_sub(now) as f64 / 1000.0;
        let _ = write!(text, "  {site}: {waiting} pages wait, rests for {seconds:.1} s more");
        if let Some(since) = known["since"].as_f64().filter(|_| known["stripes"] == 0) {
            let _ = write!(text, ", away for {:.0} s", (now as f64 - since) / 1000.0);
        }
        text.push('\n');
    }
    let dead: usize = engine.ask("LLEN", "dead", &[])?;
    let _ = writeln!(text, "{dead} dead letters");
    let letters: Vec<String> = engine.ask("LRANGE", "dead", &["0", SHOWN])?;
    for letter in letters {
        let _ = writeln!(text, "  {}", letter.escape_debug());
    }
    Ok(Some(text))
}
