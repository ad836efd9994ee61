//! The batch from which workers claim tasks: each task is given to one worker, or put back into the queue,
//! exactly once.
//!
//! This program compiles the library's file with the model's locks and counters, because the public interface
//! gives no access to a single batch.

mod room;
mod search;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use executor_model::{Task, TaskId};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::sync::Arc;
use crate::{model, model_bounded};

#[allow(dead_code, reason = "a pool uses all of it")]
#[path = "../../../../src/thread_pool/batch.rs"]
mod library;
use library::{Batch, Batches, TaskSlot};

/// Returns a batch of `count` tasks, and their ids in order.
fn filled(batches: &mut Batches, count: usize) -> (Arc<Batch>, Vec<TaskId>) {
    let tasks: Vec<Task> = (0..count).map(|_| Task::new(|| ())).collect();
    let ids = tasks.iter().map(Task::id).collect();
    batches.refill(|slots| slots.extend(tasks.into_iter().map(TaskSlot::new)));
    (Arc::clone(batches.current().expect("there are tasks in it")), ids)
}

fn ids(tasks: impl IntoIterator<Item = Task>) -> Vec<TaskId> {
    tasks.into_iter().map(|task| task.id()).collect()
}

#[test]
fn two_claimers_get_each_task_once_and_a_third_claim_gets_none() {
    model(|| {
        let (batch, expected) = filled(&mut Batches::default(), 2);
        let other = {
            let batch = Arc::clone(&batch);
            thread::spawn(move || ids(batch.claim()))
        };
        let mut claimed = ids([batch.claim(), batch.claim()].into_iter().flatten());
        claimed.extend(other.join().unwrap());
        claimed.sort();
        assert_eq!(claimed, expected);
    });
}

#[test]
fn a_task_is_claimed_or_recalled_and_what_is_recalled_is_the_rest_in_order() {
    model_bounded(3, || {
        let mut batches = Batches::default();
        let (batch, expected) = filled(&mut batches, 3);
        let claimers = [(); 2].map(|()| {
            let batch = Arc::clone(&batch);
            thread::spawn(move || ids(batch.claim()))
        });
        let recalled = ids(batches.reclaim());
        assert!(batch.claim().is_none(), "a claim after the recall");
        let mut all: Vec<_> = claimers.map(|claimer| claimer.join().unwrap()).concat();
        all.sort();
        all.extend(recalled);
        assert_eq!(all, expected);
    });
}

/// The statistics are correct because of three facts: no worker claims a task while the batch is frozen; all
/// earlier claims are noted; and no claim is lost.
#[test]
fn while_a_run_is_frozen_the_noted_claims_and_the_rest_are_all_there_is() {
    model_bounded(3, || {
        let mut batches = Batches::default();
        let (batch, expected) = filled(&mut batches, 3);
        let noted = Arc::new(AtomicU64::new(0));
        let claimers = [(); 2].map(|()| {
            let (batch, noted) = (Arc::clone(&batch), Arc::clone(&noted));
            thread::spawn(move || {
                let claimed = ids(batch.claim());
                if !claimed.is_empty() {
                    noted.fetch_add(1, Ordering::Release);
                }
                claimed
            })
        });
        let frozen = batches.freeze();
        while noted.load(Ordering::Acquire) < frozen.in_all {
            thread::yield_now();
        }
        assert_eq!(noted.load(Ordering::Acquire), frozen.in_all, "a claim while it is frozen");
        assert_eq!(usize::try_from(frozen.in_all).unwrap() + batches.remaining_when(&frozen), expected.len());
        batches.resume(&frozen);
        let mut all: Vec<_> = claimers.map(|claimer| claimer.join().unwrap()).concat();
        all.extend(ids(std::iter::from_fn(|| batch.claim())));
        all.sort();
        assert_eq!(all, expected);
    });
}

/// A worker may try to claim late, when the batch is already used up. While the worker still refers to the
/// used-up batch, the pool must fill another batch.
#[test]
fn a_late_claim_takes_nothing_from_the_runs_that_follow() {
    model_bounded(3, || {
        let mut batches = Batches::default();
        let (batch, mut expected) = filled(&mut batches, 1);
        let late = {
            let batch = Arc::clone(&batch);
            thread::spawn(move || ids([batch.claim(), batch.claim()].into_iter().flatten()))
        };
        let mut all = ids(batch.claim());
        drop(batch);
        for _ in 0..2 {
            if batches.remaining() == 0 {
                let (batch, ids_of_run) = filled(&mut batches, 1);
                expected.extend(ids_of_run);
                all.extend(ids(batch.claim()));
            }
        }
        all.extend(late.join().unwrap());
        all.sort();
        expected.sort();
        assert_eq!(all, expected);
    });
}

/// The pool uses a batch's memory again only when no worker refers to the batch.
#[test]
fn a_run_that_is_filled_again_gives_out_its_new_tasks_and_none_of_the_old() {
    static FILLED_AGAIN: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
    model_bounded(2, || {
        let mut batches = Batches::default();
        let (batch, mut expected) = filled(&mut batches, 2);
        let first = std::ptr::from_ref(&*batch).addr();
        let claimers = [(); 2].map(|()| {
            let batch = Arc::clone(&batch);
            thread::spawn(move || ids(batch.claim()))
        });
        let frozen = batches.freeze();
        batches.resume(&frozen);
        let mut all = ids(std::iter::from_fn(|| batch.claim()));
        drop(batch);
        for _ in 0..2 {
            let (batch, ids_of_run) = filled(&mut batches, 1);
            expected.extend(ids_of_run);
            all.extend(ids(std::iter::from_fn(|| batch.claim())));
            let again = std::ptr::from_ref(&*batch).addr() == first;
            FILLED_AGAIN[usize::from(again)].store(true, Relaxed);
        }
        all.extend(claimers.map(|claimer| claimer.join().unwrap()).concat());
        all.sort();
        expected.sort();
        assert_eq!(all, expected);
    });
    assert!(
        FILLED_AGAIN.iter().all(|seen| seen.load(Relaxed)),
        "with and without a worker that refers to it"
    );
}
