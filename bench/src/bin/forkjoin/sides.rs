//! Our pool and the Rust peers; each of them is a way to call two closures that may run at the same time.

use std::num::NonZero;

use executor::fork_join::{self, ForkJoinPool};

/// A way to join two closures; the calling thread begins with the first closure. Both closures get a context,
/// because chili needs the context for the next call.
pub(crate) trait Side {
    type Context<'a>;

    fn join<A, B, RA, RB>(context: &mut Self::Context<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Self::Context<'_>) -> RA + Send,
        B: FnOnce(&mut Self::Context<'_>) -> RB + Send,
        RA: Send,
        RB: Send;
}

pub(crate) enum Sequential {}

impl Side for Sequential {
    type Context<'a> = ();

    #[inline]
    fn join<A, B, RA, RB>(context: &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        (a(context), b(context))
    }
}

pub(crate) enum Ours {}

impl Side for Ours {
    type Context<'a> = ();

    #[inline]
    fn join<A, B, RA, RB>((): &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        fork_join::join(|| a(&mut ()), || b(&mut ()))
    }
}

pub(crate) enum Rayon {}

impl Side for Rayon {
    type Context<'a> = ();

    #[inline]
    fn join<A, B, RA, RB>((): &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        rayon::join(|| a(&mut ()), || b(&mut ()))
    }
}

pub(crate) enum Chili {}

impl Side for Chili {
    type Context<'a> = chili::Scope<'a>;

    #[inline]
    fn join<A, B, RA, RB>(scope: &mut chili::Scope<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut chili::Scope<'_>) -> RA + Send,
        B: FnOnce(&mut chili::Scope<'_>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let (of_b, of_a) = scope.join(b, a); // chili offers its first closure, and begins with the second
        (of_a, of_b)
    }
}

pub(crate) fn our_pool(workers: usize) -> ForkJoinPool {
    ForkJoinPool::new(workers).expect("the number of workers was checked")
}

pub(crate) fn rayon_pool(workers: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("there are threads")
}

/// Makes a chili pool in which the calling thread is one of the workers.
pub(crate) fn chili_pool(workers: usize) -> chili::ThreadPool {
    chili::ThreadPool::with_config(chili::Config {
        thread_count: NonZero::new(workers),
        ..chili::Config::default()
    })
}
