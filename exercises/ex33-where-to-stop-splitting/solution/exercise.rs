/// Returns the number of items that a piece should have, from 1 to `items`. A task is divided only if it has
/// more items than this number.
///
/// `measure(n)` runs a task of `n` items, from 0 to `items`, and returns its time in nanoseconds.
/// `measure(0)` is the cost of the task itself. There is at least one item, and at least one worker.
pub fn size_of_a_piece(items: usize, workers: usize, mut measure: impl FnMut(usize) -> u64) -> usize {
    let overhead = u128::from(measure(0));
    let mut is_worth_it = |size: usize| u128::from(measure(size)) >= 20 * overhead;
    if !is_worth_it(items) {
        return items;
    }
    // A task of more items takes no less time. So bisection finds the first size that is worth a task.
    let (mut low, mut worth) = (1, items);
    while low < worth {
        let middle = low + (worth - low) / 2;
        if is_worth_it(middle) {
            worth = middle;
        } else {
            low = middle + 1;
        }
    }
    let share = items / workers.saturating_mul(4);
    worth.max(share)
}
