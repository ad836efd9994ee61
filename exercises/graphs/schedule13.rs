//! A producer puts one item and ends, and a consumer takes items until there will be no more.

use std::mem::ManuallyDrop;

use exercises_harness::model::graph::Scenario;
use exercises_harness::step;

use super::exercise::queue;

pub fn scenario() -> Scenario {
    let (producer, mut consumers) = queue(1, 1);
    // A scenario whose threads do not run is dropped outside the model, where no lock can be taken.
    let producer = ManuallyDrop::new(producer);
    let mut consumer = ManuallyDrop::new(consumers.remove(0));
    Scenario::new()
        .thread("consumer", "while let Some(item) = consumer.take() { print(item) }", move || {
            while consumer.take().is_some() {
                step("prints the item");
            }
        })
        .thread("producer", "producer.put(item); drop(producer)", move || {
            let producer = ManuallyDrop::into_inner(producer);
            producer.put("item").expect("the consumer is there");
        })
        .promise("prints the item", "the item lies in the queue for ever")
}
