//! Remembers the runs that have been tried, so that no run is tried twice.
//!
//! Only random choices decide a run: a run is a sequence of a [`Question`], an answer, the next question, and
//! so on. So the runs of a property are a tree. Each node has the next question, and there is a branch below
//! the node for every answer that was given so far. The course of a run is known before the run: [`Tried`]
//! follows the tree downwards, and takes each answer from the run's random choices. If this path through the
//! tree reaches an end, the same run was tried before. That run has passed, because a run that fails is the
//! last run.
//!
//! An answer to the exercise could decide by something other than chance: by a clock, by the order in a
//! `HashMap`, or by a `static` that an earlier run has changed. Then a question differs from the question in
//! the tree, and from that moment on, no run is skipped.
//!
//! Remembering a run takes about a tenth of the run's time. So repeats are counted in groups of a hundred
//! runs. After a group with fewer than ten repeats, nothing is remembered any more, and every run is tried.
//! Later schedules repeat earlier ones less often, because the running thread is stopped more often.

use super::chance::{Chance, Question};

/// The largest number of nodes that are kept. If there are more nodes than this, every run that leaves the
/// kept nodes is tried.
const MOST_NODES: usize = 1 << 20;

/// The number of runs in a group.
const SOME: u32 = 100;

/// The number of repeats in a group for which it is worthwhile to remember more runs.
const WORTHWHILE: u32 = SOME / 10;

/// The runs of a property.
pub(super) struct Tried {
    /// The nodes; the first is the root.
    nodes: Vec<Node>,
    at: Option<usize>,
    /// The number of runs in this group so far, and the number of repeats among them.
    counted: u32,
    repeated: u32,
    remembers: bool,
}

/// A node: a point that a run can reach.
struct Node {
    then: Then,
    /// The answer that leads to this node.
    answer: u32,
    /// `below` is the node of the first answer to this node's question; `beside` is the node of the next
    /// answer to the parent's question. The number 0 means that there is no such node.
    below: u32,
    beside: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Unknown,
    Asks(Question),
    Ends,
}

impl Node {
    const fn new(answer: u32) -> Self {
        Self { then: Then::Unknown, answer, below: 0, beside: 0 }
    }
}

impl Tried {
    pub(super) const fn new() -> Self {
        Self { nodes: Vec::new(), at: None, counted: 0, repeated: 0, remembers: true }
    }

