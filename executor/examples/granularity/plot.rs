//! Draws curves in SVG: each curve shows the time for each threshold. Both scales are logarithmic.

use std::fmt::Write;

/// `s0` to `s3` are the colours of the curves.
const STYLE: &str = include_str!("plot.css");
const LEFT: f64 = 60.0;
const TOP: f64 = 60.0;
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 280.0;

/// Draws the given `lines`; each line is a name and a value for each threshold.
pub fn of(title: &str, thresholds: &[u64], lines: &[(&str, Vec<f64>)]) -> String {
    let all = || lines.iter().flat_map(|(_, values)| values).map(|value| value.log2());
    let (low, high) = (all().fold(f64::MAX, f64::min).floor(), all().fold(f64::MIN, f64::max).ceil());
    let x = |place: usize| LEFT + WIDTH * place as f64 / (thresholds.len() - 1) as f64;
    let y = |log: f64| TOP + HEIGHT * (high - log) / (high - low);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 740 400\" role=\"img\" aria-label=\"{title}\">\n\
         <style>\n{STYLE}</style><rect class=\"paper\" width=\"740\" height=\"400\"/>\n<text x=\"12\" y=\"22\">{title}</text>\n"
    );
    let mut add = |line: String| writeln!(svg, "{line}").expect("a string has room");
    let (right, bottom) = (LEFT + WIDTH, TOP + HEIGHT);
    for log in std::iter::successors(Some(low), |log| Some(log + 1.0)).take_while(|log| *log <= high) {
        let (y, value) = (y(log), log.exp2());
        add(format!("<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>"));
        add(format!(
            "<text class=\"small\" x=\"54\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            y + 4.0
        ));
    }
    for (place, threshold) in thresholds.iter().enumerate().step_by(2) {
        let (x, y) = (x(place), bottom + 18.0);
        add(format!(
            "<text class=\"small\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{threshold}</text>"
        ));
    }
    add(format!(
        "<text class=\"small\" x=\"{LEFT}\" y=\"{}\">elements in a piece, at most</text>",
        bottom + 38.0
    ));
    for (number, (name, values)) in lines.iter().enumerate() {
        let points = values
            .iter()
            .enumerate()
            .map(|(place, value)| format!("{:.1},{:.1} ", x(place), y(value.log2())));
        let (points, at) = (points.collect::<String>(), LEFT + 160.0 * number as f64);
        add(format!("<polyline class=\"curve s{number}\" points=\"{points}\"/>"));
        add(format!(
            "<line class=\"curve s{number}\" x1=\"{at}\" y1=\"42\" x2=\"{}\" y2=\"42\"/>",
            at + 20.0
        ));
        add(format!("<text class=\"small\" x=\"{}\" y=\"46\">{name}</text>", at + 26.0));
    }
    svg + "</svg>\n"
}
