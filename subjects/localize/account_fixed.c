// The fixed twin of account.c: each thread does its work in one critical section.
#define FIXED
#include "account.c"
