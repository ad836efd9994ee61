//! The front end for programs that log through the `tracing` crate.

use std::error::Error;
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use smallvec::SmallVec;
use tracing::field::{Field, Visit};
use tracing::span::{self, Attributes, Id};
use tracing::subscriber::SetGlobalDefaultError;
use tracing::{Dispatch, Event, Subscriber};
use tracing_subscriber::filter::Filtered;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry, SpanRef};

use super::spans::{Node, Values};
use crate::{Fields, Levels, LogHandle, Record, Value};

/// A layer of a `tracing` subscriber that passes all events to a service, with their fields and their
/// spans.
///
/// ```no_run
/// # fn f(handle: logservice::LogHandle) -> Result<(), Box<dyn std::error::Error>> {
/// use logservice::{Levels, LogLayer};
/// use tracing_subscriber::prelude::*;
///
/// let levels = Levels::parse("info")?;
/// let subscriber = tracing_subscriber::registry().with(LogLayer::filtered(handle, levels));
/// tracing::subscriber::set_global_default(subscriber)?;
/// # Ok(()) }
/// ```
///
/// The layer does not affect other layers of the subscriber. The method [`filtered`](Self::filtered) gives
/// this layer its own filter. A filter of the whole subscriber, such as `EnvFilter`, also applies to this
/// layer.
///
/// For each field of a span, events show the value that was recorded last. A value that has only `Debug` or
/// `Display` is formatted when it is recorded. The layer ignores `follows_from` relations between spans.
///
/// If a record of the `log` crate arrives as an event, through `tracing_log::LogTracer`, the layer logs it with
/// the record's own target. A process has only one logger of the `log` crate, either `LogTracer` with this
/// layer or a [`Logger`](crate::Logger), so no record is logged twice.
#[derive(Debug)]
pub struct LogLayer {
    handle: LogHandle,
    /// Distinguishes this layer's nodes from the nodes of other layers in the same registry; those layers may
    /// have other filters.
    number: u32,
}

impl LogLayer {
    /// Creates a layer that logs every event.
    pub fn new(handle: LogHandle) -> Self {
        static NUMBERS: AtomicU32 = AtomicU32::new(1); // 0 is no layer
        Self { handle, number: NUMBERS.fetch_add(1, Relaxed) }
    }

    /// Creates a layer that logs the events that the given levels enable. Events are logged without the spans
    /// that the levels disable.
    pub fn filtered<S>(handle: LogHandle, levels: Levels) -> Filtered<Self, Levels, S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        Self::new(handle).with_filter(levels)
    }

    fn log(&self, event: &Event<'_>, said_at: SaidAt<'_>, node: Option<&Arc<Node>>) {
        let (target, file, line) = said_at;
        with_spans(node, |spans| {
            // The service itself counts refused events, so the error is ignored.
            let _ = self.handle.log(&Record {
                time: SystemTime::now(),
                level: (*event.metadata().level()).into(),
                target,
                message: format_args!("{}", Message(event)),
                fields: &EventFields(event),
                spans,
                file,
                line,
            });
        });
    }
}

/// The target, the source file, and the line number.
type SaidAt<'a> = (&'a str, Option<&'a str>, Option<u32>);

/// The nodes that layers store in a span's extensions: one node for each layer that knows the span.
struct Nodes(SmallVec<[(u32, Arc<Node>); 1]>);

/// True if any layer has seen a span; programs without spans need not search for spans.
static ARE_SPANS: AtomicBool = AtomicBool::new(false);

/// Returns a layer's node in a span.
fn node<'a, S: LookupSpan<'a>>(of_layer: u32, span: &SpanRef<'a, S>) -> Option<Arc<Node>> {
    let extensions = span.extensions();
    let nodes: &Nodes = extensions.get()?;
    nodes.0.iter().find(|(of, _)| *of == of_layer).map(|(_, node)| Arc::clone(node))
}

/// Passes each span to the callback, from the outermost span to the span of `node`.
fn with_spans<R>(node: Option<&Arc<Node>>, with: impl FnOnce(&[(&str, &dyn Fields)]) -> R) -> R {
    let mut spans: SmallVec<[(&str, &dyn Fields); 8]> = SmallVec::new();
    let mut next = node;
    while let Some(node) = next {
        spans.push((node.name, &**node));
        next = node.parent.as_ref();
    }
    spans.reverse();
    with(&spans)
}

/// The subscriber that [`install`] has set for the process. In any other subscriber, a layer may hold a
/// span's lock while it formats a value; if the value logs or panics, access to the span would deadlock.
static INSTALLED: OnceLock<Dispatch> = OnceLock::new();

pub(super) fn install(outputs: Vec<(LogHandle, Levels)>) -> Result<(), SetGlobalDefaultError> {
    let (mut filtered, mut numbers) = (Vec::new(), Vec::new());
    for (handle, levels) in outputs {
        let layer = LogLayer::new(handle.clone());
        numbers.push((handle, layer.number));
        filtered.push(layer.with_filter(levels));
    }
    let registry = tracing_subscriber::registry();
    let dispatch = match filtered.len() {
        1 => Dispatch::new(registry.with(filtered.remove(0))), // without a list that each event would search
        _ => Dispatch::new(registry.with(filtered)),
    };
    tracing::dispatcher::set_global_default(dispatch.clone())?;
    let _ = INSTALLED.set(dispatch);
    for (handle, number) in numbers {
        handle.has_layer(number);
    }
    Ok(())
}

