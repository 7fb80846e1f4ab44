//! Points for places in the code of a run: by line and function, which stay valid in another build,
//! and by address, for the same build.

use std::collections::BTreeMap;

use norn_model::{Class, Code, Line, Location, Point, SiteId};
use norn_trace::{Site, class_of};

use crate::{SymbolizedTrace, label::Labels};

/// The point of a site of a run.
pub fn point(symbolized: &SymbolizedTrace, site: SiteId) -> Point {
    let site = symbolized.trace.site(site);
    let mut labels = Labels::new(symbolized);
    site.map_or(Point::anywhere(Class::Any), |it| look_up(symbolized, &mut labels, it))
}

/// The point of a site.
pub(crate) fn look_up(symbolized: &SymbolizedTrace, labels: &mut Labels<'_>, site: Site) -> Point {
    let frames = symbolized.symbols.frames(site.pc);
    let frame = frames.first();
    Point {
        class: class_of(site.kind),
        line: frame.and_then(line),
        function: frame.and_then(|it| it.function.clone()),
        code: labels.place(site.pc).map(|(module, offset)| Code { module, offset }),
    }
}

/// The part of a point that stays the same in another build.
pub(crate) fn plain(point: &Point) -> Point {
    Point { code: None, ..point.clone() }
}

fn line(frame: &Location) -> Option<Line> {
    let file = frame.file.as_deref()?;
    let file = file.rsplit('/').next().unwrap_or(file).to_owned();
    Some(Line { file, number: frame.line? })
}

/// The number of a point, and that of the part of it that stays the same in another build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointNumber {
    pub(crate) exact: u32,
    pub(crate) plain: u32,
}

/// The points of the sites of a run. Each site is looked up once, and points are compared by numbers: a run has
/// millions of events, and a point has several texts.
pub(crate) struct PointTable<'a, 'b> {
    symbolized: &'a SymbolizedTrace,
    labels: &'b mut Labels<'a>,
    /// By site.
    sites: Vec<Option<PointNumber>>,
    /// By number.
    points: Vec<Point>,
    exact: BTreeMap<Point, u32>,
    plain: BTreeMap<Point, u32>,
}

impl<'a, 'b> PointTable<'a, 'b> {
    /// `labels` gets the modules of the points that are looked up.
    pub(crate) fn new(symbolized: &'a SymbolizedTrace, labels: &'b mut Labels<'a>) -> Self {
        PointTable {
            symbolized,
            labels,
            sites: vec![None; symbolized.trace.sites().len()],
            points: Vec::new(),
            exact: BTreeMap::new(),
            plain: BTreeMap::new(),
        }
    }

    /// The number of the point of a site.
    pub(crate) fn number(&mut self, site: SiteId) -> PointNumber {
        if let Some(Some(number)) = self.sites.get(site.0 as usize) {
            return *number;
        }
        let found = self.symbolized.trace.site(site);
        let point = found.map_or(Point::anywhere(Class::Any), |it| self.look_up(it));
        let number = self.number_of(point);
        if let Some(place) = self.sites.get_mut(site.0 as usize) {
            *place = Some(number);
        }
        number
    }

    /// The number of a point.
    pub(crate) fn number_of(&mut self, point: Point) -> PointNumber {
        let next = |all: &BTreeMap<Point, u32>| u32::try_from(all.len()).unwrap_or(u32::MAX);
        let new = next(&self.plain);
        let plain = *self.plain.entry(plain(&point)).or_insert(new);
        let new = next(&self.exact);
        let exact = *self.exact.entry(point.clone()).or_insert(new);
        if exact == new {
            self.points.push(point);
        }
        PointNumber { exact, plain }
    }

    /// The point of a site.
    pub(crate) fn point(&mut self, site: SiteId) -> Point {
        let number = self.number(site);
        self.points[number.exact as usize].clone()
    }

    /// The point of a site that no event has.
    pub(crate) fn look_up(&mut self, site: Site) -> Point {
        look_up(self.symbolized, self.labels, site)
    }
}
