//! How many wait over time, as SVG.

use crate::observe::Observed;
use std::fmt::Write;

const STYLE: &str = "text { font: 13px sans-serif; fill: #222 } .small { font-size: 11px; fill: #555 } \
    .grid { stroke: #ccc } .curve { fill: none; stroke-width: 2 } .paper { fill: #fff } .phase { fill: #c2571a22 }";
const COLOURS: [&str; 2] = ["#2f6f9f", "#c2571a"];
const TITLE: &str = "clients waiting for a thread";
const LEFT: f64 = 60.0;
const TOP: f64 = 60.0;
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 240.0;

/// `phases` are seconds and rates; the busiest is shaded.
pub(crate) fn of(phases: &[(f64, f64)], runs: &[(&str, &Observed)]) -> String {
    let long: f64 = phases.iter().map(|(length, _)| length).sum();
    let most = runs.iter().flat_map(|(_, run)| run.curve()).map(|(_, waiting)| waiting).max().unwrap_or(1);
    let high = most.next_multiple_of(40) as f64;
    let x = |at: f64| LEFT + WIDTH * at / long;
    let y = |waiting: f64| TOP + HEIGHT * (1.0 - waiting / high);
    let (right, bottom) = (LEFT + WIDTH, TOP + HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 740 360\" role=\"img\" aria-label=\"{TITLE}\">\n\
         <style>{STYLE}</style><rect class=\"paper\" width=\"740\" height=\"360\"/>\n<text x=\"12\" y=\"22\">{TITLE}</text>\n"
    );
    let mut add = |line: String| writeln!(svg, "{line}").expect("a string has room");
    let busiest = phases.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
    let mut begin = 0.0;
    for &(length, rate) in phases {
        let (from, to) = (x(begin), x(begin + length));
        if rate >= busiest {
            let width = to - from;
            add(format!(
                "<rect class=\"phase\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{HEIGHT}\"/>"
            ));
        }
        let middle = f64::midpoint(from, to);
        add(format!(
            "<text class=\"small\" x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">{rate} a second</text>",
            TOP + 14.0
        ));
        begin += length;
    }
    for quarter in 0..=4 {
        let value = high * f64::from(quarter) / 4.0;
        let y = y(value);
        add(format!("<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>"));
        add(format!(
            "<text class=\"small\" x=\"54\" y=\"{:.1}\" text-anchor=\"end\">{value:.0}</text>",
            y + 4.0
        ));
    }
    for second in (0..=20).map(f64::from).take_while(|second| *second <= long) {
        let (x, y) = (x(second), bottom + 18.0);
        add(format!("<text class=\"small\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{second} s</text>"));
    }
    for (number, ((name, run), colour)) in runs.iter().zip(COLOURS).enumerate() {
        let points = run.curve().filter(|(at, _)| *at <= long);
        let points = points.map(|(at, waiting)| format!("{:.1},{:.1} ", x(at), y(waiting as f64)));
        let (points, at) = (points.collect::<String>(), LEFT + 160.0 * number as f64);
        add(format!("<polyline class=\"curve\" stroke=\"{colour}\" points=\"{points}\"/>"));
        add(format!(
            "<line class=\"curve\" stroke=\"{colour}\" x1=\"{at}\" y1=\"42\" x2=\"{}\" y2=\"42\"/>",
            at + 20.0
        ));
        add(format!("<text class=\"small\" x=\"{}\" y=\"46\">{name}</text>", at + 26.0));
    }
    svg + "</svg>\n"
}
