use crate::{Axis, Chart, Panel, Scale, escaped, number, time};

const SCALES: [Scale; 4] = [Scale::Linear(5), Scale::Logarithmic(10.0), Scale::Measured, Scale::Even];

fn drawn(names: &[&str], x: Scale, y: Scale, lines: Vec<Vec<(f64, f64)>>) -> String {
    let panel = Panel::new(Axis::new("below", x, number), Axis::new("above", y, number), lines);
    Chart { title: "title", note: "", names: names.to_vec(), panels: vec![panel] }.svg()
}

/// Returns the numbers in all attributes that have one of these names.
fn attributes(svg: &str, names: &[&str]) -> Vec<f64> {
    let attributes = svg.split([' ', '\n', '>']).filter_map(|word| word.split_once("=\""));
    let wanted = attributes.filter(|(name, _)| names.contains(name));
    wanted.map(|(_, value)| value.split('"').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn whatever_the_values_are_everything_has_a_place_on_the_paper() {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let several = [vec![], vec![0.0], vec![7.0; 3], vec![0.0, 1e-12, 1e12], vec![-5.0, 5.0], bad.to_vec()];
    for values in several {
        let points: Vec<_> = values.iter().flat_map(|x| values.iter().map(|y| (*x, *y))).collect();
        for (x, y) in SCALES.iter().flat_map(|x| SCALES.map(|y| (*x, y))) {
            let svg = drawn(&["one", "two"], x, y, vec![points.clone(), vec![]]);
            let is_on_paper =
                |names: &[&str], end| attributes(&svg, names).iter().all(|at| (0.0..=end).contains(at));
            assert!(is_on_paper(&["x", "x1", "x2", "cx"], 780.0), "{x:?}, {y:?}, {values:?}: {svg}");
            assert!(is_on_paper(&["y", "y1", "y2", "cy"], 390.0), "{x:?}, {y:?}, {values:?}: {svg}");
        }
    }
}

#[test]
fn ticks_are_at_round_numbers_and_their_axis_has_room_for_all_values() {
    for (scale, values, labels) in [
        (Scale::Linear(5), [0.3, f64::NAN], "0 0.1 0.2 0.3"),
        (Scale::Linear(5), [190.0, 203.0], "0 50 100 150 200 250"),
        (Scale::Linear(4), [0.0, 57_000.0], "0 20000 40000 60000"),
        (Scale::Logarithmic(10.0), [30.0, 1_000.0], "10 100 1000"),
        (Scale::Logarithmic(2.0), [0.0625, 0.3], "0.0625 0.125 0.25 0.5"),
        (Scale::Logarithmic(10.0), [0.0, 1_000.0], "1000 10000"),
        (Scale::Measured, [120.0, 40.0], "40 120"),
    ] {
        let axis = Axis::new("", scale, number).covering(values);
        assert_eq!(axis.ticks().map(|(_, label)| label).collect::<Vec<_>>().join(" "), labels);
    }
}

#[test]
fn points_are_where_their_values_say() {
    for (scale, most, place) in [
        (Scale::Linear(5), 100.0, 0.1),
        (Scale::Logarithmic(10.0), 100.0, 0.5),
        (Scale::Measured, 50.0, 0.2),
        (Scale::Even, 7_000.0, 0.5),
    ] {
        let axis = Axis::new("", scale, number).covering([1.0, 10.0, most]);
        for (value, place) in [(10.0, place), (-1e9, 0.0), (most, 1.0), (1e9, 1.0)] {
            assert!(
                (axis.place(value) - place).abs() < 1e-6,
                "{scale:?}: {value} is at {}",
                axis.place(value)
            );
        }
    }
}

#[test]
fn labels_below_leave_out_those_that_have_no_room() {
    let points = (100..400).map(|x| (f64::from(x), 1.0)).collect();
    let svg = drawn(&[], Scale::Even, Scale::Linear(5), vec![points]);
    let shown: Vec<_> = svg.lines().filter(|line| line.contains("y=\"365.0\"")).collect();
    let places = attributes(&shown.join("\n"), &["x"]);
    assert!(shown.len() > 20 && places.windows(2).all(|pair| pair[1] - pair[0] > 20.0), "{places:?}");
}

#[test]
fn more_lines_than_colours_are_dashed_and_their_names_take_another_row() {
    let svg = drawn(&["a name of some length"; 6], Scale::Even, Scale::Even, vec![vec![]; 6]);
    let first_colour = [r#"<polyline class="curve s0""#, r#"<polyline class="curve s0" stroke-dasharray"#];
    assert_eq!(first_colour.map(|class| svg.matches(class).count()), [2, 1], "{svg}");
    assert_eq!([" y1=\"44.0\"", " y1=\"62.0\""].map(|row| svg.matches(row).count()), [3, 3], "{svg}");
}

#[test]
fn a_few_points_are_marked_and_tell_their_values() {
    let line = |count| (0..count).map(|x| (f64::from(x), 0.5)).collect();
    let svg = drawn(&["few", "many"], Scale::Measured, Scale::Linear(5), vec![line(32), line(33)]);
    let marks = ["<title>few: 0.5</title>", "<circle"].map(|mark| svg.matches(mark).count());
    assert_eq!(marks, [32, 32]);
    assert!(svg.contains("above over below: few from 0.5 at 0 to 0.5 at 31."), "{svg}");
}

#[test]
fn texts_of_strangers_stay_texts() {
    assert_eq!(escaped("a<b>&\"c\u{1b}\0\u{fffe}\n"), "a&lt;b&gt;&amp;&quot;c");
    let (bad, label) = ("<b> & \"", |_| "<b> & \"".to_owned());
    let (x, y) = (Axis::new(bad, Scale::Even, label), Axis::new(bad, Scale::Even, label));
    let panels = vec![Panel::new(x, y, vec![vec![(1.0, 1.0)]])];
    let svg = Chart { title: bad, note: bad, names: vec![bad], panels }.svg();
    assert!(!svg.contains("<b>") && !svg.contains("& "), "{svg}");
}

#[test]
fn numbers_and_times_have_few_digits_and_no_zeros_behind() {
    let numbers = [0.0, 0.1 + 0.2, 12.3456, 999.96, 131_072.0, 1e-12].map(number);
    assert_eq!(numbers, ["0", "0.3", "12.35", "1000", "131072", "0"]);
    let times = [0.0, 5e-8, 1e-5, 10_f64.powf(-3.0), 0.0456, 2.5].map(time);
    assert_eq!(times, ["0 ns", "50 ns", "10 µs", "1 ms", "45.6 ms", "2.5 s"]);
}
