// The twin of mailbox_reuse.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "mailbox_reuse.cc"
