// The twin of ticket_assembly.c: two threads count their entries with a ticket lock in inline assembly.
// All entries are counted with the lock.
// Finds: nothing harmful
#define FIXED
#include "ticket_assembly.c"
