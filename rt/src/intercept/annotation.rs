//! ThreadSanitizer's annotations, by which programs describe their own synchronisation.
//!
//! Those of locks are in [`annotated_lock`](super::annotated_lock), those of ignored accesses in
//! [`ignore`](super::ignore). Annotations that mean nothing to ThreadSanitizer mean nothing here.

use norn_abi::Kind;

use super::interpose;
use crate::{arena, event, number, thread};

/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn record(kind: Kind, object: usize, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, kind, pc, object, &[]) };
    }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn after(object: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::HappensAfter, object, pc) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn before(object: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { record(Kind::HappensBefore, object, pc) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn annotate_after(_: usize, _: usize, object: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { after(object, pc) };
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn annotate_before(_: usize, _: usize, object: usize, pc: usize) {
    // SAFETY: see `record`.
    unsafe { before(object, pc) };
}

/// Records a mark whose name has the size of the memory: `norn:benign-race:8`. The search for data races
/// leaves that memory out.
///
/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn benign_race(
    _file: usize,
    _line: usize,
    start: usize,
    size: usize,
    _text: usize,
    pc: usize,
) {
    let Some(slot) = thread::recorded() else { return };
    let mut buffer = [0; BENIGN.len() + DIGITS];
    let name = name(&mut buffer, size);
    // Names of marks of the program are identified by addresses, which these numbers cannot be.
    let key = 1 << 63 | size as u64 & u64::MAX >> 1;
    // SAFETY: the slot is the current thread's.
    unsafe {
        if arena::make_room(slot) {
            (*slot).lane.text(Kind::Name, key as usize, number::next(slot), 0, name);
        }
        event::put(slot, Kind::Mark, pc, start, &[key]);
    }
}

const BENIGN: &[u8] = b"norn:benign-race:";
/// The digits of the largest size.
const DIGITS: usize = 20;

/// The name of the mark for memory of a size.
fn name(buffer: &mut [u8; BENIGN.len() + DIGITS], mut size: usize) -> &[u8] {
    let mut from = buffer.len();
    loop {
        from -= 1;
        buffer[from] = b'0' + (size % 10) as u8;
        size /= 10;
        if size == 0 || from == BENIGN.len() {
            break;
        }
    }
    from -= BENIGN.len();
    for (to, byte) in buffer[from..].iter_mut().zip(BENIGN) {
        *to = *byte;
    }
    &buffer[from..]
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn benign_race_of_byte(
    file: usize,
    line: usize,
    start: usize,
    text: usize,
    pc: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { benign_race(file, line, start, 1, text, pc) };
}

/// # Safety
/// None: it does nothing.
pub(super) unsafe extern "C" fn nothing() -> usize {
    0
}

/// The factor by which the program is slower, as ThreadSanitizer states it.
///
/// # Safety
/// None.
unsafe extern "C" fn slowdown() -> f64 {
    10.0
}

/// `name name`: functions that do nothing and return 0.
macro_rules! ignored {
    ($($name:ident)*) => { $crate::intercept::interpose! { $( $name(0) => $crate::intercept::annotation::nothing; )* } };
}
pub(super) use ignored;

interpose! {
    __tsan_acquire(1) => after;
    __tsan_release(1) => before;
    __tsan_java_acquire(1) => after;
    __tsan_java_release(1) => before;
    __tsan_java_release_store(1) => before;
    AnnotateHappensBefore(3) => annotate_before;
    AnnotateHappensAfter(3) => annotate_after;
    WTFAnnotateHappensBefore(3) => annotate_before;
    WTFAnnotateHappensAfter(3) => annotate_after;
    AnnotateBenignRace(4) => benign_race_of_byte;
    AnnotateBenignRaceSized(5) => benign_race;
    WTFAnnotateBenignRaceSized(5) => benign_race;
    ValgrindSlowdown(0) => slowdown;
}

ignored! {
    AnnotateCondVarSignal AnnotateCondVarSignalAll AnnotateCondVarWait AnnotateEnableRaceDetection
    AnnotateExpectRace AnnotateFlushExpectedRaces AnnotateFlushState AnnotateIgnoreSyncBegin
    AnnotateIgnoreSyncEnd AnnotateMemoryIsInitialized AnnotateMemoryIsUninitialized
    AnnotateMutexIsNotPHB AnnotateMutexIsUsedAsCondVar AnnotateNewMemory AnnotateNoOp
    AnnotatePCQCreate AnnotatePCQDestroy AnnotatePCQGet AnnotatePCQPut AnnotatePublishMemoryRange
    AnnotateThreadName AnnotateTraceMemory AnnotateUnpublishMemoryRange RunningOnValgrind
    __tsan_java_alloc __tsan_java_finalize __tsan_java_find __tsan_java_fini __tsan_java_free
    __tsan_java_init __tsan_java_move
}
