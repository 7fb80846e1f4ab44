// The twin of message_backlog.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "message_backlog.c"
