//! The meaning of exit statuses, as printed by `norn help exit-codes`.

/// Scripts depend on these. README.md has the same table.
pub(crate) const EXIT_CODES: &str = "\
Exit statuses of norn

hunt, check
  0  nothing harmful was confirmed or observed
  1  something harmful was confirmed or observed, and happened again when its clip was
     replayed; a property is violated
  2  usage error, an error in a property file, or an error of norn; interrupted before
     anything harmful was found
  3  the program was not built with norn, so it left no events; check: nothing is violated,
     but the events that a property needs never occurred

localize
  0  no run failed
  1  a run failed; the ranking says why
  2  usage error, or an error of norn
  3  the program was not built with norn

replay
  0  the schedule was followed, and what the clip is about did not happen
  1  what the clip is about happened again: the expected failure, the data race, the
     violation of a property (with --times: in at least one run)
  2  usage error, an error in the clip, or an error of norn
  3  the schedule could not be followed (with --times: in no run) and nothing of this
     happened, or no run finished, so nothing was shown; or the program was not built with norn

replay --expect fixed
  0  what the clip is about did not happen, and every event that led to it was reached
  1  it happened again
  3  it did not happen, but an event that led to it was not reached or is not in the program any
     more, or the run did not finish, so nothing was shown

replay --expect fails
  0  what the clip is about happened again
  1  it did not, although every event that led to it was reached
  3  it did not, and an event that led to it was not reached, so nothing was shown

record, run
  the status of the program itself, or death by the same signal; and
  1  run: norn ended the program (deadlock, livelock, memory error), the check
     failed, or, with --times, at least one run failed
  2  usage error, or an error of norn
  3  the program was not built with norn; run: it did not finish within --timeout or --max-steps

build, cc, c++
  the status of the build or compiler; 2 if it could not be started

doctor
  0  norn can be used
  3  norn cannot be used on this machine

all other commands
  0  done
  2  usage error, or an error of norn

A closed pipe on standard output (`norn dump run.norn | head`) is not an error.

Harmful is a crash, a failed assertion, an uncaught exception, an error status of a program
that can end without one, a memory error, a deadlock, a livelock, a failed check and, in C and C++,
a data race. --fail-on output and --fail-on any count more.";
