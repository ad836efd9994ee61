//! Tests several services over one executor, several takers of one service, and takers that give up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use executor::{
    CancelToken, Cancelled, CutShort, ExecutorCompletionService, ExecutorService, ThreadPoolExecutor,
    WaitError,
};

use super::{held, take_all};
use crate::support::{Signal, Spot, assert_matches, blocked, on_every_executor, rounds, within_deadline};

#[test]
fn services_that_share_an_executor_keep_to_themselves() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let services = [(); 3].map(|()| ExecutorCompletionService::new(executor));
            for n in 0..30 {
                services[n % 3].submit(move || n).unwrap();
            }
            for (number, service) in services.iter().enumerate() {
                let taken = take_all(service).into_iter().map(|handle| handle.join().unwrap());
                let taken: Vec<usize> = taken.collect();
                assert_eq!(taken.len(), 10);
                assert!(taken.iter().all(|n| n % 3 == number));
            }
        });
    });
}

#[test]
fn many_takers_get_each_handle_once_and_all_learn_that_there_are_no_more() {
    within_deadline(|| {
        for _ in rounds(50) {
            let pool = ThreadPoolExecutor::fixed(2);
            let service = ExecutorCompletionService::new(&pool);
            let sum = AtomicUsize::new(0);
            let release = Signal::new();
            for n in 0..40_i32 {
                service.submit(held(&release, n)).unwrap();
            }
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        while let Some(handle) = service.take().unwrap() {
                            sum.fetch_add(
                                usize::try_from(handle.try_join().unwrap()).unwrap(),
                                Ordering::Relaxed,
                            );
                        }
                    });
                }
                release.set();
            });
            assert_eq!(sum.into_inner(), (0..40).sum::<usize>());
        }
    });
}

/// An arriving handle has woken a taker, and this taker gives up. Another taker must get this handle.
#[test]
fn takers_that_give_up_cost_the_others_nothing() {
    within_deadline(|| {
        for round in rounds(200) {
            let pool = ThreadPoolExecutor::fixed(2);
            let service = Arc::new(ExecutorCompletionService::new(&pool));
            let token = CancelToken::new();
            let release = Signal::new();
            // Two tasks are outstanding, so the first task that ends wakes only one taker.
            let last = Signal::new();
            service.submit(held(&release, 1)).unwrap();
            service.submit(held(&last, 2)).unwrap();
            std::thread::scope(|scope| {
                let gives_up = scope.spawn(|| {
                    let got_one = token.attach(|| service.take()).is_ok();
                    if got_one {
                        last.set(); // the other taker waits for this
                    }
                    got_one
                });
                let patient = scope.spawn(|| {
                    let number = service.take().unwrap().unwrap().try_join().unwrap();
                    last.set();
                    number
                });
                if round % 2 == 0 {
                    release.set();
                    token.cancel();
                } else {
                    token.cancel();
                    release.set();
                }
                let got_one = gives_up.join().unwrap();
                let number = patient.join().unwrap();
                assert!(number == 1 || got_one);
            });
        }
    });
}

// ----- take is a wait like any other -----

#[test]
fn take_is_a_cancellation_point_and_loses_nothing() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let service = Arc::new(ExecutorCompletionService::new(Arc::clone(&pool)));
        let release = Signal::new();
        service.submit(held(&release, 1)).unwrap();
        let token = CancelToken::new();
        let waiter = blocked({
            let (service, token) = (Arc::clone(&service), token.clone());
            move || token.attach(|| service.take().map(|handle| handle.is_some()))
        });
        token.cancel();
        assert_eq!(waiter.result(), Err(CutShort::Interrupted(Cancelled)));
        release.set();
        pool.close(); // the pool counts a completed task before its outcome is announced
        token.attach(|| {
            assert_matches!(service.take(), Err(CutShort::Interrupted(_))); // although a handle lies ready
            assert_matches!(service.take_timeout(Duration::MAX), Err(WaitError::Interrupted));
            assert!(service.try_take().is_some(), "what does not wait is no cancellation point");
        });
    });
}

#[test]
fn a_task_that_takes_is_released_when_its_pool_is_stopped() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let service = Arc::new(ExecutorCompletionService::new(Arc::clone(&pool)));
        service.submit_cancellable(|token| token.sleep(Duration::MAX)).unwrap();
        let spot = Spot::default();
        let taker = executor::ExecutorExt::submit(&pool, {
            let (service, spot) = (Arc::clone(&service), spot.clone());
            move || {
                spot.arrive();
                service.take().map(|handle| handle.is_some())
            }
        });
        spot.wait_until_blocked();
        drop(pool.shutdown_now());
        assert_matches!(taker.unwrap().join(), Ok(Err(CutShort::Interrupted(_)) | Ok(true)));
    });
}
