//! Scenarios for calls that submit or take several tasks at once.

use executor::{ExecutorCompletionService, FutureTask, ThreadPoolExecutor, WaitError, prelude::*};

use crate::support::{LONG, SHORT, fail, large, occupy};

pub(crate) fn completion_service() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        let service = ExecutorCompletionService::new(&pool);
        (0..20).for_each(|_| drop(service.submit(large()).unwrap()));
        assert!(service.submit_cancellable(|token| token.sleep(LONG).map(|()| 0)).unwrap().cancel());
        let ended = std::iter::from_fn(|| service.take().unwrap());
        assert_eq!(ended.filter_map(|handle| handle.join().ok()).sum::<usize>(), 20 * 200);
        assert!(service.try_take().is_none());
    }
}

pub(crate) fn completion_service_dropped_early() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let service = ExecutorCompletionService::new(&pool);
        (0..5).for_each(|_| drop(service.submit(large()).unwrap()));
        assert!(matches!(service.take_timeout(SHORT), Err(WaitError::TimedOut)));
        assert_eq!(service.outstanding(), 5);
        drop(service);
        drop(busy);
    }
}

pub(crate) fn invoked_all() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        let handles = pool.invoke_all((0..10).map(|_| large())).unwrap();
        assert!(handles.into_iter().all(|handle| handle.join().is_ok()));
        drop(pool.invoke_all((0..4).map(|_| fail)).unwrap());
        pool.shutdown();
        assert_eq!(pool.invoke_all((0..4).map(|_| large())).unwrap_err().not_submitted.len(), 4);
    }
}

pub(crate) fn invoked_all_with_a_deadline() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        let sleepers = || (0..4).map(|_| FutureTask::cancellable(|token| token.sleep(LONG)));
        drop(pool.invoke_all_timeout(sleepers(), SHORT).unwrap());
        drop(pool.invoke_all_timeout((0..4).map(|_| large()), LONG).unwrap());
    }
}

pub(crate) fn invoked_any() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        let racers = (0..4).map(|n| {
            FutureTask::cancellable(move |token| {
                if n == 0 { Ok(Ok::<_, ()>(n)) } else { token.sleep(LONG).map(|()| Ok(n)) }
            })
        });
        assert_eq!(pool.invoke_any(racers).unwrap(), 0);
        assert!(pool.invoke_any((0..4).map(|n| move || Err::<(), _>(vec![n]))).is_err());
        assert!(pool.invoke_any(Vec::<FutureTask<Result<(), ()>>>::new()).is_err());
    }
}

pub(crate) fn invoked_any_with_a_deadline() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        let sleepers = (0..4).map(|_| FutureTask::cancellable(|token| token.sleep(LONG).map(Ok::<_, ()>)));
        assert!(pool.invoke_any_timeout(sleepers, SHORT).is_err());
        assert_eq!(pool.invoke_any_timeout((0..4).map(|_| || Ok::<_, ()>(1)), LONG).unwrap(), 1);
    }
}
