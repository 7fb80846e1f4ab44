//! Output formats: of reports, as `norn-report` lists them, and of other outputs.

use clap::{
    ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use norn_report::writer::{FORMATS, format};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text to read
    #[default]
    Text,
    /// JSON for programs
    Json,
}

/// The format of a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportFormat(pub(crate) &'static norn_report::writer::Format);

impl ReportFormat {
    /// The text format.
    pub(crate) const TEXT: &str = "text";

    /// The default format, which is text.
    pub(crate) fn text() -> ReportFormat {
        ReportFormat(&FORMATS[0])
    }

    /// The page.
    pub(crate) fn html() -> ReportFormat {
        ReportFormat(&norn_report::writer::HTML)
    }

    /// Whether this is the text format.
    pub(crate) fn is_text(self) -> bool {
        self.0.name == Self::TEXT
    }
}

/// Parses the name of a format that shows findings.
pub(crate) fn report_format() -> impl TypedValueParser<Value = ReportFormat> {
    one_of(FORMATS.iter().filter(|it| it.findings))
}

/// Parses the name of a format that shows rankings of patterns.
pub(crate) fn ranking_format() -> impl TypedValueParser<Value = ReportFormat> {
    one_of(FORMATS.iter())
}

fn one_of(
    formats: impl Iterator<Item = &'static norn_report::writer::Format>,
) -> impl TypedValueParser<Value = ReportFormat> {
    let values = formats.map(|it| PossibleValue::new(it.name).help(it.help));
    PossibleValuesParser::new(values)
        .try_map(|name| format(&name).map(ReportFormat).ok_or("there is no such format"))
}
