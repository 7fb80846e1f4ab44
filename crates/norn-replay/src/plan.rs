//! From a schedule to the tables that the runtime reads.

use std::{os::unix::ffi::OsStrExt as _, path::Path};

use norn_abi::control::{self, ANYWHERE, until};
use norn_model::{Class, Point, Until, Visit};
use norn_record::Control;

use crate::{Clip, Codes, ReplayError, class, name::Names};

/// Makes the tables of a clip's schedule. What the plan says besides is up to the caller.
pub fn plan(clip: &Clip, codes: &Codes) -> Result<Control, ReplayError> {
    let mut plan = Plan::new(codes)?;
    for (at, segment) in clip.schedule.segments.iter().enumerate() {
        plan.number = at + 1;
        let name = &segment.thread.0;
        let thread = plan.names.entry(name);
        let thread =
            thread.ok_or_else(|| ReplayError::Name { segment: at + 1, name: name.clone() })?;
        let end = plan.until(&segment.until)?;
        plan.control.segments.push(control::Segment { thread, ..end });
    }
    if let Some(inputs) = &clip.inputs {
        plan.control.inputs = inputs.feed(&mut plan.names);
    }
    plan.control.names = plan.names.0;
    Ok(plan.control)
}

/// A plan that grows.
struct Plan<'a> {
    codes: &'a Codes,
    /// The segment at which we are, from 1.
    number: usize,
    names: Names,
    control: Control,
}

impl Plan<'_> {
    fn new(codes: &Codes) -> Result<Plan<'_>, ReplayError> {
        let modules = codes.0.values().map(|it| module(&it.path)).collect::<Result<_, _>>()?;
        let control = Control { modules, ..Control::default() };
        Ok(Plan { codes, number: 0, names: Names::new(), control })
    }

    /// How a segment ends; its thread is still to be filled in.
    fn until(&mut self, end: &Until) -> Result<control::Segment, ReplayError> {
        match end {
            Until::End => Ok(segment(until::ENDS, 0)),
            Until::Blocks => Ok(segment(until::BLOCKS, 0)),
            Until::Timeout => Ok(segment(until::TIMEOUT, 0)),
            Until::Before(visit) => self.visit(until::BEFORE, visit),
            Until::After(visit) => self.visit(until::AFTER, visit),
            Until::Event { index, at: None } => {
                let points = vec![point(0, Class::Any, ANYWHERE)];
                Ok(self.with(segment(until::EVENT, *index), points))
            }
            Until::Event { index, at: Some(visit) } => match self.exactly(&visit.point)? {
                Some(exactly) => Ok(self.with(segment(until::EVENT, *index), vec![exactly])),
                None if visit.point.code.is_some() => self.visit(until::BEFORE, visit),
                None => {
                    let points = self.points(&visit.point)?;
                    Ok(self.with(segment(until::EVENT, *index), points))
                }
            },
        }
    }

    fn visit(&mut self, how: u32, visit: &Visit) -> Result<control::Segment, ReplayError> {
        let points = match self.exactly(&visit.point)? {
            Some(exactly) => vec![exactly],
            None => self.points(&visit.point)?,
        };
        Ok(self.with(segment(how, visit.times), points))
    }

    fn with(&mut self, segment: control::Segment, points: Vec<control::Point>) -> control::Segment {
        let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let (first, many) = (count(self.control.points.len()), count(points.len()));
        self.control.points.extend(points);
        control::Segment { point: first, points: many, ..segment }
    }

    /// The address that a machine wrote, if the module is still the same.
    fn exactly(&self, wanted: &Point) -> Result<Option<control::Point>, ReplayError> {
        let Some(code) = &wanted.code else { return Ok(None) };
        let found = self.codes.0.iter().zip(0..).find(|((label, _), _)| **label == code.module);
        let missing = || ReplayError::NoModule { segment: self.number, point: wanted.to_string() };
        let ((_, module), at) = found.ok_or_else(missing)?;
        Ok(module.same.then(|| point(at, wanted.class, code.offset)))
    }

    /// All places that fit what a person wrote.
    fn points(&self, wanted: &Point) -> Result<Vec<control::Point>, ReplayError> {
        if wanted.line.is_none() && wanted.function.is_none() {
            return Ok(vec![point(0, wanted.class, ANYWHERE)]);
        }
        let modules = self.codes.0.values().zip(0..);
        let points: Vec<_> = modules
            .flat_map(|(module, at)| {
                let offsets = module.offsets(wanted).into_iter();
                offsets.map(move |offset| point(at, wanted.class, offset))
            })
            .collect();
        if points.is_empty() {
            return Err(self.no_place(wanted));
        }
        Ok(points)
    }

    fn no_place(&self, wanted: &Point) -> ReplayError {
        let lines = wanted.line.iter().flat_map(|line| {
            self.codes.0.values().flat_map(|it| it.lines(&line.file, wanted.class))
        });
        let lines: Vec<_> = lines.map(|it| it.to_string()).collect();
        let what = wanted.class.name();
        let hint = match (&wanted.line, lines.is_empty()) {
            (Some(line), false) => {
                format!("\nhint: in {} there is `{what}` on line {}", line.file, lines.join(", "))
            }
            (Some(line), true) => format!("\nhint: there is no `{what}` in {} at all", line.file),
            (None, _) => String::new(),
        };
        ReplayError::NoPlace { segment: self.number, point: wanted.to_string(), hint }
    }
}

fn segment(until: u32, count: u64) -> control::Segment {
    control::Segment { until, count, ..control::Segment::default() }
}

fn point(module: u32, class: Class, offset: u64) -> control::Point {
    control::Point { module, class: class::code(class), offset }
}

fn module(path: &Path) -> Result<control::Module, ReplayError> {
    let mut module = control::Module { path: [0; 1024] };
    let bytes = path.as_os_str().as_bytes();
    // There is a zero behind it.
    if bytes.len() >= module.path.len() {
        return Err(ReplayError::LongPath(path.to_owned()));
    }
    module.path[..bytes.len()].copy_from_slice(bytes);
    Ok(module)
}
