//! Why an item could not be put, or none be taken. Those of a sender give the item back.

use std::error::Error;
use std::fmt;

/// Declares an error of the sending end: the ways of failing, each with the item.
macro_rules! put_error {
    ($(#[$doc:meta])* $name:ident { $($(#[$why:meta])* $way:ident: $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name<T> {
            $($(#[$why])* $way(T),)*
        }

        impl<T> $name<T> {
            /// The item.
            pub fn into_inner(self) -> T {
                match self {
                    $(Self::$way(item))|* => item,
                }
            }
        }

        /// Not derived: the item need not be printable.
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$way(_) => f.write_str(concat!(stringify!($way), "(..)")),)*
                }
            }
        }

        impl<T> fmt::Display for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$way(_) => $text,)*
                })
            }
        }

        impl<T> Error for $name<T> {}
    };
}

/// Declares an error of the receiving end.
macro_rules! take_error {
    ($(#[$doc:meta])* $name:ident { $($(#[$why:meta])* $way:ident: $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$why])* $way,)*
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$way => $text,)*
                })
            }
        }

        impl Error for $name {}
    };
}

put_error! {
    /// Why [`Sender::put`](super::Sender::put) failed. It gives the item back.
    PutError {
        /// All receivers are gone.
        Closed: "the channel has no receiver any more",
        /// The calling task was cancelled.
        Interrupted: "the task was cancelled while it waited for room in a channel",
    }
}

put_error! {
    /// Why [`Sender::put_timeout`](super::Sender::put_timeout) failed. It gives the item back.
    PutTimeoutError {
        /// All receivers are gone.
        Closed: "the channel has no receiver any more",
        /// The calling task was cancelled.
        Interrupted: "the task was cancelled while it waited for room in a channel",
        /// The time was up, and the channel still full.
        TimedOut: "there was no room in the channel in time",
    }
}

put_error! {
    /// Why [`Sender::try_put`](super::Sender::try_put) failed. It gives the item back.
    TryPutError {
        /// All receivers are gone.
        Closed: "the channel has no receiver any more",
        /// The channel has no room.
        Full: "the channel is full",
    }
}

take_error! {
    /// Why [`Receiver::take`](super::Receiver::take) failed.
    TakeError {
        /// The channel is empty, and all senders are gone.
        Closed: "the channel is empty and has no sender any more",
        /// The calling task was cancelled.
        Interrupted: "the task was cancelled while it waited for an item",
    }
}

take_error! {
    /// Why [`Receiver::take_timeout`](super::Receiver::take_timeout) failed.
    TakeTimeoutError {
        /// The channel is empty, and all senders are gone.
        Closed: "the channel is empty and has no sender any more",
        /// The calling task was cancelled.
        Interrupted: "the task was cancelled while it waited for an item",
        /// The time was up, and the channel still empty.
        TimedOut: "no item came in time",
    }
}

take_error! {
    /// Why [`Receiver::try_take`](super::Receiver::try_take) failed.
    TryTakeError {
        /// The channel is empty, and all senders are gone.
        Closed: "the channel is empty and has no sender any more",
        /// The channel is empty.
        Empty: "the channel is empty",
    }
}
