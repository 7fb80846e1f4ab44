//! Explanations of verdicts and consequences.
//!
//! The names are those in JSON. A test requires that each has an explanation.

use crate::Explanation;

/// The possible results of a candidate or schedule.
pub static VERDICTS: &[Explanation] = &[
    Explanation {
        name: "confirmed",
        summary: "the program exhibited the bug in a real execution",
        meaning: "A run of the program under a forced schedule executed exactly the candidate's events, \
                  and if that is harmful, a replay of its clip did so again. No confirmed finding is a \
                  false alarm: it happened, and the clip reproduces it.",
        example: "confirmed: crash (signal 11), replay with `norn replay clip.json`",
        advice: "Read the interleaving in the report, replay the clip, under a debugger if need be, and \
                 fix it. Replay the clip on the fixed program.",
    },
    Explanation {
        name: "not-reproducible",
        summary: "the program exhibited the bug once, and not again in a replay",
        meaning: "A run executed the candidate's events or failed, but the replay of its clip did not show \
                  the same. The run depends on something that Norn does not control: inputs from outside, \
                  real time, addresses. It does not count as confirmed.",
        example: "the replay diverged in segment 3: T0.1 came to another event, and led to: no failure",
        advice: "Record the inputs with --record-inputs, or let the program read the same inputs in every \
                 run, and hunt again.",
    },
    Explanation {
        name: "infeasible",
        summary: "no schedule can produce it",
        meaning: "For a candidate: locks, waits or the order of threads exclude it in every order of the \
                  recorded events, or every schedule for it was rejected. For a replayed clip: a thread \
                  that was due could not continue.",
        example: "T1 holds m until T2 has ended, so T2's access cannot come in between",
        advice: "A candidate needs no action. A clip that became infeasible usually belongs to another \
                 version of the program, or the bug is fixed.",
    },
    Explanation {
        name: "diverged",
        summary: "the program left the schedule",
        meaning: "A thread reached another event than the one that the schedule expects: it took another \
                  branch, because it read another value, or its input was different.",
        example: "expected: T1 writes count at queue.c:31\nactual:   T1 unlocks m at queue.c:35",
        advice: "Give the program the same input, or keep its inputs with the clip. If the program was \
                 changed, record it again.",
    },
    Explanation {
        name: "unconfirmed",
        summary: "there is a schedule, and the program did not follow it to the end",
        meaning: "A schedule was found and tried, and the program diverged from it or could not continue. The \
                  candidate is neither confirmed nor refuted.",
        example: "the read sees another value in the forced run, and the thread skips the access",
        advice: "More executions (--budget) try more schedules for the same candidate. Otherwise look at \
                 the accesses: candidates with few switches are the most likely to be real.",
    },
    Explanation {
        name: "inconclusive",
        summary: "no schedule was found, and none is excluded",
        meaning: "The engines reached their limits: it is unknown whether a schedule exists.",
        example: "a long trace with thousands of critical sections between the two accesses",
        advice: "Use `--engine exact`, or record a shorter run.",
    },
    Explanation {
        name: "untried",
        summary: "there was no execution left to try it",
        meaning: "The candidate may be feasible, but the budget of executions ended before it was tried.",
        example: "40 candidates, --budget 20",
        advice: "Raise --budget, or search for fewer classes with --only.",
    },
    Explanation {
        name: "followed",
        summary: "the program followed the schedule",
        meaning: "Every thread followed the schedule, to its end or until the program ended.",
        example: "followed all 12 segments",
        advice: "The consequence states the result of the run.",
    },
    Explanation {
        name: "observed",
        summary: "the failure happened without a prediction",
        meaning: "A run failed while it was recorded or explored: the failure is real and has a clip, and \
                  no candidate was needed for it.",
        example: "observed: deadlock in an exploring run, with its clip",
        advice: "Replay the clip. Where a finding explains the failure, the report says which.",
    },
];

