// The twin of branch_audit.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "branch_audit.c"
