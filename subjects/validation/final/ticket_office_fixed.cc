// The twin of ticket_office.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "ticket_office.cc"
