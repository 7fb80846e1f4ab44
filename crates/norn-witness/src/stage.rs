//! A run of the script, step by step, in which threads go on when they are told to.

use rustc_hash::FxHashMap;

use crate::{
    hybrid::Trouble,
    script::{Act, At, Beat, Script},
};

/// What has happened so far.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    script: &'a Script,
    /// By thread: how many events, and how many beats, have been.
    done: Vec<u32>,
    beats: Vec<usize>,
    /// By thread: the next event of the candidate, which must not be passed.
    limits: Vec<u32>,
    steps: &'a [At],
    /// Who is being told to go on; nobody is told twice.
    busy: Vec<bool>,
    /// By lock: who holds it, how often, shared or not, and until where.
    holds: Vec<Vec<Hold>>,
    counts: Vec<i64>,
    /// By condition: the time of each signal that woke nobody yet, and the waits.
    signals: FxHashMap<u32, Vec<Signal>>,
    waits: FxHashMap<u32, u32>,
    time: u32,
    pub(crate) turns: Vec<At>,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    thread: u32,
    depth: u32,
    shared: bool,
    until: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Signal {
    time: u32,
    all: bool,
}

/// What a step needs and does not have.
#[derive(Clone, Copy, Debug)]
enum Lack {
    /// This event would help.
    Of(At),
    /// Nothing helps.
    OfHope,
}

impl Lack {
    fn of(at: Option<At>) -> Lack {
        at.map_or(Lack::OfHope, Lack::Of)
    }
}

impl<'a> Stage<'a> {
    pub(crate) fn new(script: &'a Script, steps: &'a [At]) -> Self {
        let threads = script.parts.len();
        let mut stage = Stage {
            script,
            done: vec![0; threads],
            beats: vec![0; threads],
            limits: vec![u32::MAX; threads],
            steps,
            busy: vec![false; threads],
            holds: vec![Vec::new(); script.locks],
            counts: script.firsts.clone(),
            signals: FxHashMap::default(),
            waits: FxHashMap::default(),
            time: 0,
            turns: Vec::new(),
        };
        for step in steps.iter().rev() {
            stage.limits[step.0 as usize] = step.1;
        }
        stage
    }

    /// Goes along the recorded run; threads of the candidate are held back where `hold` says, and
    /// others where they would have to wait. Ends when all of the candidate's are held back.
    pub(crate) fn run(&mut self, hold: impl Fn(At) -> u32) {
        let mut holds = vec![u32::MAX; self.done.len()];
        let mut left = 0;
        for step in self.steps.iter().rev() {
            left += usize::from(holds[step.0 as usize] == u32::MAX);
            holds[step.0 as usize] = hold(*step);
        }
        let mut stuck = vec![false; self.done.len()];
        for &(thread, until) in &self.script.runs {
            let at = thread as usize;
            if stuck[at] {
                continue;
            }
            let to = until.min(holds[at]);
            stuck[at] = !self.try_advance(thread, to) || until >= holds[at];
            left -= usize::from(stuck[at] && holds[at] != u32::MAX);
            if left == 0 {
                return;
            }
        }
    }

    /// Lets a thread go on as far as it can without anybody's help; whether it came there.
    fn try_advance(&mut self, thread: u32, to: u32) -> bool {
        if !self.is_born(thread) {
            return false;
        }
        while let Some(beat) = self.beat(thread, to) {
            if self.lacks(thread, &beat).is_some() {
                self.go(thread, beat.index);
                return false;
            }
            self.perform(thread, &beat);
        }
        self.go(thread, to);
        true
    }

    /// Passes an event of the candidate, which is the next one.
    pub(crate) fn pass(&mut self, (thread, index): At) -> Result<(), Trouble> {
        let later = self.steps.iter().filter(|it| it.0 == thread && it.1 > index);
        let next = later.map(|it| it.1).min().unwrap_or(u32::MAX);
        self.advance(thread, index)?;
        self.limits[thread as usize] = next;
        self.advance(thread, index + 1)
    }

    /// Lets a thread go on up to this event, and no longer only to an earlier one.
    pub(crate) fn limit(&mut self, (thread, index): At) {
        self.limits[thread as usize] = index;
    }

