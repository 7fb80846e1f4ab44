// A member function of a class template, with overloads: for patterns that name it in different
// spellings.
#include <thread>

template <typename K, typename V> struct M {
    long sum = 0;
    __attribute__((noinline)) void insert(K key, V value) { sum += key + value; }
    __attribute__((noinline)) void insert(K key) { sum += key; }
};

template struct M<int, long>;
template struct M<char, char>;

static M<int, long> numbers;
static M<char, char> letters;

int main() {
    std::thread other([] { numbers.insert(1, 2L); });
    other.join();
    numbers.insert(3, 4L);
    numbers.insert(5);
    letters.insert('a', 'b');
    return 0;
}
