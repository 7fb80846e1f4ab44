// The twin of other_process.c: a parent waits for a semaphore and for a condition variable in shared memory.
// It adds with the lock. What it waits for comes from another process, so the waits are no deadlock.
// Finds: nothing harmful
#define FIXED
#include "other_process.c"
