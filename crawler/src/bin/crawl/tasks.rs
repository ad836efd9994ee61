//! What the tasks of a crawl do: ask a site for its rules, fetch a page, and start what may be fetched after that.

use super::Crawl;
use crawler::web::frontier::{Job, Kind, Trouble, pause_after};
use crawler::web::keeper::Outcome;
use crawler::web::rules::{Asking, Step};
use crawler::web::run::Run;
use crawler::web::state::Record;
use crawler::web::visit::Visit;
use executor::{CancelReason, CancelToken, Cancelled, ExecutorExt, OwnedPermit, masked};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

impl Crawl {
    /// Has a page fetched, or a site asked. If the crawl is being stopped, it stays where it is: waiting, in the state.
    pub(super) fn start(self: &Arc<Self>, page: Job) {
        match page.kind {
            Kind::Robots => self.ask(Asking::begin(page)),
            Kind::Page => self.submit(page.clone(), move |crawl, token| crawl.page(page, token)),
        }
    }

    fn submit<F>(self: &Arc<Self>, tag: Job, task: F)
    where
        F: FnOnce(&Arc<Crawl>, &CancelToken) -> Result<(), Cancelled> + Send + 'static,
    {
        let crawl = Arc::clone(self);
        let _handle = self.pages.tagged(tag).submit_cancellable(move |token| task(&crawl, token));
    }

    /// Asks a site for its rules and its lists, one thing at a time. Then its pages may start.
    fn ask(self: &Arc<Self>, asking: Asking) {
        self.submit(asking.site.clone(), move |crawl, token| {
            let Run { frontier, visitor, .. } = &*crawl.run;
            match asking.step(visitor, token)? {
                Step::Away(site, why, asked) => crawl.trouble(&site, frontier.away(&site, asked), &why),
                Step::Next(asking, pause) => crawl.later(pause, move |crawl| crawl.ask(asking)),
                Step::Known(site, rules, listed) => {
                    let stripes = visitor.heed(&site.site, rules);
                    let listed = frontier.add(listed);
                    if listed.left_out > 0 {
                        let (site, count) = (&site.site, listed.left_out);
                        visitor.note(format!("{site} lists {count} pages more than --pages takes on"));
                    }
                    // Before any page of the site, so that no page is done whose site's list could be lost.
                    if crawl.send(None, listed.new, None) {
                        let ready = frontier.open_site(&site.site, stripes);
                        ready.into_iter().chain(listed.ready).for_each(|page| crawl.start(page));
                    }
                }
            }
            Ok(())
        });
    }

    // ANCHOR: page
    /// What a task does with a page. Cut off before the outcome is sent, nothing has happened; after that, nothing is lost.
    fn page(self: &Arc<Self>, page: Job, token: &CancelToken) -> Result<(), Cancelled> {
        let permit = self.in_flight.acquire().map_err(|_| Cancelled)?.into_owned();
        let site = Arc::clone(&page.site);
        let mut rest = self.run.visitor.delay(&site);
        match self.run.visitor.visit(&page, token)? {
            Visit::Over(record, links) => self.over(page, *record, links, permit),
            Visit::Forbidden(record) => {
                rest = Duration::ZERO;
                self.over(page, *record, Vec::new(), permit);
            }
            Visit::Waits(why) => {
                rest = Duration::ZERO;
                self.run.visitor.note(format!("{} waits for another run: {why}", page.url));
                self.run.frontier.leave(&site);
            }
            Visit::Again(failure) => {
                let trouble = self.run.frontier.failed(page.clone(), failure);
                self.trouble(&page, trouble, &failure.to_string());
            }
            Visit::Unwritten(error) => self.fail(error),
        }
        // The stripe rests. The timer waits, and no thread that could fetch.
        self.later(rest, move |crawl| {
            crawl.run.frontier.free(&site).into_iter().for_each(|page| crawl.start(page));
        });
        self.end_if_nothing_is_open();
        Ok(())
    }

    /// Does what follows if a page, or the site of a job, could not be had.
    fn trouble(self: &Arc<Self>, job: &Job, trouble: Trouble, why: &str) {
        match trouble {
            Trouble::OfThePage(retry) => self.later(pause_after(job.attempts), move |crawl| {
                crawl.run.frontier.again(retry).into_iter().for_each(|page| crawl.start(page));
                crawl.end_if_nothing_is_open();
            }),
            Trouble::OfTheSite(pause, asking) => self.later(pause, move |crawl| crawl.start(asking)),
            Trouble::Left(pages) => {
                let site = &job.site;
                self.run
                    .visitor
                    .note(format!("{site} is away ({why}): {pages} of its pages wait for another run"));
                self.end_if_nothing_is_open();
            }
            Trouble::Known => (),
        }
    }

    fn end_if_nothing_is_open(&self) {
        if self.run.frontier.open_pages() == 0 {
            self.is_over.count_down();
        }
    }

    /// A page is over. New pages are counted before that, and start after its outcome has been sent.
    fn over(self: &Arc<Self>, page: Job, record: Record, links: Vec<Job>, permit: OwnedPermit) {
        let added = self.run.frontier.add(links);
        let is_well = record.status.is_some_and(|status| status != 429 && status < 500);
        if !self.send(Some((page.url, record)), added.new, Some(permit)) {
            return;
        }
        added.ready.into_iter().for_each(|page| self.start(page));
        if self.run.frontier.done(&page.site, is_well) {
            self.is_over.count_down();
        }
    }
    // ANCHOR_END: page

    /// Hands an outcome to the keeper, also while the crawl is being stopped. Not if the state cannot be written.
    pub(super) fn send(
        &self,
        page: Option<(Arc<str>, Record)>,
        found: Vec<Job>,
        permit: Option<OwnedPermit>,
    ) -> bool {
        masked(|| self.outcomes.put(Outcome { page, found, permit }).is_ok())
    }

    /// Does something after a time.
    fn later(self: &Arc<Self>, pause: Duration, next: impl FnOnce(&Arc<Crawl>) + Send + 'static) {
        let crawl = Arc::clone(self);
        if pause.is_zero() {
            return next(&crawl);
        }
        let _ = self.timer.schedule(pause, move || next(&crawl));
    }

    /// Ends the crawl, because it cannot go on.
    fn fail(&self, error: anyhow::Error) {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop.cancel_because(CancelReason::new("a page cannot be written"));
    }
}
