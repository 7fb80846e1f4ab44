// The fixed twin of string_buffer.c: each thread does its work in one critical section.
#define FIXED
#include "string_buffer.c"
