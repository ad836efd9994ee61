/// One axis of a chart: its name, its scale, and a label for each tick.
#[derive(Debug)]
pub struct Axis<'a> {
    pub(crate) name: &'a str,
    scale: Scale,
    pub(crate) label: fn(f64) -> String,
    /// The values that the axis shows, in order.
    values: Vec<f64>,
}

/// The scale: what equal distances mean, and where the ticks are.
#[derive(Debug, Clone, Copy)]
pub enum Scale {
    /// Equal distances stand for equal differences. The axis goes from zero to a round number that no value
    /// exceeds, in at most this number of round steps.
    Linear(u32),
    /// Equal distances mean equal ratios. The axis goes from one whole power of this base to another. Zero
    /// and negative values cannot be shown on this scale.
    Logarithmic(f64),
    /// Equal distances stand for equal differences. The axis goes from zero to the greatest value, with a
    /// tick for each value.
    Measured,
    /// The distances between neighbouring values are equal, and there is a tick for each value.
    Even,
}

impl<'a> Axis<'a> {
    pub fn new(name: &'a str, scale: Scale, label: fn(f64) -> String) -> Axis<'a> {
        Axis { name, scale, label, values: Vec::new() }
    }

    /// Returns the axis, extended so that it also has room for these values. A value that is not a
    /// number is left out of the axis.
    pub fn covering(mut self, values: impl IntoIterator<Item = f64>) -> Axis<'a> {
        let is_logarithmic = matches!(self.scale, Scale::Logarithmic(_));
        let has_place = |value: &f64| value.is_finite() && (*value > 0.0 || !is_logarithmic);
        self.values.extend(values.into_iter().filter(has_place));
        self.values.sort_by(f64::total_cmp);
        self.values.dedup();
        self
    }

    /// Returns the position of a value: 0 at the beginning of the axis, 1 at its end, and never outside this
    /// range.
    pub fn place(&self, value: f64) -> f64 {
        let (ticks, from_zero) =
            (self.tick_values(), matches!(self.scale, Scale::Linear(_) | Scale::Measured));
        let first = ticks.first().filter(|_| !from_zero).map_or(0.0, |first| self.measure(*first));
        let last = ticks.last().map(|last| self.measure(*last)).filter(|last| *last > first);
        ((self.measure(value) - first) / (last.unwrap_or(first + 1.0) - first)).clamp(0.0, 1.0)
    }

    /// Returns the position and the label of each tick.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        self.tick_values().into_iter().map(|value| (self.place(value), (self.label)(value)))
    }

    fn tick_values(&self) -> Vec<f64> {
        let most = self.values.last().copied().filter(|most| *most > 0.0).unwrap_or(1.0);
        match self.scale {
            Scale::Linear(steps) => {
                let step = round_number_above(most / f64::from(steps));
                let ticks = (0..=steps).map(|count| f64::from(count) * step);
                ticks.take_while(|tick| tick - step < most).collect()
            }
            Scale::Logarithmic(base) => {
                let first = self.measure(self.values.first().copied().unwrap_or(1.0)).floor();
                let last = self.measure(most).ceil().max(first + 1.0);
                let powers = std::iter::successors(Some(first), |power| Some(power + 1.0));
                powers.take_while(|power| *power <= last).map(|power| base.powf(power)).collect()
            }
            Scale::Measured | Scale::Even => self.values.clone(),
        }
    }

    fn measure(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear(_) | Scale::Measured => value,
            Scale::Logarithmic(base) => {
                let power = value.max(f64::MIN_POSITIVE).log(base);
                // The computed logarithm of a power is sometimes not exactly a whole number.
                if (power - power.round()).abs() < 1e-9 { power.round() } else { power }
            }
            Scale::Even => self.values.partition_point(|number| *number < value) as f64,
        }
    }
}

/// Returns a power of ten, or two or five times a power of ten.
fn round_number_above(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let round = [1.0, 2.0, 5.0].map(|digit| digit * power);
    round.into_iter().find(|number| *number >= least).unwrap_or(10.0 * power)
}

/// Formats a number with at least four significant digits, without zeros at the end of its
/// fraction.
pub fn number(value: f64) -> String {
    let digits = (0..9).find(|digits| value.abs() * 10_f64.powi(*digits) >= 999.5).unwrap_or(9);
    let text = format!("{value:.*}", usize::try_from(digits).unwrap_or_default());
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats a time with its unit.
pub fn time(seconds: f64) -> String {
    let units = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)];
    let is_enough = |(_, size): &(&str, f64)| seconds >= size * 0.999_999; // a power of ten is not always exact
    let (unit, size) = units.into_iter().find(is_enough).unwrap_or(("ns", 1e-9));
    format!("{} {unit}", number(seconds / size))
}
