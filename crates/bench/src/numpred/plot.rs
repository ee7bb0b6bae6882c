//! A figure as a picture.

use super::{Figure, Outcome};
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const MARGIN: f64 = 50.0;
const COLOURS: [&str; 6] = ["#888888", "#1f77b4", "#2ca02c", "#ff7f0e", "#d62728", "#9467bd"];

/// Time over size, both on logarithmic scales, one picture below the other.
pub fn svg(figures: &[Figure]) -> String {
    let height = HEIGHT * figures.len() as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (i, figure) in figures.iter().enumerate() {
        chart(&mut text, figure, HEIGHT * i as f64);
    }
    text += "</svg>\n";
    text
}

fn chart(text: &mut String, figure: &Figure, top: f64) {
    let log = |v: f64| v.max(1e-5).log10();
    let sizes: Vec<f64> = figure.sizes.iter().map(|&c| log(c as f64)).collect();
    let time = |o: &Outcome| match o {
        Outcome::Shown(t) | Outcome::NotShown(t) => Some(log(t.as_secs_f64())),
        Outcome::OutOfTime | Outcome::OutOfMemory => None,
    };
    let times: Vec<f64> = figure.rows.iter().flat_map(|(_, row)| row.iter().filter_map(time)).collect();
    let range = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if low.is_finite() { (low, high.max(low + 0.1)) } else { (0.0, 1.0) }
    };
    let ((left, right), (low, high)) = (range(&sizes), range(&times));
    let x = |v: f64| MARGIN + (v - left) / (right - left) * (WIDTH - 3.0 * MARGIN);
    let y = |v: f64| top + HEIGHT - MARGIN - (v - low) / (high - low) * (HEIGHT - 2.0 * MARGIN);
    let _ = writeln!(
        text,
        "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{} (seconds over C)</text>",
        top + 24.0,
        figure.title
    );
    for (c, &at) in figure.sizes.iter().zip(&sizes) {
        let (x, y) = (x(at), top + HEIGHT - MARGIN + 18.0);
        let _ = writeln!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{c}</text>");
    }
    for at in low.floor() as i32..=high.ceil() as i32 {
        let v = f64::from(at);
        if (low..=high).contains(&v) {
            let (end, y) = (WIDTH - 2.0 * MARGIN, y(v));
            let _ = writeln!(
                text,
                "<line x1=\"{MARGIN}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\
                 <text x=\"4\" y=\"{y:.1}\">{}</text>",
                10f64.powi(at)
            );
        }
    }
    for (i, (structure, row)) in figure.rows.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let points: Vec<String> = sizes
            .iter()
            .zip(row)
            .filter_map(|(&c, o)| Some(format!("{:.1},{:.1}", x(c), y(time(o)?))))
            .collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{}</text>",
            points.join(" "),
            WIDTH - 1.9 * MARGIN,
            top + MARGIN + 18.0 * i as f64,
            structure.name()
        );
    }
}
