//! Records what each thread did to each atomic, and with which ordering. The module also finds the line that
//! let two threads use plain memory at the same time.

use std::cell::RefCell;
use std::fmt::Debug;
use std::panic::Location;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Release, SeqCst};

use crate::record::line_text;
use crate::recorder::{self, Place};

struct Step {
    at: Place,
    what: What,
}

enum What {
    /// The thread used plain memory.
    Touch(usize),
    Fence(Ordering),
    Atomic {
        number: usize,
        read: Option<Value>,
        wrote: Option<Value>,
    },
}

#[derive(PartialEq)]
struct Value {
    text: String,
    order: Ordering,
}

#[derive(Default)]
struct Log {
    steps: Vec<Step>,
    atomics: usize,
    plains: usize,
}

// The record serves all threads of the model, because they are coroutines on one operating-system thread.
thread_local! {
    static LOG: RefCell<Log> = RefCell::default();
}

pub(super) fn begin_run() {
    LOG.take();
}

pub(super) fn new_atomic() -> usize {
    LOG.with_borrow_mut(|log| {
        log.atomics += 1;
        log.atomics - 1
    })
}

pub(super) fn new_plain() -> usize {
    LOG.with_borrow_mut(|log| {
        log.plains += 1;
        log.plains - 1
    })
}

// ----- Called by `sync.rs`. -----

pub(super) fn touches(plain: usize, at: &Location<'_>) {
    log("goes into the plain memory".to_owned(), What::Touch(plain), at);
}

pub(super) fn fences(order: Ordering, at: &Location<'_>) {
    log(format!("fence({order:?})"), What::Fence(order), at);
}

pub(super) fn reads(atomic: usize, (value, order): (&dyn Debug, Ordering), at: &Location<'_>) {
    access(atomic, &format!("reads {value:?} ({order:?})"), Some((value, order)), None, at);
}

pub(super) fn writes(atomic: usize, (value, order): (&dyn Debug, Ordering), at: &Location<'_>) {
    access(atomic, &format!("stores {value:?} ({order:?})"), None, Some((value, order)), at);
}

pub(super) fn changes(atomic: usize, old: &dyn Debug, new: &dyn Debug, order: Ordering, at: &Location<'_>) {
    let text = format!("changes {old:?} to {new:?} ({order:?})");
    access(atomic, &text, Some((old, order)), Some((new, order)), at);
}

fn access(
    number: usize,
    text: &str,
    read: Option<(&dyn Debug, Ordering)>,
    wrote: Option<(&dyn Debug, Ordering)>,
    at: &Location<'_>,
) {
    let one_of_many = LOG.with_borrow(|log| log.atomics > 1);
    let which = if one_of_many { format!("atomic {number}: ") } else { String::new() };
    let value = |(value, order): (&dyn Debug, Ordering)| Value { text: format!("{value:?}"), order };
    let what = What::Atomic { number, read: read.map(value), wrote: wrote.map(value) };
    log(format!("{which}{text}"), what, at);
}

fn log(text: String, what: What, at: &Location<'_>) {
    if let Some(at) = recorder::did_in_memory(text, at) {
        LOG.with_borrow_mut(|log| log.steps.push(Step { at, what }));
    }
}

// ----- Explains a failure. -----

const UNKNOWN: &str = "between the two there has to be a chain: a store with Release after the first, and a load with Acquire, \
                       of the value stored, before the second";

/// Describes the failure if the last step was a use of plain memory, and nothing makes an earlier use by
/// another thread happen before this use.
pub(super) fn told() -> (String, String) {
    LOG.with_borrow(|log| told_of(&log.steps))
}

fn told_of(steps: &[Step]) -> (String, String) {
    let Some((mine, me)) = steps.iter().enumerate().next_back() else {
        return ("a race".into(), UNKNOWN.into());
    };
    let What::Touch(plain) = me.what else { return ("a race".into(), UNKNOWN.into()) };
    let others = |step: &Step| {
        step.at.thread != me.at.thread && matches!(step.what, What::Touch(other) if other == plain)
    };
    let Some(theirs) = steps[..mine].iter().rposition(others) else {
        return ("a race".into(), UNKNOWN.into());
    };
    let them = &steps[theirs];
    let seen = format!(
        "{} goes into the plain memory at {}, and {} was in there at {}: nothing makes the one happen before the other",
        me.at.name,
        line_text(me.at.line),
        them.at.name,
        line_text(them.at.line)
    );
    let cause = too_weak(steps, theirs, mine)
        .or_else(|| too_early(steps, theirs, mine))
        .or_else(|| too_early(steps, mine, theirs))
        .unwrap_or_else(|| both_let_in(steps, theirs, mine));
    (seen, cause)
}

