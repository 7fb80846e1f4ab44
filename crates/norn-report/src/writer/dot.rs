//! Drawings of interleaving patterns for Graphviz: the most suspicious pattern of each failure as a
//! graph, with a box for each thread and an edge from each access to the next one.

use std::io::{self, Write};

use norn_model::printable;

use super::{Writer, entry::access};
use crate::{Access, RankedPattern, Report, vocabulary::place};

/// Writes the patterns of a report in the language of Graphviz.
#[derive(Clone, Copy, Debug)]
pub struct Dot;

impl Writer for Dot {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "digraph patterns {{")?;
        writeln!(out, "  node [shape=box, fontname=\"monospace\"];")?;
        let clusters = report.localization.iter().flat_map(|it| &it.clusters);
        for (failure, cluster) in (1..).zip(clusters) {
            if let Some(pattern) = cluster.ranking.first() {
                graph(out, failure, &cluster.title, pattern)?;
            }
        }
        writeln!(out, "}}")?;
        out.flush()
    }
}

fn graph(
    out: &mut dyn Write,
    failure: usize,
    title: &str,
    pattern: &RankedPattern,
) -> io::Result<()> {
    let RankedPattern { title: what, shape, score, accesses, .. } = pattern;
    let label = quoted(&format!("failure {failure}: {title}\n{what} ({shape}), score {score:.2}"));
    writeln!(out, "  subgraph cluster_{failure} {{")?;
    writeln!(out, "    label={label};")?;
    for (number, thread) in threads(accesses).iter().enumerate() {
        writeln!(out, "    subgraph cluster_{failure}_{number} {{")?;
        writeln!(out, "      label={}; style=dashed;", quoted(thread))?;
        for (at, it) in accesses.iter().enumerate().filter(|it| it.1.thread.0 == *thread) {
            let label = quoted(&format!("{}. {}\n{}", at + 1, access(it), site(it)));
            writeln!(out, "      a{failure}_{at} [label={label}];")?;
        }
        writeln!(out, "    }}")?;
    }
    for at in 1..accesses.len() {
        writeln!(out, "    a{failure}_{} -> a{failure}_{at};", at - 1)?;
    }
    writeln!(out, "  }}")
}

/// The threads of a pattern, in the order of their first accesses.
pub(super) fn threads(accesses: &[Access]) -> Vec<&str> {
    let mut threads = Vec::new();
    for access in accesses {
        if !threads.contains(&access.thread.0.as_str()) {
            threads.push(access.thread.0.as_str());
        }
    }
    threads
}

/// Where an access is.
pub(super) fn site(access: &Access) -> String {
    access.stack.first().map_or_else(|| "?".to_owned(), place)
}

/// A string of the language. Its line breaks are ours: those of names are spelled out.
fn quoted(text: &str) -> String {
    let lines = text.lines().map(|it| printable(it).replace('\\', "\\\\").replace('"', "\\\""));
    format!("\"{}\"", lines.collect::<Vec<_>>().join("\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::text::localization::tests::localized;

    #[test]
    fn a_pattern_is_a_graph() {
        let mut out = Vec::new();
        Dot.write(&localized(), &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
        digraph patterns {
          node [shape=box, fontname="monospace"];
          subgraph cluster_1 {
            label="failure 1: Message\nTitle (R1-W2-W1), score 0.86";
            subgraph cluster_1_0 {
              label="T0.1"; style=dashed;
              a1_0 [label="1. T0.1 reads till = 0\npay till.c:12"];
              a1_2 [label="3. T0.1 writes till = 5\npay till.c:13"];
            }
            subgraph cluster_1_1 {
              label="T0.2"; style=dashed;
              a1_1 [label="2. T0.2 writes till = 5\npay till.c:13"];
            }
            a1_0 -> a1_1;
            a1_1 -> a1_2;
          }
        }
        "#);
    }
}
