// The fixed twin of airlines_tickets.c: each thread does its work in one critical section.
#define FIXED
#include "airlines_tickets.c"
