//! Points for places in the code of a run: by line and function, which stay valid in another build,
//! and by address, for the same build.

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
