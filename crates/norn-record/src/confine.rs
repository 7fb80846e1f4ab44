//! Starts a subject such that it behaves the same in every run, and does not outlive the recorder.
#![expect(unsafe_code, reason = "asks the kernel by calls that Rust cannot check")]

use std::io;

use norn_frontend::Launch;

use crate::{
    descendants,
    start::{Child, Program},
};

/// Queries the current personality without changing it.
const QUERY: libc::c_ulong = 0xffff_ffff;

/// Starts a subject, and returns whether its memory layout is the same in every run. A subject that is
/// only recorded is started as it would be without norn. Collected patterns need code at addresses that
/// differ in their lower halves, so that layout is fixed, too.
pub(crate) fn start(mut program: Program<'_>, launch: &Launch) -> io::Result<(Child, bool)> {
    if launch.plan.is_none() && launch.collect.is_none() {
        return Ok((program.start()?, false));
    }
    descendants::adopt_orphans();
    program.own_group = launch.apart;
    program.ends_with_parent = true;
    let layout = Layout::fix();
    Ok((program.start()?, layout.is_some()))
}

/// While this exists, processes that this thread starts have no address space randomization.
struct Layout {
    before: libc::c_ulong,
}

impl Layout {
    /// `None` if the kernel forbids it, as in some containers.
    fn fix() -> Option<Layout> {
        // SAFETY: only queries.
        let before = libc::c_ulong::try_from(unsafe { libc::personality(QUERY) }).ok()?;
        let fixed = before | libc::c_ulong::from(libc::ADDR_NO_RANDOMIZE.cast_unsigned());
        // SAFETY: affects only processes that this thread will start.
        let done = unsafe { libc::personality(fixed) } >= 0;
        done.then_some(Layout { before })
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        // SAFETY: restores the previous value.
        unsafe { libc::personality(self.before) };
    }
}
