//! Converts between the facades' levels and this package's levels: they are the same five levels, as different
//! types.

use crate::Level;

macro_rules! named {
    ($theirs:ty: $($ours:ident $named:ident),*) => {
        impl From<$theirs> for Level {
            fn from(level: $theirs) -> Self {
                match level { $(<$theirs>::$named => Self::$ours),* }
            }
        }

        impl From<Level> for $theirs {
            fn from(level: Level) -> Self {
                match level { $(Level::$ours => Self::$named),* }
            }
        }
    };
}

named!(::tracing::Level: Error ERROR, Warn WARN, Info INFO, Debug DEBUG, Trace TRACE);
named!(::log::Level: Error Error, Warn Warn, Info Info, Debug Debug, Trace Trace);
