//! Translates a plan into the tables that the runtime reads.

use std::{os::unix::ffi::OsStrExt as _, path::Path};

use norn_abi::control::{self, ANYWHERE, after, timeouts, until};
use norn_frontend::{After, FrontEndError, Guide, Inputs, Launch, Plan, Timeouts};
use norn_model::{Class, Point, Until, Visit};
use norn_record::{Control, Feed};
use norn_trace::class_code;

use crate::{
    code::{Codes, find_program},
    error,
    files::Files,
    thread_names::ThreadNames,
};

/// Translates the plan of a launch.
pub(crate) fn translate(
    plan: &Plan,
    launch: &Launch,
    files: &Files,
) -> Result<Control, FrontEndError> {
    let tables = match &plan.guide {
        Some(guide) => {
            let name = launch.command.first().map_or_else(Default::default, Clone::clone);
            let program = find_program(&name, launch.directory.as_deref())?;
            tables(guide, &Codes::open(guide, files, &program)?)?
        }
        None => Control::default(),
    };
    Ok(Control { plan: parameters(plan), ..tables })
}

fn parameters(plan: &Plan) -> control::Plan {
    control::Plan {
        strategy: plan.strategy.code(),
        after: match plan.after {
            After::Fair => after::FAIR,
            After::Free => after::FREE,
            After::Stop => after::STOP,
        },
        seed: plan.seed,
        depth: plan.depth,
        quantum: plan.quantum,
        expected: plan.expected,
        max_steps: plan.max_steps,
        realtime: plan.clock.realtime,
        monotonic: plan.clock.monotonic,
        process: plan.process,
        linger: plan.linger.into(),
        timeouts: match plan.timeouts {
            Timeouts::ByClock => timeouts::BY_CLOCK,
            Timeouts::Listed => timeouts::LISTED,
        },
        memory: plan.memory.code(),
        ..control::Plan::default()
    }
}

/// The tables of a schedule.
fn tables(guide: &Guide, codes: &Codes) -> Result<Control, FrontEndError> {
    let mut tables = Tables::new(codes)?;
    for (at, segment) in guide.schedule.segments.iter().enumerate() {
        tables.number = at + 1;
        let name = &segment.thread.0;
        let thread = tables.names.entry(name);
        let thread =
            thread.ok_or_else(|| FrontEndError::Name { segment: at + 1, name: name.clone() })?;
        let end = tables.until(&segment.until)?;
        tables.control.segments.push(control::Segment { thread, ..end });
    }
    if let Some(inputs) = &guide.inputs {
        tables.control.inputs = feed(inputs, &mut tables.names);
    }
    tables.control.names = tables.names.0;
    Ok(tables.control)
}

/// The inputs that are fed back. Threads that a schedule cannot name get none.
fn feed(inputs: &Inputs, names: &mut ThreadNames) -> Vec<Feed> {
    let calls = inputs.calls.iter();
    let fed = calls.filter_map(|it| Some((names.entry(&it.thread.0)?, it.got.clone())));
    fed.map(|(thread, got)| Feed { thread, got }).collect()
}

/// Tables in construction.
struct Tables<'a> {
    codes: &'a Codes,
    /// The number of the current segment, from 1.
    number: usize,
    names: ThreadNames,
    control: Control,
}

impl Tables<'_> {
    fn new(codes: &Codes) -> Result<Tables<'_>, FrontEndError> {
        let modules = codes.0.values().map(|it| module(&it.path)).collect::<Result<_, _>>()?;
        let control = Control { modules, ..Control::default() };
        Ok(Tables { codes, number: 0, names: ThreadNames::new(), control })
    }

    /// The end of a segment; the caller fills in its thread.
    fn until(&mut self, end: &Until) -> Result<control::Segment, FrontEndError> {
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
            Until::Event { index, at: Some(visit) } => match self.recorded_point(&visit.point)? {
                Some(exactly) => Ok(self.with(segment(until::EVENT, *index), vec![exactly])),
                None if visit.point.code.is_some() => self.visit(until::BEFORE, visit),
                None => {
                    let points = self.points(&visit.point)?;
                    Ok(self.with(segment(until::EVENT, *index), points))
                }
            },
        }
    }

    fn visit(&mut self, how: u32, visit: &Visit) -> Result<control::Segment, FrontEndError> {
        let points = match self.recorded_point(&visit.point)? {
            Some(exactly) => vec![exactly],
            None => self.points(&visit.point)?,
        };
        Ok(self.with(segment(how, visit.times), points))
    }

    fn with(&mut self, segment: control::Segment, points: Vec<control::Point>) -> control::Segment {
        let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let (point, added) = (count(self.control.points.len()), count(points.len()));
        self.control.points.extend(points);
        control::Segment { point, points: added, ..segment }
    }

    /// The recorded address, if the module is still the same build.
    fn recorded_point(&self, wanted: &Point) -> Result<Option<control::Point>, FrontEndError> {
        let Some(code) = &wanted.code else { return Ok(None) };
        let found = self.codes.0.iter().zip(0..).find(|((label, _), _)| **label == code.module);
        let missing =
            || FrontEndError::NoModule { segment: self.number, point: wanted.to_string() };
        let ((_, module), at) = found.ok_or_else(missing)?;
        Ok(module.same.then(|| point(at, wanted.class, code.offset)))
    }

    /// All places that match a point by line, function and class.
    fn points(&self, wanted: &Point) -> Result<Vec<control::Point>, FrontEndError> {
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

    fn no_place(&self, wanted: &Point) -> FrontEndError {
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
        FrontEndError::NoPlace { segment: self.number, point: wanted.to_string(), hint }
    }
}

fn segment(until: u32, count: u64) -> control::Segment {
    control::Segment { until, count, ..control::Segment::default() }
}

fn point(module: u32, class: Class, offset: u64) -> control::Point {
    control::Point { module, class: class_code(class), offset }
}

fn module(path: &Path) -> Result<control::Module, FrontEndError> {
    let mut module = control::Module { path: [0; 1024] };
    let bytes = path.as_os_str().as_bytes();
    // The path ends with a zero.
    if bytes.len() >= module.path.len() {
        return Err(error::other(error::LongPath(path.to_owned())));
    }
    module.path[..bytes.len()].copy_from_slice(bytes);
    Ok(module)
}
