//! Atomics whose `SeqCst` accesses have one total order, as the language requires.
//!
//! Loom lets a `SeqCst` load see the last `SeqCst` store only if loom knows which store was the last. Loom
//! does not count the initial value of an atomic as such a store, and loom does not order two stores of
//! unrelated threads. In some protocols each side writes its own word and then reads the word of the other
//! side; these protocols need the total order. Loom would report an error in such a protocol, although the
//! protocol is correct. These atomics store their initial value a second time, and use a swap for each store,
//! because loom puts a swap after all earlier stores. A swap also has acquire order, which a store does not
//! have. Only code that uses these atomics may rely on the acquire order.

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
