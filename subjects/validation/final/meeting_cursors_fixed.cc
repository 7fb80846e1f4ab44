// The twin of meeting_cursors.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "meeting_cursors.cc"
