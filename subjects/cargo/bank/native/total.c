static long total;

void total_add(long amount) {
    total += amount;
}

long total_read(void) {
    return total;
}
