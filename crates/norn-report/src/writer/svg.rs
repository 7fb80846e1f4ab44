//! Drawings of interleaving patterns: the most suspicious pattern of each failure, with a lane for each
//! thread, time from top to bottom, and an arrow from each access to the next one.

use std::io::{self, Write};

use super::{
    Writer,
    dot::{site, threads},
    entry::access,
    junit::escape,
};
use crate::{FailureCluster, RankedPattern, Report};

/// Pixels: of a lane, of a row, of the head of a pattern, and of a box.
const LANE: usize = 380;
const ROW: usize = 70;
const HEAD: usize = 90;
const BOX: (usize, usize) = (LANE - 30, 44);
/// Characters of the font that fit into a box.
const FIT: usize = 46;

/// Writes the patterns of a report as a drawing.
#[derive(Clone, Copy, Debug)]
pub struct Svg;

impl Writer for Svg {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let clusters = report.localization.iter().flat_map(|it| &it.clusters);
        let drawn: Vec<_> = (1..)
            .zip(clusters)
            .filter_map(|(number, it)| Some((number, it, it.ranking.first()?)))
            .collect();
        let height: usize = drawn.iter().map(|it| height(it.2)).sum();
        let lanes = drawn.iter().map(|it| threads(&it.2.accesses).len()).max().unwrap_or(0);
        let width = lanes.max(2) * LANE + 20;
        writeln!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{}" font-family="monospace" font-size="12">"#,
            height.max(ROW)
        )?;
        writeln!(
            out,
            r##"  <defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 10 5 0 10z" fill="#555"/></marker></defs>"##
        )?;
        writeln!(out, r#"  <rect width="100%" height="100%" fill="white"/>"#)?;
        if drawn.is_empty() {
            text(out, (10, 30), "no run failed, so there is no pattern to draw")?;
        }
        let mut top = 0;
        for (number, cluster, pattern) in drawn {
            draw(out, top, number, cluster, pattern)?;
            top += self::height(pattern);
        }
        writeln!(out, "</svg>")?;
        out.flush()
    }
}

fn height(pattern: &RankedPattern) -> usize {
    HEAD + ROW * pattern.accesses.len()
}

fn draw(
    out: &mut dyn Write,
    top: usize,
    number: usize,
    cluster: &FailureCluster,
    pattern: &RankedPattern,
) -> io::Result<()> {
    let RankedPattern { title, shape, score, accesses, .. } = pattern;
    let threads = threads(accesses);
    text(out, (10, top + 20), &format!("failure {number}: {}", cluster.title))?;
    text(out, (10, top + 38), &format!("{title} ({shape}), score {score:.2}"))?;
    for (lane, thread) in threads.iter().enumerate() {
        let x = center(lane);
        let (from, to) = (top + 68, top + height(pattern) - 6);
        text(out, (x - 20, top + 62), thread)?;
        writeln!(out, r##"  <path d="M{x} {from}V{to}" stroke="#bbb" stroke-dasharray="4 4"/>"##)?;
    }
    let lane = |at: usize| threads.iter().position(|it| *it == accesses[at].thread.0).unwrap_or(0);
    for (at, it) in accesses.iter().enumerate() {
        let (x, y) = (center(lane(at)) - BOX.0 / 2, row(top, at));
        let (width, height) = BOX;
        writeln!(
            out,
            r##"  <rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="#eef3fb" stroke="#557"/>"##
        )?;
        text(out, (x + 8, y + 18), &fitting(&access(it)))?;
        text(out, (x + 8, y + 35), &fitting(&site(it)))?;
    }
    for at in 1..accesses.len() {
        let (from, to) = (center(lane(at - 1)), center(lane(at)));
        let (start, end) = (row(top, at - 1) + BOX.1, row(top, at) - 1);
        writeln!(
            out,
            r##"  <path d="M{from} {start}L{to} {end}" stroke="#555" fill="none" marker-end="url(#arrow)"/>"##
        )?;
    }
    Ok(())
}

/// The middle of a lane.
fn center(lane: usize) -> usize {
    10 + lane * LANE + LANE / 2
}

/// The top of the box of an access.
fn row(top: usize, at: usize) -> usize {
    top + HEAD + at * ROW
}

/// The beginning of a text that is too long for a box.
fn fitting(text: &str) -> String {
    if text.chars().count() <= FIT {
        return text.to_owned();
    }
    text.chars().take(FIT - 1).chain(['…']).collect()
}

fn text(out: &mut dyn Write, (x, y): (usize, usize), text: &str) -> io::Result<()> {
    writeln!(out, r#"  <text x="{x}" y="{y}">{}</text>"#, escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, writer::text::localization::tests::localized};

    fn svg(report: &Report) -> String {
        let mut out = Vec::new();
        Svg.write(report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_pattern_has_a_lane_for_each_thread_and_a_box_for_each_access() {
        let drawing = svg(&localized());
        assert_eq!(drawing.matches("<rect").count(), 1 + 3);
        assert_eq!(drawing.matches("stroke-dasharray").count(), 2);
        assert_eq!(drawing.matches("marker-end").count(), 2);
        for text in ["T0.1 reads till = 0", "T0.2 writes till = 5", "pay till.c:13", "score 0.86"] {
            assert!(drawing.contains(text), "{text}\n{drawing}");
        }
    }

    #[test]
    fn without_failures_the_drawing_says_so() {
        assert!(svg(&Report::new(Command::Localize, "0.1.0")).contains("no run failed"));
    }
}