    /// Brings a thread right before an event, even if that is its first one.
    pub(crate) fn approach(&mut self, thread: u32, index: u32) -> Result<(), Trouble> {
        self.bear(thread)?;
        self.advance(thread, index)
    }

    /// Lets a thread be created.
    fn bear(&mut self, thread: u32) -> Result<(), Trouble> {
        let fork = self.script.parts[thread as usize].fork;
        fork.map_or(Ok(()), |it| self.advance(it.0, it.1 + 1))
    }

    /// Lets a thread go on, and others as far as it needs them.
    pub(crate) fn advance(&mut self, thread: u32, to: u32) -> Result<(), Trouble> {
        let at = thread as usize;
        if self.done[at] >= to {
            return Ok(());
        }
        let here = (thread, self.done[at]);
        if to > self.limits[at] {
            return Err(Trouble::TooLate(here, (thread, self.limits[at])));
        }
        if self.busy[at] {
            return Err(Trouble::Cycle(here));
        }
        self.busy[at] = true;
        let result = self.go_on(thread, to);
        self.busy[at] = false;
        result
    }

    fn go_on(&mut self, thread: u32, to: u32) -> Result<(), Trouble> {
        self.bear(thread)?;
        while let Some(beat) = self.beat(thread, to) {
            while let Some(lack) = self.lacks(thread, &beat) {
                let here = (thread, beat.index);
                let Lack::Of(needed) = lack else { return Err(Trouble::Never(here)) };
                self.advance(needed.0, needed.1 + 1).map_err(|it| locate(it, here, needed))?;
            }
            self.perform(thread, &beat);
        }
        self.go(thread, to);
        Ok(())
    }

    fn is_born(&self, thread: u32) -> bool {
        let fork = self.script.parts[thread as usize].fork;
        fork.is_none_or(|it| self.done[it.0 as usize] > it.1)
    }

    /// The next beat before an event.
    fn beat(&self, thread: u32, to: u32) -> Option<Beat> {
        let at = thread as usize;
        self.script.parts[at].beats.get(self.beats[at]).copied().filter(|it| it.index < to)
    }

    fn go(&mut self, thread: u32, to: u32) {
        if self.done[thread as usize] >= to {
            return;
        }
        self.done[thread as usize] = to;
        match self.turns.last_mut() {
            Some(turn) if turn.0 == thread => turn.1 = to,
            _ => self.turns.push((thread, to)),
        }
    }

    fn has(&self, at: At) -> bool {
        self.done[at.0 as usize] > at.1
    }

    /// What a beat lacks. A wait that is an event of the candidate lacks nothing if its time may run
    /// out: then it goes on as it is.
    fn lacks(&self, thread: u32, beat: &Beat) -> Option<Lack> {
        let expires = |timed: bool| timed && self.steps.contains(&(thread, beat.index));
        match beat.act {
            Act::Take { timed, .. } | Act::Down { timed, .. } if expires(timed) => None,
            Act::Take { lock, shared, .. } => self.holder(lock, thread, shared),
            Act::Wake { lock, timed, .. } if expires(timed) => self.holder(lock, thread, false),
            Act::Wake { cond, by, woken, lock, .. } => self
                .unsignalled(thread, cond, by, woken)
                .or_else(|| self.holder(lock, thread, false)),
            Act::Join { thread: other } => {
                let last = self.script.parts[other as usize].len.checked_sub(1)?;
                (!self.has((other, last))).then_some(Lack::Of((other, last)))
            }
            Act::Down { semaphore, .. } => {
                let posts = &self.script.posts[semaphore as usize];
                let next = || posts.iter().copied().find(|it| !self.has(*it) && it.0 != thread);
                (self.counts[semaphore as usize] <= 0).then(|| Lack::of(next()))
            }
            Act::Needs { from, to } => {
                let needs = &self.script.needs[from as usize..to as usize];
                needs.iter().copied().find(|it| !self.has(*it)).map(Lack::Of)
            }
            Act::Signal { .. } => self.unwaited(thread, beat.index),
            Act::Give { .. } | Act::Wait | Act::Post { .. } => None,
        }
    }

