// The twin of asynchronous_write.c: a thread of libc, which no schedule decides about, announces a complete write.
// The other threads add with the lock.
// Finds: nothing harmful
#define FIXED
#include "asynchronous_write.c"
