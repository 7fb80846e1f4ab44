// The fixed twin of session.c: each thread does its work in one critical section.
#define FIXED
#include "session.c"
