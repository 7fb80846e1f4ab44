// A player shows the last title of a list that another thread shortens.
// Bug (atomicity violation): the length and the title are read in two critical sections.
// Consequence: exception
// The twin is play_list_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class PlayList {
public:
    explicit PlayList(std::vector<std::string> titles) : titles_(std::move(titles)) {}

    std::size_t size() {
        std::lock_guard<std::mutex> guard(lock_);
        return titles_.size();
    }

    std::string at(std::size_t number) {
        std::lock_guard<std::mutex> guard(lock_);
        return titles_.at(number);
    }

    std::string last() {
        std::lock_guard<std::mutex> guard(lock_);
        return titles_.empty() ? std::string() : titles_.back();
    }

    bool remove_last() {
        std::lock_guard<std::mutex> guard(lock_);
        if (titles_.empty()) return false;
        titles_.pop_back();
        return true;
    }

private:
    std::mutex lock_;
    std::vector<std::string> titles_;
};

static std::string current(PlayList &list) {
#ifdef FIXED
    return list.last();
#else
    std::size_t size = list.size();
    return size == 0 ? std::string() : list.at(size - 1);
#endif
}

int main() {
    PlayList list({"Adagio", "Presto", "Largo"});
    std::size_t shown = 0;
    std::thread display([&] {
        for (int i = 0; i < 2; i++) shown += current(list).size();
    });
    std::thread user([&] {
        list.remove_last();
        list.remove_last();
    });
    display.join();
    user.join();
    std::printf("%zu titles\n", list.size());
    assert(list.size() == 1 && shown > 0);
}