    /// Who has a lock that is wanted, and where it will give it back.
    fn holder(&self, lock: u32, thread: u32, shared: bool) -> Option<Lack> {
        let holds = self.holds[lock as usize].iter();
        let mut others = holds.filter(|it| it.thread != thread && !(shared && it.shared));
        others.next().map(|it| Lack::of(it.until.map(|until| (it.thread, until))))
    }

    fn unsignalled(&self, thread: u32, cond: u32, by: Option<At>, woken: bool) -> Option<Lack> {
        let since = self.waits.get(&thread).copied().unwrap_or(u32::MAX);
        let signals = self.signals.get(&cond).map_or(&[][..], Vec::as_slice);
        if !woken || signals.iter().any(|it| it.time > since) {
            return None;
        }
        let open = |it: &At| !self.has(*it) && it.0 != thread;
        let known = by.filter(open);
        let any = || self.script.signals[cond as usize].iter().copied().find(open);
        Some(Lack::of(known.or_else(any)))
    }

    /// A wait that this signal ended in the recorded run, and that has not begun. If its thread
    /// cannot come there in time, the signal is simply lost.
    fn unwaited(&self, thread: u32, index: u32) -> Option<Lack> {
        let waits = self.script.ended.get(&(thread, index))?;
        let reachable = |it: &&At| {
            let at = it.0 as usize;
            !self.has(**it) && self.limits[at] > it.1 && !self.busy[at]
        };
        waits.iter().find(reachable).copied().map(Lack::Of)
    }

    fn perform(&mut self, thread: u32, beat: &Beat) {
        self.time += 1;
        match beat.act {
            Act::Take { timed: true, lock, shared, .. }
                if self.holder(lock, thread, shared).is_some() => {}
            Act::Take { lock, shared, until, .. } => self.take(lock, thread, shared, until),
            Act::Give { lock } => self.give(lock, thread),
            Act::Wait => {
                self.waits.insert(thread, self.time);
            }
            Act::Wake { cond, lock, woken, until, .. } => {
                let since = self.waits.remove(&thread).unwrap_or(u32::MAX);
                if woken {
                    self.consume(cond, since);
                }
                self.take(lock, thread, false, until);
            }
            Act::Signal { cond, all } => {
                let signal = Signal { time: self.time, all };
                self.signals.entry(cond).or_default().push(signal);
            }
            Act::Post { semaphore } => self.counts[semaphore as usize] += 1,
            Act::Down { timed: true, semaphore } if self.counts[semaphore as usize] <= 0 => {}
            Act::Down { semaphore, .. } => self.counts[semaphore as usize] -= 1,
            Act::Join { .. } | Act::Needs { .. } => {}
        }
        self.beats[thread as usize] += 1;
        self.go(thread, beat.index + 1);
    }

    /// The first signal since the wait has ended it; a broadcast ends others, too.
    fn consume(&mut self, cond: u32, since: u32) {
        if let Some(signals) = self.signals.get_mut(&cond)
            && let Some(at) = signals.iter().position(|it| it.time > since)
            && !signals[at].all
        {
            signals.remove(at);
        }
    }

    fn take(&mut self, lock: u32, thread: u32, shared: bool, until: Option<u32>) {
        let holds = &mut self.holds[lock as usize];
        match holds.iter_mut().find(|it| it.thread == thread) {
            Some(hold) => hold.depth += 1,
            None => holds.push(Hold { thread, depth: 1, shared, until }),
        }
    }

    fn give(&mut self, lock: u32, thread: u32) {
        let holds = &mut self.holds[lock as usize];
        if let Some(at) = holds.iter().position(|it| it.thread == thread) {
            holds[at].depth -= 1;
            if holds[at].depth == 0 {
                holds.remove(at);
            }
        }
    }
}

/// What stands in the way of the innermost need is told as it is.
fn locate(trouble: Trouble, event: At, needed: At) -> Trouble {
    match trouble {
        Trouble::TooLate(at, limit) if at.0 == needed.0 => Trouble::TooLate(event, limit),
        other => other,
    }
}
