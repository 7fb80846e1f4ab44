// A library in C++ for plugin_host.c, a program in C, which has no library of C++ itself. It uses what the
// runtime intercepts of that library: nodes of containers, exceptions, random numbers.
#include <list>
#include <map>
#include <random>

extern "C" int plugin_run(int by) {
    std::map<int, int> squares;
    std::list<int> numbers;
    for (int it = 0; it < 10; it++) {
        squares[it] = it * it;
        numbers.push_back(it);
    }
    squares.erase(by);
    numbers.pop_front();
    std::random_device device;
    int sum = device() == 0 && device() == 0 ? 1 : 0;
    for (auto &it : squares) sum += it.second;
    for (int it : numbers) sum += it;
    try {
        throw sum;
    } catch (int thrown) {
        return thrown;
    }
}
