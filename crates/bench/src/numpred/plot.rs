//! Figures as pictures.

use super::programs::Row;
use super::{Figure, Outcome};
use palisade_numpred::Structure;
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const MARGIN: f64 = 50.0;
const COLOURS: [&str; 6] = ["#888888", "#1f77b4", "#2ca02c", "#ff7f0e", "#d62728", "#9467bd"];

/// Something to draw.
pub enum Picture<'a> {
    /// Time over size, both on logarithmic scales (Figure 14).
    Growth(&'a Figure),
    /// Bars: for each program the time of the last round of refinement by structure, on a logarithmic scale
    /// (Figure 15). A program that a structure does not settle has no bar of it.
    Bars(&'a [Row]),
}

/// The pictures, one below the other.
pub fn svg(pictures: &[Picture<'_>]) -> String {
    let height = HEIGHT * pictures.len() as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (i, picture) in pictures.iter().enumerate() {
        match picture {
            Picture::Growth(figure) => chart(&mut text, figure, HEIGHT * i as f64),
            Picture::Bars(rows) => bars(&mut text, rows, HEIGHT * i as f64),
        }
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

fn bars(text: &mut String, rows: &[Row], top: f64) {
    let log = |v: f64| v.max(1e-4).log10();
    let time = |row: &Row, i: usize| {
        row.runs.get(i).filter(|run| run.settled()).map(|run| log(run.last.as_secs_f64()))
    };
    let all = rows.iter().flat_map(|row| (0..Structure::ALL.len()).filter_map(|i| time(row, i)));
    let (low, high) = (-4.0, all.fold(0.0, f64::max));
    let bottom = top + HEIGHT - MARGIN;
    let y = |v: f64| bottom - (v - low) / (high - low) * (HEIGHT - 2.0 * MARGIN);
    let group = (WIDTH - 3.0 * MARGIN) / rows.len().max(1) as f64;
    let bar = group / (Structure::ALL.len() + 1) as f64;
    let _ = writeln!(
        text,
        "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">Figure 15 (seconds of the last round, by program)</text>",
        top + 24.0
    );
    for at in low as i32..=high.floor() as i32 {
        let (end, y) = (WIDTH - 2.0 * MARGIN, y(f64::from(at)));
        let _ = writeln!(
            text,
            "<line x1=\"{MARGIN}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"4\" y=\"{y:.1}\">{}</text>",
            10f64.powi(at)
        );
    }
    for (i, structure) in Structure::ALL.into_iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        for (k, row) in rows.iter().enumerate() {
            let Some(time) = time(row, i) else { continue };
            let (x, y) = (MARGIN + group * k as f64 + bar * i as f64, y(time));
            let _ = writeln!(
                text,
                "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{bar:.2}\" height=\"{:.1}\" fill=\"{colour}\">\
                 <title>{}</title></rect>",
                (bottom - y).max(1.0),
                structure.name()
            );
        }
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" fill=\"{colour}\">{}</text>",
            WIDTH - 1.9 * MARGIN,
            top + MARGIN + 18.0 * i as f64,
            structure.name()
        );
    }
}
