// The twin of requeue.c: two workers wait for a condition that is made of futexes, whose broadcast lets one of
// them wait for the lock.
// They add with the lock. No wake-up is lost: a thread that is moved to the lock is woken when it is unlocked.
// Finds: nothing harmful
#define FIXED
#include "requeue.c"
