//! All texts of a report: names and messages from traces, binaries and files.
//!
//! A writer for terminals makes them printable here, in one place, because someone else may have chosen
//! them. Each type lists all of its fields, so that a new field does not compile until it is listed:
//! texts first, then fields that contain none.

use std::collections::BTreeMap;

use norn_model::{Consequence, Location, ThreadName};

use super::{
    Access, AlsoSeen, Arrival, AtStake, Barrier, Batch, Block, BriefSection, Cause, Claimed,
    Control, Death, Departure, Detail, Detour, EarlierUse, EventRow, FailureCluster, FailureKind,
    Finding, Fix, FixSection, Harm, HeldLock, Holder, Inputs, InputsDiverged, Interleaving,
    LeftOut, Line, Localization, Misuse, NotReproduced, Note, Notice, Object, ObjectMisuse,
    ObservedFailure, ObservedValue, Omissions, Parameter, Parting, Point, Progress, Property,
    RankedPattern, RejectedLock, Remark, Report, Requested, Run, RunKind, Runner, Running,
    Schedule, Semaphore, SentSignal, SignalWait, Start, Step, Story, Stuck, SuppressedBy,
    Suppression, Switch, Tool, Turn, Unordered, Unpredicted, UnrecordedOrder, UnrecordedSync,
    Unseen, Update, Verdict, Waiter, Wakeup, Want, WeakOperation, Writing,
};

/// Changes a text.
type Change<'a> = &'a mut dyn FnMut(&mut String);

impl Report {
    /// Changes all texts that others may have chosen, and those that norn made of them.
    pub fn change_texts(&mut self, mut change: impl FnMut(&mut String)) {
        self.each(&mut change);
    }
}

impl Line {
    /// Changes all texts that others may have chosen, and those that norn made of them.
    pub fn change_texts(&mut self, mut change: impl FnMut(&mut String)) {
        match self {
            Line::Start(it) => it.each(&mut change),
            Line::Finding(it) => it.each(&mut change),
            Line::Update(it) => it.each(&mut change),
            Line::Observed(it) => it.each(&mut change),
            Line::Progress(Progress { .. }) => {}
            Line::End(it) => it.each(&mut change),
        }
    }
}

