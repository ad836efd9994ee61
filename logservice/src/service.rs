//! to come
pub struct Builder; pub struct LogHandle; pub struct LogService;