/// Passes this thread's current spans to the callback, as this service's installed layer has stored
/// them.
pub(super) fn with_current_spans<R>(handle: &LogHandle, with: impl FnOnce(&[(&str, &dyn Fields)]) -> R) -> R {
    match ARE_SPANS.load(Relaxed).then(|| current_node(handle.layer())).flatten() {
        Some(node) => with_spans(Some(&node), with),
        None => with(&[]),
    }
}

fn current_node(of_layer: u32) -> Option<Arc<Node>> {
    let registry = INSTALLED.get()?.downcast_ref::<Registry>()?;
    let current = registry.current_span();
    let span = registry.span(current.id()?)?;
    span.scope().find_map(|span| node(of_layer, &span))
}

impl<S> Layer<S> for LogLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut values = Values::default();
        attributes.record(&mut values);
        let parent = span.parent().and_then(|parent| node(self.number, &parent));
        ARE_SPANS.store(true, Relaxed);
        let node = Arc::new(Node::new(span.name(), parent, values));
        let mut extensions = span.extensions_mut();
        match extensions.get_mut::<Nodes>() {
            Some(nodes) => nodes.0.push((self.number, node)),
            None => extensions.insert(Nodes(SmallVec::from_buf([(self.number, node)]))),
        }
    }

    fn on_record(&self, id: &Id, record: &span::Record<'_>, context: Context<'_, S>) {
        let mut values = Values::default();
        record.record(&mut values);
        if let Some(node) = context.span(id).and_then(|span| node(self.number, &span)) {
            node.record(values);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let node = context.event_span(event).and_then(|span| node(self.number, &span));
        if is_from_log(event) {
            let from = FromLog::of(event);
            self.log(event, (&from.target, from.file.as_deref(), from.line), node.as_ref());
        } else {
            let metadata = event.metadata();
            self.log(event, (metadata.target(), metadata.file(), metadata.line()), node.as_ref());
        }
    }
}

/// Returns true if `tracing-log` has created the event from a record of the `log` crate. An event from a
/// record of the `log` crate has a field with the record's target.
fn is_from_log(event: &Event<'_>) -> bool {
    let metadata = event.metadata();
    metadata.target() == "log" && metadata.fields().field(LOG_TARGET).is_some()
}

const LOG_TARGET: &str = "log.target";

/// The source location of a record of the `log` crate. The visited values are borrowed only during the
/// visit.
#[derive(Default)]
struct FromLog {
    target: String,
    file: Option<String>,
    line: Option<u32>,
}

impl FromLog {
    fn of(event: &Event<'_>) -> Self {
        let mut found = Self::default();
        event.record(&mut found);
        found
    }
}

impl Visit for FromLog {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            LOG_TARGET => value.clone_into(&mut self.target),
            "log.file" => self.file = Some(value.to_owned()),
            _ => {}
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "log.line" {
            self.line = value.try_into().ok();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

/// The fields of an event, except for its message and for the fields that `tracing-log` adds.
struct EventFields<'a>(&'a Event<'a>);

impl Fields for EventFields<'_> {
    fn visit(&self, each: &mut dyn FnMut(&str, Value<'_>)) {
        self.0.record(&mut Pairs { each, from_log: is_from_log(self.0) });
    }
}

struct Pairs<'e> {
    each: &'e mut dyn FnMut(&str, Value<'_>),
    from_log: bool,
}

impl Pairs<'_> {
    fn pair(&mut self, field: &Field, value: Value<'_>) {
        let name = field.name();
        let name = name.strip_prefix("r#").unwrap_or(name);
        if name != MESSAGE && !(self.from_log && name.starts_with("log.")) {
            (self.each)(name, value);
        }
    }
}

impl Visit for Pairs<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.pair(field, Value::Float(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.pair(field, Value::Signed(value.into()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.pair(field, Value::Unsigned(value.into()));
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.pair(field, Value::Signed(value));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.pair(field, Value::Unsigned(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.pair(field, Value::Bool(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.pair(field, Value::Text(value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.pair(field, Value::Error(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.pair(field, Value::Debug(value));
    }
}

const MESSAGE: &str = "message";

/// The message of an event. The message is formatted during the visit, because otherwise its values would have
/// to be copied.
struct Message<'a>(&'a Event<'a>);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut show = ShowMessage { f, result: Ok(()) };
        self.0.record(&mut show);
        show.result
    }
}

struct ShowMessage<'f, 'w> {
    f: &'f mut fmt::Formatter<'w>,
    result: fmt::Result,
}

impl Visit for ShowMessage<'_, '_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == MESSAGE {
            self.result = self.f.write_str(value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == MESSAGE {
            self.result = write!(self.f, "{value:?}");
        }
    }
}