/// A value that contains texts.
trait Texts {
    /// Changes each of them.
    fn each(&mut self, change: Change<'_>);
}

impl Texts for String {
    fn each(&mut self, change: Change<'_>) {
        change(self);
    }
}

impl<T: Texts> Texts for Option<T> {
    fn each(&mut self, change: Change<'_>) {
        if let Some(it) = self {
            it.each(change);
        }
    }
}

impl<T: Texts> Texts for Vec<T> {
    fn each(&mut self, change: Change<'_>) {
        for it in self {
            it.each(change);
        }
    }
}

impl Texts for BTreeMap<String, u64> {
    fn each(&mut self, change: Change<'_>) {
        for (mut name, count) in std::mem::take(self) {
            change(&mut name);
            self.insert(name, count);
        }
    }
}

impl Texts for ThreadName {
    fn each(&mut self, change: Change<'_>) {
        self.0.each(change);
    }
}

impl Texts for Consequence {
    fn each(&mut self, change: Change<'_>) {
        match self {
            Consequence::Signal { signal: _, at } => at.each(change),
            Consequence::Assertion(text) => text.each(change),
            Consequence::Exception { class, what } => {
                class.each(change);
                what.each(change);
            }
            Consequence::Panic { message, at } => {
                message.each(change);
                at.each(change);
            }
            Consequence::None
            | Consequence::Exit(_)
            | Consequence::Abort
            | Consequence::Memory(_)
            | Consequence::Deadlock
            | Consequence::Livelock
            | Consequence::Misuse(_)
            | Consequence::Unfinished(_)
            | Consequence::Check(_) => {}
        }
    }
}

impl Texts for FailureKind {
    fn each(&mut self, change: Change<'_>) {
        match self {
            FailureKind::Stuck(it) => it.each(change),
            FailureKind::Running(it) => it.each(change),
            FailureKind::Misuse(it) => it.each(change),
            FailureKind::Object(it) => it.each(change),
            FailureKind::Death(it) => it.each(change),
        }
    }
}

impl Texts for Note {
    fn each(&mut self, change: Change<'_>) {
        match self {
            Note::RunningThreads { threads, continued: _ } => threads.each(change),
            Note::Interrupted
            | Note::TimeLimit
            | Note::FirstOnly
            | Note::NormalStatus(_)
            | Note::Prefix { .. }
            | Note::OneThread
            | Note::NothingShared => {}
        }
    }
}

impl Texts for SuppressedBy {
    fn each(&mut self, change: Change<'_>) {
        match self {
            SuppressedBy::Baseline => {}
            SuppressedBy::Suppression(text) => text.each(change),
        }
    }
}

impl Texts for Switch {
    fn each(&mut self, change: Change<'_>) {
        match self {
            Switch::Ends => {}
            Switch::Lock { object, holder } => {
                object.each(change);
                holder.each(change);
            }
            Switch::Condition { object } | Switch::Barrier { object } => object.each(change),
            Switch::Join { thread } | Switch::System { thread } => thread.each(change),
            Switch::Forced { thread, action: _, object } => {
                thread.each(change);
                object.each(change);
            }
        }
    }
}

impl Texts for Verdict {
    fn each(&mut self, change: Change<'_>) {
        match self {
            Verdict::Followed(_) => {}
            Verdict::Diverged(it) | Verdict::Infeasible(it) => it.each(change),
        }
    }
}

impl Texts for Want {
    fn each(&mut self, change: Change<'_>) {
        match self {
            Want::Lock { object, holders, behind } => {
                object.each(change);
                holders.each(change);
                behind.each(change);
            }
            Want::Wakeup(it) => it.each(change),
            Want::Barrier(it) => it.each(change),
            Want::Semaphore(it) => it.each(change),
            Want::Signal(it) => it.each(change),
            Want::End { thread, ended: _ } => thread.each(change),
            Want::Once { object, by } => {
                object.each(change);
                by.each(change);
            }
            Want::Word(object) => object.each(change),
            Want::File | Want::Outside => {}
        }
    }
}

/// Implements [`Texts`] for structures, from the fields that contain texts and those that do not.
macro_rules! fields {
    ($($type:ident { $($text:ident)* $(; $($other:ident)*)? })*) => { $(
        impl Texts for $type {
            fn each(&mut self, change: Change<'_>) {
                let $type { $($text,)* $($($other: _,)*)? } = self;
                $( $text.each(change); )*
            }
        }
    )* };
}

fields! {
    Access { thread event variable shown stack locks frames; action stuck value }
    AlsoSeen { name clips; more }
    Arrival { operation object at; event code }
    AtStake { failure chain expected instead; distance }
    Barrier { object arrived; needed }
    Batch { kinds control repeat; runs failed stopped usual segments }
    Block { object allocated freed; size offset }
    BriefSection { title; lines more harmless }
    Cause { kind name title variables accesses order recorded fix; class }
    Claimed { title; class harmful again }
    Control { strategy inputs; seed switches away same_layout older process_ids }
    Death { by reads; fault }
    Departure { thread until actual before; segment why }
    Detail { also; finding }
    Detour { thread expected actual last; event back }
    EarlierUse { step; state }
    EventRow { thread object shown at switch; event action size value times step }
    FailureCluster { title places first reproduce clip ranking; failed more }
    Finding {
        kind name title suppressed_by variables parameters accesses remark schedule why verdict
        consequence story interleaving clip replay harm unordered unrecorded_sync at_stake
        not_reproduced fingerprint printed fix cause;
        class status harmful bug announced scope source instances stacks other_output other_status executions
    }
    Fix { lock sections acquired_inside rejected; executions events cycles }
    FixSection { from; to loops }
    Harm { consequence story clip replay }
    HeldLock { lock; shared }
    Holder { taken; mode ended }
    Inputs { diverged; uncontrolled recorded lost fed available }
    InputsDiverged { thread expected actual; input }
    Interleaving { recorded forced }
    LeftOut { text; alike ways steps instances untried }
    Localization {
        score clusters;
        passed failed unfinished lost pending predicted patterns window settled unordered sampled
    }
    Location { function file module; line column offset }
    Misuse { by block destroyed; fault address }
    NotReproduced { consequence verdict detour; causes }
    Notice { step woke; broadcast before }
    Object { name holder allocated_at; address }
    ObjectMisuse { object by earlier; fault }
    ObservedFailure {
        consequence cause story printed suppressed_by clip replay not_reproduced fingerprint;
        bug finding shown executions older_loads
    }
    ObservedValue { object shown written; value }
    Omissions {
        patterns threads names; events sampled variable_pairs lock_requests functions
    }
    Parameter { name value }
    Parting { usual here; event }
    Point { operation at }
    Property { name events never left_out unseen; instances candidates incomplete }
    RankedPattern { shape title accesses; class failed passed score interval experiment }
    RejectedLock { lock; why }
    Remark { expected why; count early }
    Report {
        tool program run batch localization findings details brief observed properties notes not_looked_at
        suppressions;
        schema command summary exit
    }
    Requested { call; descriptor asked }
    Run {
        consequence story verdict detour claim control; events threads segments ended_by_debugger
    }
    RunKind {
        consequence verdict differs parting detour claim kept; count run seed print away stopped
    }
    Runner { step reads }
    Running { runners waiters ended }
    Schedule { grade engine turns; switches }
    Semaphore { object last; initial posts waits }
    SentSignal { step signal to received; before }
    SignalWait { signals sent; earlier }
    Start { tool program; schema command }
    Step { thread stack; event }
    Story { failure last }
    Stuck { waiters cycle ended }
    Suppression { suppression file; line used }
    Tool { name version }
    Turn { thread; until }
    Unordered { weak }
    Unpredicted { failure attempt; known }
    UnrecordedOrder { release acquire }
    UnrecordedSync { instruction location }
    Unseen { event name text hint; why }
    Update { finding; worse }
    Waiter { step want }
    Wakeup { object calls; earlier }
    WeakOperation { variable location; operation ordering }
    Writing { step shown; value }
}
