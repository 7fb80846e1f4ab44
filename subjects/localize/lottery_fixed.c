// The fixed twin of lottery.c: each thread does its work in one critical section.
#define FIXED
#include "lottery.c"