    /// Forgets all runs, because another property begins.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        *self = Self { nodes: std::mem::take(&mut self.nodes), ..Self::new() };
    }

    /// Counts the next run, and returns true if a run with the same choices was tried before.
    pub(super) fn counts(&mut self, chance: Chance) -> bool {
        if !self.remembers {
            return false;
        }
        let repeats = self.has(chance);
        self.counted += 1;
        self.repeated += u32::from(repeats);
        if self.counted == SOME {
            if self.repeated < WORTHWHILE {
                self.give_up();
            }
            (self.counted, self.repeated) = (0, 0);
        }
        repeats
    }

    /// Returns true if a run with the same choices was tried before.
    fn has(&self, mut chance: Chance) -> bool {
        let mut at = 0;
        while let Some(Then::Asks(question)) = self.nodes.get(at).map(|node| node.then) {
            match self.below(at, chance.answer(question)) {
                Some(below) => at = below,
                None => return false,
            }
        }
        self.nodes.get(at).is_some_and(|node| node.then == Then::Ends)
    }

    /// Begins a run.
    pub(super) fn begins(&mut self) {
        self.at = self.remembers.then_some(0);
        if self.nodes.is_empty() && self.remembers {
            self.nodes.push(Node::new(0));
        }
    }

    /// Records that the run has asked this question and has got this answer.
    pub(super) fn was_told(&mut self, question: Question, answer: usize) {
        let Some(at) = self.at else { return };
        self.at = match self.nodes[at].then {
            Then::Unknown => {
                self.nodes[at].then = Then::Asks(question);
                self.grow(at, answer)
            }
            Then::Asks(known) if known == question => {
                self.below(at, answer).or_else(|| self.grow(at, answer))
            }
            _ => return self.give_up(),
        };
    }

    /// Records that the run has ended.
    pub(super) fn has_ended(&mut self) {
        let Some(at) = self.at.take() else { return };
        match self.nodes[at].then {
            Then::Asks(_) => self.give_up(),
            _ => self.nodes[at].then = Then::Ends,
        }
    }

    /// Stops remembering runs, because something other than chance decides, or because repeats are rare.
    fn give_up(&mut self) {
        self.clear();
        self.remembers = false;
    }

    /// Adds a branch to a node.
    fn grow(&mut self, at: usize, answer: usize) -> Option<usize> {
        let new = self.nodes.len();
        let (answer, number) = (u32::try_from(answer).ok()?, u32::try_from(new).ok()?);
        if new == MOST_NODES {
            return None;
        }
        let beside = std::mem::replace(&mut self.nodes[at].below, number);
        self.nodes.push(Node { beside, ..Node::new(answer) });
        Some(new)
    }

    fn below(&self, at: usize, answer: usize) -> Option<usize> {
        let mut next = self.nodes[at].below as usize;
        while next != 0 {
            if self.nodes[next].answer as usize == answer {
                return Some(next);
            }
            next = self.nodes[next].beside as usize;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Runs three threads of two steps each, and asks before each step which thread goes on.
    fn answers(mut ask: impl FnMut(Question) -> usize) -> Vec<usize> {
        let mut left = vec![(0, 2), (1, 2), (2, 2)];
        let (mut current, mut answers) = (None, Vec::new());
        while !left.is_empty() {
            let who = left.iter().fold(0, |who, (thread, _)| who | 1 << thread);
            let answer = ask(Question::goes_on(left.len(), current, answers.len() == 2, who));
            current = Some(answer);
            answers.push(answer);
            left[answer].1 -= 1;
            if left[answer].1 == 0 {
                left.remove(answer);
                current = None;
            } else if answer == 0 {
                answers.push(ask(Question::WAKES_UP));
            } else {
                answers.push(ask(Question::is_woken(2)));
            }
        }
        answers
    }

    #[test]
    fn those_and_only_those_that_have_been_are_known() {
        let (mut tried, mut seen) = (Tried::new(), BTreeSet::new());
        for schedule in 1..=2_000 {
            let chance = Chance::of(7, schedule);
            let is_known = tried.has(chance);
            tried.begins();
            let mut own = chance;
            let answers = answers(|question| {
                let answer = own.answer(question);
                tried.was_told(question, answer);
                answer
            });
            tried.has_ended();
            assert_eq!(seen.insert(answers), !is_known, "schedule {schedule}");
        }
        assert!((100..1_000).contains(&seen.len()), "{}", seen.len());
        tried.clear();
        assert!(!tried.has(Chance::of(7, 1)));
    }

    /// Counts a run of the property; returns true if the run is skipped.
    fn run(tried: &mut Tried, schedule: u64, property: fn(&mut dyn FnMut(Question) -> usize)) -> bool {
        let mut chance = Chance::of(7, schedule);
        if tried.counts(chance) {
            return true;
        }
        tried.begins();
        property(&mut |question| {
            let answer = chance.answer(question);
            tried.was_told(question, answer);
            answer
        });
        tried.has_ended();
        false
    }

    #[test]
    fn nothing_more_is_remembered_where_repeats_are_rare() {
        let mut tried = Tried::new();
        let many_choices = |ask: &mut dyn FnMut(Question) -> usize| {
            (0..40).for_each(|_| assert!(ask(Question::is_woken(2)) < 2));
        };
        for schedule in 1..=u64::from(SOME) {
            assert!(tried.remembers, "schedule {schedule}");
            assert!(!run(&mut tried, schedule, many_choices), "schedule {schedule}");
        }
        assert!(!tried.remembers && tried.nodes.is_empty());
        assert!(!run(&mut tried, 1, many_choices), "it is tried again");
    }

    #[test]
    fn all_is_remembered_where_many_repeat() {
        let mut tried = Tried::new();
        let few_choices = |ask: &mut dyn FnMut(Question) -> usize| drop(answers(ask));
        let left_out = (1..=2_000).filter(|&schedule| run(&mut tried, schedule, few_choices)).count();
        assert!((1_000..1_900).contains(&left_out), "{left_out}");
        assert!(tried.remembers && run(&mut tried, 1, few_choices));
    }

    #[test]
    fn nothing_is_known_of_an_answer_that_decides_by_something_else() {
        let mut tried = Tried::new();
        for other in
            [Question::is_woken(2), Question::is_woken(2), Question::is_woken(3), Question::is_woken(2)]
        {
            let known = tried.has(Chance::of(0, 1));
            assert_eq!(known, tried.nodes.len() > 1);
            tried.begins();
            tried.was_told(Question::WAKES_UP, 0);
            tried.was_told(other, 1);
            tried.has_ended();
        }
        assert!(!tried.remembers && !tried.has(Chance::of(0, 1)));
    }
}
