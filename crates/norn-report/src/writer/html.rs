//! Reports for people, as a page: one file that needs neither network nor other files.
//!
//! The page gets its data as JSON that is inert in HTML, and shows all texts as texts. Its policy allows no
//! script and no style but its own two, by their hashes. What the page shows is decided here ([`model`]); the
//! script lays it out.

#[cfg(test)]
mod browser_tests;
mod model;
mod order;
mod source;
#[cfg(test)]
mod tests;

use std::io;

use norn_model::printable;
use sha2::{Digest as _, Sha256};

use super::{Layout, Writer};
use crate::{ExitMeaning, Report};

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Writes a report as a page.
#[derive(Clone, Copy, Debug)]
pub struct Html {
    layout: Layout,
}

impl Html {
    /// A writer for this layout.
    pub fn new(layout: Layout) -> Html {
        Html { layout }
    }
}

impl Writer for Html {
    fn write(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        let mut report = report.clone();
        // A file is read by its real name, so sources are found before names are made printable.
        let sources = source::Sources::new(&report, self.layout.sources);
        report.change_texts(|it| *it = printable(it).into_owned());
        let data = serde_json::to_string(&model::page(&report, &sources))?;
        let program = report.program.join(" ");
        let (class, verdict) = verdict(&report);
        let page = fill(
            PAGE,
            &[
                ("title", &escape(&format!("norn: {program}"))),
                ("program", &escape(&program)),
                ("verdict-class", class),
                ("verdict", &escape(&verdict)),
                ("style-hash", &hash(STYLE)),
                ("script-hash", &hash(SCRIPT)),
                ("style", STYLE),
                ("script", SCRIPT),
                ("data", &inert(&data)),
            ],
        );
        out.write_all(page.as_bytes())?;
        out.flush()
    }
}

/// What the command found, in a few words.
fn verdict(report: &Report) -> (&'static str, String) {
    let harmful = report.exit.meaning == ExitMeaning::Harmful;
    if let Some(it) = report.localization.as_ref().filter(|_| harmful) {
        return match it.clusters.len() {
            1 => ("harmful", "1 failure".to_owned()),
            failures => ("harmful", format!("{failures} failures")),
        };
    }
    match (harmful, report.summary.bugs) {
        (false, _) => ("clean", "nothing harmful".to_owned()),
        (true, 0) => ("harmful", "harmful".to_owned()),
        (true, 1) => ("harmful", "1 bug".to_owned()),
        (true, bugs) => ("harmful", format!("{bugs} bugs")),
    }
}

/// Replaces each `{name}` of the page once; what is inserted is not looked at again.
fn fill(page: &str, values: &[(&str, &str)]) -> String {
    let mut parts = page.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        let value = values.iter().find(|it| it.0 == name).map_or("", |it| it.1);
        filled.push_str(value);
        filled.push_str(rest);
    }
    filled
}

/// A text that is only a text in HTML.
fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// JSON without the characters that could end its element or begin another. They are only in strings.
fn inert(json: &str) -> String {
    let json = super::escape_json(json);
    json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

/// The hash of a script or style, as a content security policy names it.
fn hash(text: &str) -> String {
    base64(&Sha256::digest(text.as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0, |all, it| all << 8 | u32::from(*it)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let used = digit <= chunk.len();
            let value = (bits >> (18 - 6 * digit)) & 63;
            text.push(if used { DIGITS[value as usize].into() } else { '=' });
        }
    }
    text
}
