// The twin of nested_tasks.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "nested_tasks.c"
