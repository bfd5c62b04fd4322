// A holder that slept through its lease cannot do harm. usage: fencing [URL]
//
// No lock with a deadline can stop a process that is paused between "I hold it" and "I write". The
// resource can: it remembers the largest fencing token it has seen, and refuses all others.

#include <chrono>
#include <cstdint>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace {

/// What has to be protected. Each holder writes once; in SQL this would be
/// UPDATE storage SET value = :value, token = :token WHERE token < :token
class storage {
  public:
    bool write(const std::string& value, std::uint64_t token) {
        if (token <= highest_) return false;
        highest_ = token;
        value_ = value;
        return true;
    }
    [[nodiscard]] const std::string& value() const { return value_; }

  private:
    std::string value_ = "nothing";
    std::uint64_t highest_ = 0;
};

bool write(storage& where, const std::string& who, std::uint64_t token) {
    const bool accepted = where.write("what " + who + " wrote", token);
    std::cout << who << " writes with token " << token << ": "
              << (accepted ? "accepted" : "refused") << '\n';
    return accepted;
}

bool run(const char* url) {
    storage shared;
    holdfast::client first_client{url};  // two clients, as two processes would have
    holdfast::client second_client{url};
    holdfast::mutex first{first_client, "example:fencing"};
    holdfast::mutex second{second_client, "example:fencing"};

    holdfast::acquire_options brief;
    brief.ttl = 300ms;
    brief.renew = false;
    auto slow = first.acquire(brief);
    std::cout << "the first holder has the lock, and falls asleep\n";
    std::this_thread::sleep_for(brief.ttl);

    auto quick = second.try_acquire_for(5s);
    if (!quick) return false;
    std::cout << "its lease ran out; the second holder has the lock\n";
    const bool newer = write(shared, "the second holder", quick->token());

    std::cout << "the first holder wakes up; lost: " << std::boolalpha << slow.lost() << '\n';
    const bool stale = write(shared, "the first holder", slow.token());  // it did not look

    std::cout << "stored: " << shared.value() << '\n';
    const bool not_ours = slow.release() == holdfast::release_result::already_lost;
    return slow.lost() && newer && !stale && not_ours && quick->verify();
}

}  // namespace

int main(int argc, char** argv) try {
    return run(argc > 1 ? argv[1] : "redis://127.0.0.1:6379") ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
