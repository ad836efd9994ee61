//! Right: the search doubles the number of threads until the rate no longer rises, and then searches only
//! near that number.

pub fn how_many_threads(most: usize, mut measure: impl FnMut(usize) -> u64) -> usize {
    let mut number = 1;
    let mut rate = measure(1);
    while number < most {
        let next = number.saturating_mul(2).min(most);
        let faster = measure(next);
        if faster <= rate {
            break;
        }
        (number, rate) = (next, faster);
    }
    // The peak is above half of `number`, and below twice `number`.
    let first = |from: usize, to: usize, is_it: &mut dyn FnMut(usize) -> bool| {
        let (mut from, mut to) = (from, to);
        while from < to {
            let middle = from + (to - from) / 2;
            if is_it(middle) { to = middle } else { from = middle + 1 }
        }
        from
    };
    let peak = first(number / 2 + 1, number.saturating_mul(2).min(most), &mut |n| measure(n) >= measure(n + 1));
    let best = u128::from(measure(peak));
    first(1, peak, &mut |n| u128::from(measure(n)) * 20 >= best * 19)
}
