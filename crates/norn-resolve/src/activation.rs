//! The functions that a thread was in, and where their frames were.
//!
//! A trace does not say where frames are, but it says enough to tell. A hook is given an address,
//! and the code before its call often makes that address from the stack pointer: then both are
//! known ([`norn_binary::CallSite`]). Or it is what the function was given as an argument, and the
//! caller made it so. And frames lie side by side: a function's frame ends where the stack pointer
//! of its caller was. So one such hook tells where all frames are that are connected to it by calls
//! which were seen. All that tell must agree, or none is believed.

use std::ops::Range;

use norn_binary::CallSite;
use norn_model::{Op, ThreadId};
use norn_trace::{Motion, Trace};
use rustc_hash::FxHashMap;

use crate::Modules;

/// So many are kept of a thread; those that call no others are left out beyond.
const MOST: usize = 1 << 20;

/// So many functions are taken to be in each other where a chunk begins; one that is damaged may say
/// anything.
const DEEPEST: u64 = 1 << 16;

/// What the calling convention aligns frames to.
const ALIGNMENT: u64 = 16;

/// One call of a function, from its beginning to its end.
#[derive(Clone, Debug)]
pub(crate) struct Activation {
    /// The events in between, by index.
    pub(crate) events: Range<u64>,
    /// Which one called it, as far as that was recorded.
    parent: Option<usize>,
    /// Where it returns to.
    pub(crate) from: u64,
    /// Where the function begins; 0 if nothing is known of it.
    pub(crate) function: u64,
    frame: Frame,
    /// Its first argument, where that is an address on the stack.
    given: Frame,
}

/// Where a frame is, or something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frame {
    #[default]
    Unknown,
    /// The stack pointer before the call was this.
    At(u64),
    /// There is more than one answer.
    Disputed,
}

impl Frame {
    fn known(self) -> Option<u64> {
        match self {
            Frame::At(address) => Some(address),
            _ => None,
        }
    }

    /// Somebody says that a frame is there, if one can be there.
    fn hear(&mut self, address: u64, stack: &Range<u64>) {
        if address.is_multiple_of(ALIGNMENT) && (stack.start..=stack.end).contains(&address) {
            self.agree(address);
        } else {
            *self = Frame::Disputed;
        }
    }

    fn agree(&mut self, address: u64) {
        *self = match *self {
            Frame::Unknown => Frame::At(address),
            Frame::At(known) if known == address => Frame::At(known),
            _ => Frame::Disputed,
        };
    }
}

impl Activation {
    /// The stack pointer before the call.
    pub(crate) fn frame(&self) -> Option<u64> {
        self.frame.known()
    }

    /// An address was the first argument of a call that this one made.
    fn learn(&mut self, site: CallSite, addr: u64, stack: &Range<u64>) {
        if let Some(distance) = site.argument {
            self.frame.hear(addr.wrapping_sub_signed(distance), stack);
        }
        if let Some(distance) = site.forwarded {
            self.given.agree(addr.wrapping_sub_signed(distance));
        }
    }
}

/// All calls of a thread, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Activations {
    list: Vec<Activation>,
    /// Whether some were left out.
    pub(crate) partial: bool,
}

impl Activations {
    pub(crate) fn of(trace: &Trace, modules: &Modules, thread: ThreadId) -> Activations {
        let stack = match trace.events(thread).next().map(|it| it.op) {
            Some(Op::Begin { stack, size }) => stack..stack.saturating_add(size),
            _ => return Activations::default(),
        };
        let sites = FxHashMap::default();
        let (open, all) = (Vec::new(), Activations::default());
        let mut walk = Walk { modules, stack, sites, open, all };
        trace.motions(thread, |index, motion| walk.step(index, motion));
        walk.leave(u64::MAX, 0);
        walk.spread();
        walk.all
    }

    /// Those that were going on at an event, innermost first.
    pub(crate) fn during(&self, index: u64) -> impl Iterator<Item = &Activation> {
        let after = self.list.partition_point(|it| it.events.start <= index);
        let climb = |at: &usize| self.list[*at].parent;
        let all = std::iter::successors(after.checked_sub(1), climb).map(|at| &self.list[at]);
        all.filter(move |it| it.events.contains(&index))
    }
}

