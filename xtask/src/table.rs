//! Tables that read well both in a terminal and as Markdown.

use std::fmt;

/// Rows of cells under a header. The first column is text, the others are figures.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<Cell: Into<String>>(head: impl IntoIterator<Item = Cell>) -> Table {
        Table { rows: vec![head.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row; missing cells stay empty.
    pub(crate) fn row<Cell: Into<String>>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.rows[0].len(), String::new());
        self.rows.push(row);
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        (0..self.rows[0].len()).map(|column| width(column).unwrap_or(0).max(3)).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (number, row) in self.rows.iter().enumerate() {
            line(f, row, &widths)?;
            if number == 0 {
                rule(f, &widths)?;
            }
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, row: &[String], widths: &[usize]) -> fmt::Result {
    for (column, (cell, &width)) in row.iter().zip(widths).enumerate() {
        if column == 0 {
            write!(f, "| {cell:<width$} ")?;
        } else {
            write!(f, "| {cell:>width$} ")?;
        }
    }
    writeln!(f, "|")
}

/// The line under the header, which also specifies the alignment of the columns.
fn rule(f: &mut fmt::Formatter<'_>, widths: &[usize]) -> fmt::Result {
    for (column, &width) in widths.iter().enumerate() {
        if column == 0 {
            write!(f, "|{:-<1$}", "", width + 2)?;
        } else {
            write!(f, "|{:->1$}", ":", width + 2)?;
        }
    }
    writeln!(f, "|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["name", "×"]);
        table.row(["queue", "12.3"]);
        table.row(["a"]);
        assert_eq!(
            table.to_string(),
            "| name  |    × |\n|-------|-----:|\n| queue | 12.3 |\n| a     |      |\n"
        );
    }
}