/// The possible consequences of a run.
pub static CONSEQUENCES: &[Explanation] = &[
    Explanation {
        name: "none",
        summary: "no failure was seen",
        meaning: "The program ended normally. The confirmed bug happened nevertheless: a data race is \
                  undefined behaviour even if this run survives it.",
        example: "exit status 0, the same output",
        advice: "Decide whether the order matters: a lost update may only affect a result that is not \
                 checked. --check runs a command after each run.",
    },
    Explanation {
        name: "exit",
        summary: "the program ended with an error status",
        meaning: "The exit status is not 0, and in the recorded run it was.",
        example: "if (sum != expected) exit(1);",
        advice: "Follow the interleaving to the value that the program complains about.",
    },
    Explanation {
        name: "signal",
        summary: "crash: a signal killed the program",
        meaning: "A signal such as SIGSEGV (11) or SIGFPE (8) ended the program. The report states the code location.",
        example: "signal 11 at worker server.c:88",
        advice: "Replay the clip under a debugger: `norn replay --gdb clip.json`.",
    },
    Explanation {
        name: "assertion",
        summary: "an assertion failed",
        meaning: "assert() or a check of the library ended the program, and its text is in the report.",
        example: "assertion failed: queue->count >= 0",
        advice: "The assertion names the broken invariant; the interleaving shows the accesses that broke it.",
    },
    Explanation {
        name: "exception",
        summary: "an exception was not caught",
        meaning: "A C++ exception left main or a thread's function, and std::terminate ended the program.",
        example: "uncaught exception of type std::out_of_range: vector::at",
        advice: "Find the state that makes the code throw, and which thread changed it.",
    },
    Explanation {
        name: "panic",
        summary: "a thread panicked",
        meaning: "A thread of a Rust program panicked, and the program ended with an error status or aborted. \
                  Panics that only pass on the panic of another thread, such as the unwrap of a join, are \
                  not counted again. A panic that the program survives with status 0 is not a failure.",
        example: "panic at src/main.rs:12: attempt to subtract with overflow",
        advice: "The message names the broken assumption; the interleaving shows the accesses that broke it.",
    },
    Explanation {
        name: "abort",
        summary: "the program aborted",
        meaning: "abort() was called, by the program or by a library that found its data damaged.",
        example: "free(): corrupted unsorted chunks",
        advice: "Look for a use after free or a double free among the findings.",
    },
    Explanation {
        name: "memory",
        summary: "memory error: an invalid access to memory",
        meaning: "Norn's heap detected a use after free, a double free, a bad free, an access out of bounds, or \
                  the use of a destroyed lock.",
        example: "use after free of 32 bytes, freed by T2 at pool.c:40",
        advice: "The report states which thread freed or destroyed it and where. `norn explain \
                 use-after-free` and the other names explain more.",
    },
    Explanation {
        name: "use-after-free",
        summary: "memory error: a freed block was accessed",
        meaning: "An access touched a heap block after it had been freed. In an ordinary run the block may \
                  already be allocated again.",
        example: "T1: free(p)\nT2: p->next",
        advice: "Free a block only when no other thread can reach it any more.",
    },
    Explanation {
        name: "double-free",
        summary: "memory error: a block was freed twice",
        meaning: "free() or delete was called for a block that had been freed before.",
        example: "T1: free(p)\nT2: free(p)",
        advice: "Let one thread own the block, or take the pointer with an atomic exchange before freeing.",
    },
    Explanation {
        name: "bad-free",
        summary: "memory error: an address was freed that is not a heap block",
        meaning: "free() or delete got a pointer that malloc or new never returned.",
        example: "free(buffer + 1)",
        advice: "Look for a write to the pointer between allocation and free.",
    },
    Explanation {
        name: "out-of-bounds",
        summary: "memory error: memory next to a block was accessed",
        meaning: "An access touched memory before or after a heap block.",
        example: "items[count] = x;   // another thread has changed count",
        advice: "Check index and length in the same critical section as the access.",
    },
    Explanation {
        name: "use-after-destroy",
        summary: "memory error: a synchronization object was used after it was destroyed",
        meaning: "A mutex, condition variable, semaphore or barrier was used after its destroy function.",
        example: "T1: pthread_mutex_destroy(&m)\nT2: pthread_mutex_lock(&m)",
        advice: "Join all threads that use the object before it is destroyed.",
    },
    Explanation {
        name: "misuse",
        summary: "misuse: a lock or a descriptor was used in a way that is not defined",
        meaning: "A thread used a descriptor that another thread had closed. Or it released a lock that it did not hold, waited with a mutex that it did not hold, \
                  waited for a lock that it held itself, destroyed an object in use, or ended while it held \
                  a lock. Error-checking, recursive and robust mutexes return an error instead, which is \
                  not a misuse.",
        example: "lock misuse: `m` was unlocked by T2, which does not hold it; T1 locked it at queue.c:12",
        advice: "The report states both places. `norn explain relock` and the other names explain more.",
    },
    Explanation {
        name: "unlock-not-held",
        summary: "lock misuse: a thread released a lock that it did not hold",
        meaning: "Another thread held the lock, or none did. For a normal mutex, a spin lock and a \
                  read-write lock that is undefined: in practice the lock becomes free while its holder \
                  is still in its critical section.",
        example: "T1: pthread_mutex_lock(&m)\nT2: pthread_mutex_unlock(&m)",
        advice: "Release a lock in the thread that took it, and only where taking it succeeded: check the \
                 result of trylock. To wake another thread, use a semaphore or a condition variable.",
    },
    Explanation {
        name: "wait-not-held",
        summary: "lock misuse: a thread waited on a condition variable with a mutex that it did not hold",
        meaning: "A condition wait releases its mutex, so the thread must hold it. Otherwise the wait \
                  releases the mutex of another thread, and wake-ups can be lost.",
        example: "pthread_cond_wait(&cv, &m);   // without pthread_mutex_lock(&m)",
        advice: "Lock the mutex before the condition is checked, and keep it until the wait.",
    },
    Explanation {
        name: "relock",
        summary: "lock misuse: a thread waited for a lock that it held itself",
        meaning: "The thread already held the normal mutex, the spin lock, or the read-write lock in a mode \
                  that excludes the request, so it can never continue.",
        example: "pthread_mutex_lock(&m);\npthread_mutex_lock(&m);   // in a function that it calls",
        advice: "Split functions into one that locks and one that expects the lock to be held, or use a \
                 recursive mutex. A reader has to unlock before it locks for writing.",
    },
    Explanation {
        name: "destroy-in-use",
        summary: "lock misuse: an object was destroyed while a thread held it or waited on it",
        meaning: "A lock was destroyed while it was locked, or a condition variable, barrier or semaphore \
                  while a thread was waiting on it.",
        example: "T1: pthread_mutex_lock(&m)\nT2: pthread_mutex_destroy(&m)\nT1: pthread_mutex_unlock(&m)",
        advice: "Join all threads that use the object before it is destroyed.",
    },
    Explanation {
        name: "end-holding-lock",
        summary: "lock misuse: a thread ended while it held a lock",
        meaning: "No other thread may release the lock, so it stays locked forever. A robust mutex can be \
                  recovered and is not reported.",
        example: "pthread_mutex_lock(&m);\nif (failed) return NULL;   // without pthread_mutex_unlock(&m)",
        advice: "Release the lock on every way out; use a cleanup handler for cancellation, and a guard \
                 object in C++.",
    },
    Explanation {
        name: "use-after-close",
        summary: "use after close: a descriptor was used after another thread had closed it",
        meaning: "The call failed with EBADF. In another run the number may belong to another file by \
                  then, and the call reads or writes that file.",
        example: "T1: close(fd)\nT2: write(fd, buffer, size)",
        advice: "Close a descriptor only when no other thread can use it any more: join the other threads \
                 first, or count references. To end a blocking call, use shutdown or a pipe.",
    },
    Explanation {
        name: "double-close",
        summary: "double close: a descriptor was closed after another thread had closed it",
        meaning: "The second close failed with EBADF. In another run it closes a file that another thread \
                  has opened in between.",
        example: "T1: close(fd)\nT2: close(fd)",
        advice: "Let one thread own the descriptor, or take its number with an atomic exchange before it \
                 is closed.",
    },
    Explanation {
        name: "close-in-use",
        summary: "close in use: a descriptor was closed while another thread was in a call on it",
        meaning: "A thread was in read, write, poll or a similar call on the descriptor. Whether the call \
                  ends is not specified, and the next one may hit another file.",
        example: "T1: read(fd, buffer, size)   // blocks\nT2: close(fd)",
        advice: "End the call first: shut the socket down, write to a pipe that the thread polls, and join \
                 the thread before the descriptor is closed.",
    },
    Explanation {
        name: "deadlock",
        summary: "no thread can ever continue",
        meaning: "Every thread waits for another one. Norn knows what each thread waits for, so this is \
                  certain and not based on a timeout.",
        example: "T1 waits for b, held by T2; T2 waits for a, held by T1",
        advice: "The report lists what each thread waits for and holds. Acquire locks in one order.",
    },
    Explanation {
        name: "livelock",
        summary: "threads spin without making progress",
        meaning: "Every thread that could continue repeats the same reads of the same values, and no other \
                  thread changes what they read.",
        example: "while (!done) sched_yield();   // no thread sets done any more",
        advice: "Look for the write that should have ended the loop, and why it did not come.",
    },
    Explanation {
        name: "unfinished",
        summary: "the run did not finish",
        meaning: "The run exceeded its limit of events or of seconds, and Norn ended it. That is not a \
                  failure: the program may be slow, or the machine busy. A program that hangs is found \
                  without any limit, as a deadlock or a livelock.",
        example: "not finished after 10000000 events",
        advice: "Raise --timeout or --max-steps. If the program never ends, replay the clip and interrupt it.",
    },
    Explanation {
        name: "check",
        summary: "the check command failed",
        meaning: "The program ended normally, but the command of --check that ran afterwards failed.",
        example: "norn hunt --check './verify out.db' -- ./prog",
        advice: "Run the check by hand after `norn replay clip.json` to see what it complains about.",
    },
    Explanation {
        name: "output-differs",
        summary: "output differs from the recorded run",
        meaning: "The program ended normally, but its output differs from the recorded run. That is not a \
                  failure by itself: --fail-on output makes it one.",
        example: "recorded: total 100\nforced:   total 90",
        advice: "Decide whether the output may depend on the order of threads.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Consequence, Departure, Limit, MemoryFault, Misuse, Obstacle, ThreadName, Verdict,
    };

    fn is_there(table: &[Explanation], name: &str) {
        assert_eq!(table.iter().filter(|it| it.name == name).count(), 1, "{name}");
    }

    #[test]
    fn every_verdict_is_explained() {
        let departure = || Departure {
            segment: 0,
            thread: ThreadName("main".to_owned()),
            why: Obstacle::Blocked,
            actual: None,
        };
        let all = [
            Verdict::Followed(0),
            Verdict::Diverged(departure()),
            Verdict::Infeasible(departure()),
        ];
        for it in &all {
            is_there(VERDICTS, it.name());
        }
    }

    #[test]
    fn every_consequence_is_explained() {
        use Consequence::{
            Abort, Assertion, Check, Deadlock, Exception, Exit, Livelock, Memory, None, Panic,
            Signal, Unfinished,
        };
        let all = [
            None,
            Exit(1),
            Signal { signal: 11, at: Option::None },
            Assertion(String::new()),
            Exception { class: String::new(), what: Option::None },
            Panic { message: String::new(), at: Option::None },
            Abort,
            Memory(MemoryFault::BadFree),
            Consequence::Misuse(Misuse::Relock),
            Deadlock,
            Livelock,
            Unfinished(Limit::Seconds(1)),
            Check(1),
        ];
        // The names in JSON reveal a consequence that is missing above.
        for it in &all {
            let json = serde_json::to_value(it).unwrap();
            let key = json.as_object().and_then(|it| it.keys().next().cloned());
            assert_eq!(key.as_deref().or(json.as_str()), Some(it.name()));
            is_there(CONSEQUENCES, it.name());
        }
        for it in MemoryFault::ALL {
            is_there(CONSEQUENCES, it.name());
        }
        for it in Misuse::ALL {
            is_there(CONSEQUENCES, it.name());
        }
    }

    #[test]
    fn every_text_is_there() {
        for it in VERDICTS.iter().chain(CONSEQUENCES) {
            let Explanation { summary, meaning, example, advice, .. } = it;
            assert!(
                [summary, meaning, example, advice].iter().all(|it| !it.is_empty()),
                "{}",
                it.name
            );
        }
    }
}