struct Walk<'a> {
    modules: &'a Modules,
    stack: Range<u64>,
    sites: FxHashMap<u64, Option<CallSite>>,
    /// Which ones are going on, outermost first; nothing for one that was left out.
    open: Vec<usize>,
    all: Activations,
}

impl Walk<'_> {
    fn step(&mut self, index: u64, motion: Motion) {
        match motion {
            Motion::Depth(depth) if depth == self.open.len() as u64 => {}
            Motion::Depth(depth) => {
                self.leave(index, 0);
                for _ in 0..depth.min(DEEPEST) {
                    self.enter(index, 0, 0);
                }
            }
            Motion::Enter { hook, from } => self.enter(index, hook, from),
            Motion::Leave => self.leave(index, self.open.len().saturating_sub(1)),
            Motion::Unwind(depth) => {
                let depth = usize::try_from(depth).unwrap_or(usize::MAX);
                self.leave(index, depth);
            }
            Motion::Event { pc, addr: Some(addr) } if self.stack.contains(&addr) => {
                self.touch(pc, addr);
            }
            Motion::Event { .. } => {}
        }
    }

    fn site(&mut self, pc: u64) -> Option<CallSite> {
        *self.sites.entry(pc).or_insert_with(|| self.modules.call_site(pc))
    }

    fn enter(&mut self, index: u64, hook: u64, from: u64) {
        let function = self.site(hook).map_or(0, |it| it.function);
        let parent = self.open.last().copied();
        let (frame, given) = (Frame::Unknown, Frame::Unknown);
        self.open.push(self.all.list.len());
        let events = index..index;
        self.all.list.push(Activation { events, parent, from, function, frame, given });
    }

    /// Ends all but so many.
    fn leave(&mut self, index: u64, depth: usize) {
        while self.open.len() > depth
            && let Some(at) = self.open.pop()
        {
            self.all.list[at].events.end = index;
            self.tell_caller(at);
            self.forget(at);
        }
    }

    /// A call without events is of no use; nor is one more when there are too many.
    fn forget(&mut self, at: usize) {
        let is_last = at + 1 == self.all.list.len();
        let empty = self.all.list[at].events.is_empty();
        let surplus = at >= MOST;
        if is_last && (empty || surplus) {
            self.all.partial |= !empty;
            self.all.list.truncate(at);
        }
    }

    /// The innermost function gives an address to a hook.
    fn touch(&mut self, pc: u64, addr: u64) {
        let Some(site) = self.site(pc) else { return };
        let innermost = self.open.last().and_then(|at| self.all.list.get_mut(*at));
        if let Some(it) = innermost.filter(|it| it.function == site.function) {
            it.learn(site, addr, &self.stack);
        }
    }

    /// Where the caller's frame is, if the caller was seen to make this very call: by where this
    /// one's is, and by what it was given.
    fn tell_caller(&mut self, at: usize) {
        let Some((parent, site)) = self.call(at) else { return };
        let Activation { frame, given, .. } = self.all.list[at];
        let caller = &mut self.all.list[parent];
        if let (Some(frame), Some(distance)) = (frame.known(), site.stack) {
            caller.frame.hear(frame.wrapping_sub_signed(distance), &self.stack);
        }
        if let Some(given) = given.known() {
            caller.learn(site, given, &self.stack);
        }
    }

    /// Who made a call, and what is certain there.
    fn call(&mut self, at: usize) -> Option<(usize, CallSite)> {
        let Activation { parent, from, .. } = self.all.list[at];
        let (parent, site) = (parent?, self.site(from)?);
        (self.all.list[parent].function == site.function).then_some((parent, site))
    }

    /// From callers to those that they called.
    fn spread(&mut self) {
        for at in 0..self.all.list.len() {
            let Some((parent, site)) = self.call(at) else { continue };
            if let (Some(frame), Some(distance)) = (self.all.list[parent].frame(), site.stack) {
                let address = frame.wrapping_add_signed(distance);
                self.all.list[at].frame.hear(address, &self.stack);
            }
        }
    }
}
