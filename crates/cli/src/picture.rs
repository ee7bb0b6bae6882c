//! The automaton of a function as a picture: its locations from top to bottom, the operations beside them, and the
//! source lines that they come from.

use palisade_cfa::*;
use palisade_witness::places::Places;
use std::fmt::Write;

/// A location with the operations that leave it.
struct Row {
    loc: LocId,
    edges: Vec<EdgeId>,
    source: String,
}

/// Characters of an operation and of a source line that are shown at most.
const SHOWN: usize = 90;

/// The locations of a function in the order in which they are first reached.
fn rows(program: &Program, places: &Places, body: &Body) -> Vec<Row> {
    let mut order: Vec<LocId> = Vec::new();
    let mut seen = std::collections::BTreeSet::from([body.entry]);
    let mut work = vec![body.entry];
    while let Some(loc) = work.pop() {
        order.push(loc);
        // The first edge is followed first.
        for &edge in program.locs[loc].out.iter().rev() {
            let next = program.edges[edge].dst;
            if next != body.exit && seen.insert(next) {
                work.push(next);
            }
        }
    }
    if body.entry != body.exit {
        order.push(body.exit);
    }
    let row = |loc: LocId| {
        let edges = program.locs[loc].out.clone();
        let span = edges.first().map_or(program.locs[loc].span, |e| program.edges[*e].span);
        let source = match (places.locate(span.lo), places.written_line(span.lo)) {
            (Some(at), Some(text)) => format!("{}:{}: {}", at.file_name, at.line, text.trim()),
            _ => String::new(),
        };
        Row { loc, edges: edges.to_vec(), source: crate::report::cropped(&source, SHOWN) }
    };
    order.into_iter().map(row).collect()
}

fn operation(program: &Program, edge: EdgeId) -> String {
    let text = program.show_op(&program.edges[edge].op).to_string();
    crate::report::cropped(&text.split_whitespace().collect::<Vec<_>>().join(" "), SHOWN)
}

/// A function for Graphviz.
pub fn dot(program: &Program, places: &Places, func: FuncId) -> Option<String> {
    let body = program.funcs[func].body.as_ref()?;
    let graph = program.analyse();
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = format!(
        "digraph {} {{\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n",
        quoted(&program.funcs[func].name)
    );
    for row in rows(program, places, body) {
        let shape = if graph.is_loop_head(row.loc) { ", peripheries=2" } else { "" };
        let label = quoted(&format!("{}  {}", row.loc, row.source));
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {} [label={label}{shape}];", row.loc);
        for &edge in &row.edges {
            let label = quoted(&operation(program, edge));
            let _ = writeln!(text, "  {} -> {} [label={label}];", row.loc, program.edges[edge].dst);
        }
    }
    text.push_str("}\n");
    Some(text)
}

/// Pixels: of a line of text, of a lane for a jump, and where operations and source lines start.
const LINE: usize = 18;
const LANE: usize = 10;
const TEXT: usize = 30;
const SOURCE: usize = 640;

/// A function as SVG. Jumps run left of the locations, each in the first lane that is free there.
pub fn svg(program: &Program, places: &Places, func: FuncId) -> Option<String> {
    let body = program.funcs[func].body.as_ref()?;
    let graph = program.analyse();
    let rows = rows(program, places, body);
    let mut tops = Vec::new();
    let mut y = 2 * LINE;
    for row in &rows {
        tops.push(y);
        y += LINE * row.edges.len().max(1) + LINE / 2;
    }
    let row_of = |loc: LocId| rows.iter().position(|r| r.loc == loc);
    let mut jumps: Vec<(usize, usize)> = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let targets = row.edges.iter().filter_map(|e| row_of(program.edges[*e].dst));
        jumps.extend(targets.filter(|t| *t != i + 1).map(|t| (i, t)));
    }
    jumps.sort_by_key(|(a, b)| a.abs_diff(*b));
    let mut lanes: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut paths = Vec::new();
    for &(from, to) in &jumps {
        let span = (from.min(to), from.max(to));
        let free = |lane: &Vec<(usize, usize)>| lane.iter().all(|s| s.1 < span.0 || span.1 < s.0);
        let lane = lanes.iter().position(free).unwrap_or(lanes.len());
        if lane == lanes.len() {
            lanes.push(Vec::new());
        }
        lanes[lane].push(span);
        paths.push((from, to, lane));
    }
    let left = LANE * (lanes.len() + 2);
    let (width, height) = (left + SOURCE + 8 * SHOWN, y + LINE);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"monospace\" \
         font-size=\"12\">\n<defs><marker id=\"a\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" \
         orient=\"auto\"><path d=\"M0,0 L7,3 L0,6\" fill=\"#0550ae\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{left}\" y=\"{LINE}\" \
         font-weight=\"bold\">{}</text>\n",
        escape(&program.funcs[func].name)
    );
    for (i, row) in rows.iter().enumerate() {
        let top = tops[i];
        let stroke = if graph.is_loop_head(row.loc) { 3 } else { 1 };
        let _ = writeln!(
            text,
            "<circle cx=\"{left}\" cy=\"{}\" r=\"5\" fill=\"white\" stroke=\"black\" stroke-width=\"{stroke}\"/>\
             <text x=\"{}\" y=\"{top}\" fill=\"#6e7781\">{}</text>",
            top - 4,
            left + SOURCE,
            escape(&row.source)
        );
        for (k, &edge) in row.edges.iter().enumerate() {
            let _ = writeln!(
                text,
                "<text x=\"{}\" y=\"{}\">{}</text>",
                left + TEXT,
                top + k * LINE,
                escape(&operation(program, edge))
            );
        }
        if row.edges.iter().any(|e| row_of(program.edges[*e].dst) == Some(i + 1)) {
            let _ = writeln!(
                text,
                "<path d=\"M{left},{} L{left},{}\" stroke=\"black\"/>",
                top + 1,
                tops[i + 1].saturating_sub(9)
            );
        }
    }
    for (from, to, lane) in paths {
        let x = left - LANE * (lane + 1);
        let (a, b) = (tops[from].saturating_sub(4), tops[to].saturating_sub(4));
        let _ = writeln!(
            text,
            "<path d=\"M{},{a} H{x} V{b} H{}\" fill=\"none\" stroke=\"#0550ae\" marker-end=\"url(#a)\"/>",
            left - 5,
            left - 6
        );
    }
    text.push_str("</svg>\n");
    Some(text)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
