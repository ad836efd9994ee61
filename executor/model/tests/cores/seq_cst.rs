//! Atomics whose `SeqCst` accesses are in one order, as the language says.
//!
//! loom lets a `SeqCst` load see the last `SeqCst` store only if it knows which one that is. It does not count the value
//! that an atomic is made with among them, and it does not order two stores of threads that know nothing of each other.
//! So a protocol that rests on the one order (each side writes its own word and then reads the other's) looks broken.
//! Here the first value is stored once more and each such store is a swap, which loom puts behind all stores before it. A
//! swap acquires, too, which a store does not: let nothing but these words rest on it.

use loom::sync::atomic::Ordering;

macro_rules! atomics {
    ($($name:ident of $value:ty $(, $operation:ident)*;)*) => {$(
        #[derive(Debug)]
        pub(crate) struct $name(loom::sync::atomic::$name);

        #[allow(dead_code, reason = "all of them have the same")]
        impl $name {
            pub(crate) fn new(value: $value) -> Self {
                let atomic = loom::sync::atomic::$name::new(value);
                atomic.store(value, Ordering::SeqCst);
                Self(atomic)
            }

            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                match order {
                    Ordering::SeqCst => drop(self.0.swap(value, order)),
                    weaker => self.0.store(value, weaker),
                }
            }

            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, order)
            }

            $(pub(crate) fn $operation(&self, value: $value, order: Ordering) -> $value {
                self.0.$operation(value, order)
            })*
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(<$value>::default())
            }
        }
    )*};
}

atomics! {
    AtomicBool of bool;
    AtomicUsize of usize, fetch_add, fetch_sub;
}
