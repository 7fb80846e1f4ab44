/* Stand-ins for the hooks of the runtime, so that programs link. */
#define HOOK(name) void __tsan_##name(void) {}
HOOK(init)
HOOK(func_entry)
HOOK(func_exit)
HOOK(read4)
HOOK(read8)
HOOK(write4)
HOOK(write8)
HOOK(volatile_read4)
HOOK(volatile_write4)
HOOK(atomic32_load)
HOOK(write_range)
