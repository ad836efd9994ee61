//! A period in which the engine does not answer.

use super::engine::{Engine, Trouble};
use anyhow::{anyhow, bail};
use executor::CancelToken;
use std::time::{Duration, Instant};

/// The pause after the first failure, and the longest pause; each pause is twice the previous pause.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The start of the outage and the time of the next request, or `None` if the engine answers.
#[derive(Default)]
pub(super) struct Outage(Option<Times>);

struct Times {
    since: Instant,
    next: Instant,
    pause: Duration,
}

impl Outage {
    /// Records that the engine has failed. Reports the outage once, and returns the pause before the next
    /// request to the engine.
    ///
    /// # Errors
    /// Fails if the outage would last longer than the `patience`.
    pub(super) fn goes_on(&mut self, trouble: &Trouble, patience: Duration) -> anyhow::Result<Duration> {
        let (now, sentence) = (Instant::now(), trouble.sentence());
        let times = self.0.get_or_insert_with(|| {
            command_line::say(format_args!("crawl: {sentence}; it is tried again, and nothing is lost"));
            Times { since: now, next: now, pause: FIRST_PAUSE }
        });
        let away = now.saturating_duration_since(times.since);
        if away + times.pause > patience {
            bail!("{sentence}, for {} s: the same command goes on from here", away.as_secs());
        }
        let pause = times.pause;
        times.next = now + pause;
        times.pause = (pause * 2).min(LONGEST_PAUSE);
        Ok(pause)
    }

    /// Records that the engine has answered.
    pub(super) fn is_over(&mut self) {
        if let Some(times) = self.0.take() {
            let seconds = times.since.elapsed().as_secs_f64();
            command_line::say(format_args!("crawl: the engine answers again, after {seconds:.1} s"));
        }
    }

    /// Returns the time until the next request to the engine. Returns `None` if the engine answers.
    pub(super) fn left(&self) -> Option<Duration> {
        self.0.as_ref().map(|times| times.next.saturating_duration_since(Instant::now()))
    }
}

/// Repeats the request until there is an answer; a process that joins a crawl can do nothing else
/// meanwhile. This function does not wait if the problem needs the engine's operator.
///
/// # Errors
/// Returns a sentence for the user, even if `stop` is cancelled.
pub(super) fn until_it_answers<T>(
    engine: &mut Engine,
    patience: Duration,
    stop: &CancelToken,
    mut ask: impl FnMut(&mut Engine) -> Result<T, Trouble>,
) -> anyhow::Result<T> {
    let mut outage = Outage::default();
    loop {
        match ask(engine) {
            Ok(answer) => {
                outage.is_over();
                return Ok(answer);
            }
            Err(Trouble::Passing(sentence)) => {
                let pause = outage.goes_on(&Trouble::Passing(sentence), patience)?;
                stop.sleep(pause).map_err(|_| anyhow!("stopped before the crawl was joined"))?;
            }
            Err(trouble) => bail!("{}", trouble.sentence()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_patience_is_at_its_end() {
        let (mut outage, trouble) = (Outage::default(), Trouble::Passing("the engine is away".to_owned()));
        assert_eq!(outage.left(), None);
        let mut pause = || outage.goes_on(&trouble, Duration::from_secs(2)).map(|pause| pause.as_millis());
        assert_eq!([(); 5].map(|()| pause().unwrap()), [100, 200, 400, 800, 1600]);
        assert!(pause().unwrap_err().to_string().starts_with("the engine is away, for 0 s"));
        assert!(outage.left().is_some());
        outage.is_over();
        assert_eq!(outage.left(), None);
    }
}
