//! The activations of functions in a thread, and the addresses of their frames.
//!
//! A trace does not contain frame addresses, but they can be derived. The argument of a hook is an
//! address, and the code before the call often computes it from the stack pointer: then the frame
//! address follows ([`norn_binary::CallSite`]). Or the address is an argument of the function, and
//! the caller computed it from its stack pointer. And frames are adjacent: the frame of a function
//! ends at the stack pointer of its caller. So one such hook determines all frames that recorded
//! calls connect to it. If two derivations disagree, neither is used.

use std::ops::Range;

use norn_binary::CallSite;
use norn_model::{Op, ThreadId};
use norn_trace::{Motion, Trace};
use rustc_hash::FxHashMap;

use crate::modules::Modules;

/// Maximum number of activations that are kept per thread. Beyond it, those without calls are
/// dropped.
const MAX_ACTIVATIONS: usize = 1 << 20;

/// Maximum depth of calls at the beginning of a chunk. A damaged chunk may claim any depth.
const MAX_DEPTH: u64 = 1 << 16;

/// The alignment of frames in the calling convention.
const ALIGNMENT: u64 = 16;

/// One activation of a function, from its entry to its exit.
#[derive(Clone, Debug)]
pub(crate) struct Activation {
    /// The indices of its events.
    pub(crate) events: Range<u64>,
    /// The activation that called it, if it was recorded.
    parent: Option<usize>,
    /// Its return address.
    pub(crate) from: u64,
    /// The address of the function; 0 if it is unknown.
    pub(crate) function: u64,
    frame: Frame,
    /// Its first argument, if that is an address on the stack.
    given: Frame,
}

/// The address of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frame {
    #[default]
    Unknown,
    /// The stack pointer before the call.
    At(u64),
    /// Two derivations disagree.
    Disputed,
}

impl Frame {
    fn known(self) -> Option<u64> {
        match self {
            Frame::At(address) => Some(address),
            _ => None,
        }
    }

    /// Adds a derived address. An address that cannot be that of a frame is a contradiction.
    fn derive(&mut self, address: u64, stack: &Range<u64>) {
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

    /// Derives frames from an address that was the first argument of a call in this activation.
    fn derive_from(&mut self, site: CallSite, addr: u64, stack: &Range<u64>) {
        if let Some(distance) = site.argument {
            self.frame.derive(addr.wrapping_sub_signed(distance), stack);
        }
        if let Some(distance) = site.forwarded {
            self.given.agree(addr.wrapping_sub_signed(distance));
        }
    }
}

/// All activations of a thread, in the order of their entries.
#[derive(Debug, Default)]
pub(crate) struct Activations {
    list: Vec<Activation>,
    /// Whether some were dropped.
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
        let mut builder = ActivationBuilder { modules, stack, sites, open, all };
        trace.motions(thread, |index, motion| builder.step(index, motion));
        builder.leave(u64::MAX, 0);
        builder.derive_callees();
        builder.all
    }

    /// The activations that an event is in, innermost first.
    pub(crate) fn during(&self, index: u64) -> impl Iterator<Item = &Activation> {
        let after = self.list.partition_point(|it| it.events.start <= index);
        let climb = |at: &usize| self.list[*at].parent;
        let all = std::iter::successors(after.checked_sub(1), climb).map(|at| &self.list[at]);
        all.filter(move |it| it.events.contains(&index))
    }
}

struct ActivationBuilder<'a> {
    modules: &'a Modules,
    stack: Range<u64>,
    sites: FxHashMap<u64, Option<CallSite>>,
    /// The current activations, outermost first.
    open: Vec<usize>,
    all: Activations,
}

impl ActivationBuilder<'_> {
    fn step(&mut self, index: u64, motion: Motion) {
        match motion {
            Motion::Depth(depth) if depth == self.open.len() as u64 => {}
            Motion::Depth(depth) => {
                self.leave(index, 0);
                for _ in 0..depth.min(MAX_DEPTH) {
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

    /// Ends the innermost activations until `depth` are left.
    fn leave(&mut self, index: u64, depth: usize) {
        while self.open.len() > depth
            && let Some(at) = self.open.pop()
        {
            self.all.list[at].events.end = index;
            self.derive_caller(at);
            self.drop_unused(at);
        }
    }

    /// Drops an activation that has no events, or that exceeds the maximum.
    fn drop_unused(&mut self, at: usize) {
        let is_last = at + 1 == self.all.list.len();
        let empty = self.all.list[at].events.is_empty();
        let excess = at >= MAX_ACTIVATIONS;
        if is_last && (empty || excess) {
            self.all.partial |= !empty;
            self.all.list.truncate(at);
        }
    }

    /// Derives frames from an address that the innermost function passes to a hook.
    fn touch(&mut self, pc: u64, addr: u64) {
        let Some(site) = self.site(pc) else { return };
        let innermost = self.open.last().and_then(|at| self.all.list.get_mut(*at));
        if let Some(it) = innermost.filter(|it| it.function == site.function) {
            it.derive_from(site, addr, &self.stack);
        }
    }

    /// Derives the frame of the caller, if it is known to have made this call: from the frame of
    /// the callee, and from its argument.
    fn derive_caller(&mut self, at: usize) {
        let Some((parent, site)) = self.call(at) else { return };
        let Activation { frame, given, .. } = self.all.list[at];
        let caller = &mut self.all.list[parent];
        if let (Some(frame), Some(distance)) = (frame.known(), site.stack) {
            caller.frame.derive(frame.wrapping_sub_signed(distance), &self.stack);
        }
        if let Some(given) = given.known() {
            caller.derive_from(site, given, &self.stack);
        }
    }

    /// The caller of an activation, and what is certain about the call.
    fn call(&mut self, at: usize) -> Option<(usize, CallSite)> {
        let Activation { parent, from, .. } = self.all.list[at];
        let (parent, site) = (parent?, self.site(from)?);
        (self.all.list[parent].function == site.function).then_some((parent, site))
    }

    /// Derives the frames of callees from those of their callers.
    fn derive_callees(&mut self) {
        for at in 0..self.all.list.len() {
            let Some((parent, site)) = self.call(at) else { continue };
            if let (Some(frame), Some(distance)) = (self.all.list[parent].frame(), site.stack) {
                let address = frame.wrapping_add_signed(distance);
                self.all.list[at].frame.derive(address, &self.stack);
            }
        }
    }
}
