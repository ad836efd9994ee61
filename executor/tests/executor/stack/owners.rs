//! Tests nested drops: each value (a result, task, executor or registration) is the last owner of the next
//! value.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use executor::{
    CancelToken, FutureTask, JoinError, ManualExecutor, Promise, Registration, SerialExecutor, SharedHandle,
    Task, TaskHandle, prelude::*,
};

use super::{LINKS, on_two_megabytes};
use crate::support::assert_matches;

#[test]
fn results_that_are_handles_of_results() {
    struct Link(#[expect(dead_code, reason = "it is there to be dropped")] Option<TaskHandle<Link>>);

    on_two_megabytes(|| {
        let mut link = Link(None);
        for _ in 0..LINKS {
            let FutureTask { task, handle } = FutureTask::new(move || link);
            task.run();
            link = Link(Some(handle));
        }
        drop(link);
    });
}

#[test]
fn results_that_are_shared_handles_of_results() {
    struct Link(#[expect(dead_code, reason = "it is there to be dropped")] Option<SharedHandle<Link>>);

    on_two_megabytes(|| {
        let mut link = Link(None);
        for _ in 0..LINKS {
            let (promise, handle) = Promise::new();
            drop(promise.complete(link));
            link = Link(Some(handle.shared()));
        }
        drop(link);
    });
}

#[test]
fn promises_that_are_dropped_by_the_callback_of_another_one() {
    on_two_megabytes(|| {
        let (first, mut last) = Promise::<()>::new();
        for _ in 0..LINKS {
            let (next, handle) = Promise::new();
            last.on_done(move |ended| {
                assert!(ended.is_err());
                drop(next);
            });
            last = handle;
        }
        drop(first);
        assert_matches!(last.join(), Err(JoinError::Cancelled(_)));
    });
}

#[test]
fn tasks_that_have_captured_tasks() {
    on_two_megabytes(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let mut task = Task::new(|| ());
        for _ in 0..LINKS {
            let captured = (task, CountsItsDrop(Arc::clone(&dropped)));
            task = Task::new(move || drop(captured));
        }
        drop(task);
        assert_eq!(dropped.load(Ordering::Relaxed), LINKS);
    });
}

#[test]
fn tasks_with_handles_that_have_captured_tasks() {
    on_two_megabytes(|| {
        let mut handles = Vec::new();
        let mut task = Task::new(|| ());
        for _ in 0..LINKS {
            let captured = task;
            let next = FutureTask::new(move || drop(captured));
            handles.push(next.handle);
            task = next.task;
        }
        drop(task);
        assert!(handles.iter().all(TaskHandle::is_finished));
    });
}

struct CountsItsDrop(Arc<AtomicUsize>);

impl Drop for CountsItsDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn executors_with_a_task_that_has_captured_another_executor() {
    on_two_megabytes(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let mut line = SerialExecutor::owning(ManualExecutor::new());
        for _ in 0..LINKS {
            let captured = (line, CountsItsDrop(Arc::clone(&dropped)));
            line = SerialExecutor::owning(ManualExecutor::new());
            line.execute(move || drop(captured)).unwrap();
        }
        drop(line);
        assert_eq!(dropped.load(Ordering::Relaxed), LINKS);
    });
}

#[test]
fn registrations_that_callbacks_have_captured() {
    on_two_megabytes(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let token = CancelToken::new();
        let mut last: Option<Registration> = None;
        for _ in 0..LINKS {
            let captured = (last, CountsItsDrop(Arc::clone(&dropped)));
            last = Some(token.on_cancel(move || drop(captured)));
        }
        drop(last);
        assert_eq!(dropped.load(Ordering::Relaxed), LINKS);
    });
}
