// Fences of every order.
// Events, in this order: fences acquire, release, acq_rel, seq_cst. A fence between a thread and
// its own handlers leaves none.
#include <stdatomic.h>
#include <stdio.h>

int main(void) {
    atomic_thread_fence(memory_order_acquire);
    atomic_thread_fence(memory_order_release);
    atomic_thread_fence(memory_order_acq_rel);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_seq_cst);
    puts("fenced");
    return 0;
}
