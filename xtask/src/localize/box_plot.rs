//! A box plot as a drawing: for each group its smallest and largest number, and its quartiles.

use std::fmt::Write as _;

/// The five numbers of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Five {
    smallest: usize,
    quartiles: [usize; 3],
    largest: usize,
}

impl Five {
    /// Of sorted numbers; none if there are none. A quartile is the number at its rank, rounded down.
    pub(super) fn of(sorted: &[usize]) -> Option<Five> {
        let at = |quarter: usize| sorted.get((sorted.len().checked_sub(1)?) * quarter / 4).copied();
        let quartiles = [at(1)?, at(2)?, at(3)?];
        Some(Five { smallest: at(0)?, quartiles, largest: at(4)? })
    }

    /// In order.
    pub(super) fn numbers(self) -> [usize; 5] {
        let [lower, median, upper] = self.quartiles;
        [self.smallest, lower, median, upper, self.largest]
    }
}

/// The plot.
#[derive(Debug)]
pub(super) struct BoxPlot {
    /// What the groups are, and what the numbers are.
    titles: [&'static str; 2],
    groups: Vec<(String, Five)>,
}

/// Pixels: margins, the width of a group, and the height of the plot.
const LEFT: usize = 60;
const TOP: usize = 30;
const GROUP: usize = 90;
const HEIGHT: usize = 300;

impl BoxPlot {
    /// Without groups.
    pub(super) fn new(groups: &'static str, numbers: &'static str) -> BoxPlot {
        BoxPlot { titles: [groups, numbers], groups: Vec::new() }
    }

    /// Adds a group.
    pub(super) fn add(&mut self, name: &str, five: Five) {
        self.groups.push((name.to_owned(), five));
    }

    /// The drawing.
    pub(super) fn svg(&self) -> String {
        let most =
            self.groups.iter().map(|it| it.1.largest).max().unwrap_or(1).next_multiple_of(10);
        let y = |number: usize| TOP + HEIGHT - HEIGHT * number / most;
        let right = LEFT + GROUP * self.groups.len();
        let (width, height) = (right + 20, TOP + HEIGHT + 50);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" \
             fill=\"white\"/>\n"
        );
        let [groups, numbers] = self.titles;
        text(&mut svg, (LEFT, 18), numbers);
        text(&mut svg, (usize::midpoint(LEFT, right) - 20, height - 8), groups);
        for mark in (0..=most).step_by(10) {
            text(&mut svg, (LEFT - 25, y(mark) + 4), &mark.to_string());
            path(&mut svg, &format!("M{LEFT} {0}H{right}", y(mark)), "#ddd");
        }
        for (at, (name, five)) in self.groups.iter().enumerate() {
            let x = LEFT + GROUP * at + GROUP / 2;
            let [smallest, lower, median, upper, largest] = five.numbers().map(y);
            path(&mut svg, &format!("M{x} {smallest}V{lower}M{x} {upper}V{largest}"), "#333");
            for end in [smallest, largest] {
                path(&mut svg, &format!("M{} {end}h20", x - 10), "#333");
            }
            let (left, box_height) = (x - 20, (lower - upper).max(2));
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{upper}\" width=\"40\" height=\"{box_height}\" \
                 fill=\"#cfe0f5\" stroke=\"#333\"/>"
            );
            path(&mut svg, &format!("M{left} {median}h40"), "#b00");
            text(&mut svg, (x - 8, TOP + HEIGHT + 20), name);
        }
        svg + "</svg>\n"
    }
}

fn text(svg: &mut String, (x, y): (usize, usize), text: &str) {
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{text}</text>");
}

fn path(svg: &mut String, steps: &str, color: &str) {
    let _ = writeln!(svg, "<path d=\"{steps}\" stroke=\"{color}\" fill=\"none\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_five_numbers() {
        let five = Five::of(&[3, 3, 3, 4, 5, 8, 9, 20, 38]).unwrap();
        assert_eq!(five.numbers(), [3, 3, 5, 9, 38]);
        assert_eq!(Five::of(&[]), None);
        assert_eq!(Five::of(&[7]).unwrap().numbers(), [7; 5]);
    }

    #[test]
    fn each_group_has_a_box() {
        let mut plot = BoxPlot::new("threads", "slots");
        plot.add("4", Five::of(&[3, 4, 5]).unwrap());
        plot.add("8", Five::of(&[3, 3, 12]).unwrap());
        let svg = plot.svg();
        assert_eq!(svg.matches("fill=\"#cfe0f5\"").count(), 2);
        assert!(svg.contains(">20<"), "{svg}");
    }
}
