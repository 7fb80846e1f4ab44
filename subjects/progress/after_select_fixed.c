// The twin of after_select.c: two threads sleep by `select`, and note how much time is left, which is nothing.
// Each thread has a note of its own.
// Finds: nothing harmful
#define FIXED
#include "after_select.c"