/// Finds the steps that let a thread use plain memory in step `touch`: the last value that the thread read,
/// and the last write of this value by another thread. (The atomic may show an older write of the same value,
/// but the result is the same.)
fn let_in(steps: &[Step], touch: usize) -> Option<(usize, Option<usize>)> {
    let me = steps[touch].at.thread;
    let read_of = |step: &Step| match &step.what {
        What::Atomic { number, read: Some(read), .. } if step.at.thread == me => {
            Some((*number, read.text.clone()))
        }
        _ => None,
    };
    let (look, (atomic, value)) =
        steps[..touch].iter().enumerate().rev().find_map(|(n, step)| Some((n, read_of(step)?)))?;
    let writes = |step: &Step| matches!(&step.what, What::Atomic { number, wrote: Some(wrote), .. } if *number == atomic && wrote.text == value);
    Some((look, steps[..look].iter().rposition(writes)))
}

/// Returns the cause of a race in which a flag was stored after the first use and read before the second use,
/// with orderings that form no pair.
fn too_weak(steps: &[Step], first: usize, second: usize) -> Option<String> {
    let (look, word) = let_in(steps, second)?;
    let word = word.filter(|&word| word > first && steps[word].at.thread == steps[first].at.thread)?;
    let What::Atomic { wrote: Some(wrote), .. } = &steps[word].what else { return None };
    let What::Atomic { read: Some(read), .. } = &steps[look].what else { return None };
    let has = |order: Ordering, half: Ordering| [half, AcqRel, SeqCst].contains(&order);
    let fenced = |range: &[Step], thread: usize, half: Ordering| {
        range.iter().any(|step| {
            step.at.thread == thread && matches!(step.what, What::Fence(order) if has(order, half))
        })
    };
    let (writer, reader) = (steps[first].at.thread, steps[second].at.thread);
    let released = has(wrote.order, Release) || fenced(&steps[first..word], writer, Release);
    let acquired = has(read.order, Acquire) || fenced(&steps[look..second], reader, Acquire);
    let (from, to) = (&steps[first].at.name, &steps[second].at.name);
    let (store, load) = (line_text(steps[word].at.line), line_text(steps[look].at.line));
    let (wrote, read, value) = (wrote.order, read.order, &wrote.text);
    let no_release = format!(
        "{store} stores {value} with {wrote:?}. What {from} did before need not be seen by a thread that \
                              sees this value: store it with Release"
    );
    let no_acquire = format!(
        "{load} reads {value} with {read:?}. {to} sees the value, and need not see what {from} did before \
                              it was stored: read it with Acquire"
    );
    match (released, acquired) {
        (false, false) => Some(format!("{no_release}. And {no_acquire}")),
        (false, true) => Some(no_release),
        (true, false) => Some(no_acquire),
        (true, true) => None,
    }
}

/// Returns the cause of a race if the thread of the step `late` stored a value before its own use had ended,
/// and so let the other thread in too early.
fn too_early(steps: &[Step], late: usize, other: usize) -> Option<String> {
    let (_, word) = let_in(steps, other)?;
    let word = word.filter(|&word| word < late && steps[word].at.thread == steps[late].at.thread)?;
    let What::Atomic { wrote: Some(wrote), .. } = &steps[word].what else { return None };
    if let_in(steps, late).is_some_and(|(look, _)| look > word) {
        return None; // the thread was done with what the store announced, and has come again
    }
    let (name, other) = (&steps[late].at.name, &steps[other].at.name);
    Some(format!(
        "{name} stores {} at {} and goes into the plain memory after that, at {}. The value tells {other} that it may go \
         in: store it when you are done there",
        wrote.text,
        line_text(steps[word].at.line),
        line_text(steps[late].at.line)
    ))
}

fn both_let_in(steps: &[Step], first: usize, second: usize) -> String {
    let looks = [first, second].map(|touch| (touch, let_in(steps, touch)));
    let [(_, Some((one, _))), (_, Some((other, _)))] = looks else {
        let blind = looks.iter().find(|(_, look)| look.is_none()).map_or(first, |(touch, _)| *touch);
        return format!(
            "{} goes in without having looked at an atomic: how does it know that no other thread is there? {UNKNOWN}",
            steps[blind].at.name
        );
    };
    let act_in_the_look = |look: usize| matches!(&steps[look].what, What::Atomic { wrote: Some(_), .. });
    if act_in_the_look(one) && act_in_the_look(other) {
        return UNKNOWN.to_owned();
    }
    let look = if act_in_the_look(one) { other } else { one };
    format!(
        "{} looks at {} and acts on it later. Another thread looks in between and sees the same, so both go in. Look and act \
         in one step: compare_exchange, or swap",
        steps[look].at.name,
        line_text(steps[look].at.line)
    )
}
