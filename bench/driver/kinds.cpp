#include "kinds.hpp"

#include <map>
#include <optional>
#include <utility>

#include "holdfast/holdfast.hpp"

namespace holdfast::bench {
namespace {

template <typename Lock>
class held : public lockable {
  public:
    template <typename... Arguments>
    explicit held(Arguments&&... arguments) : lock_(std::forward<Arguments>(arguments)...) {}
    void lock() override { lock_.lock(); }
    void unlock() override { lock_.unlock(); }

  private:
    Lock lock_;
};

/// Once open a latch costs less, and is of no use: another follows the last count of each.
class counted_down : public lockable {
  public:
    counted_down(client& through, std::string key) : client_(through), key_(std::move(key)) {}
    void lock() override {
        if (left_ == 0) {
            latch_.emplace(client_, key_ + ":" + std::to_string(++made_), max_latch_count);
            left_ = max_latch_count;
        }
        --left_;
        latch_->count_down();
    }
    void unlock() override {}

  private:
    client& client_;
    std::string key_;
    std::optional<latch> latch_;
    std::size_t left_ = 0;
    std::size_t made_ = 0;
};

/// number: what stands behind the colon of the variant, or 0.
using way_to_make = std::unique_ptr<lockable> (*)(client& through, const std::string& key,
                                                  std::uint32_t number);

template <typename Lock>
std::unique_ptr<lockable> of_one_key(client& through, const std::string& key, std::uint32_t) {
    return std::make_unique<held<Lock>>(through, key);
}

std::unique_ptr<lockable> of_two_keys(client& through, const std::string& key, std::uint32_t) {
    return std::make_unique<held<multi_mutex>>(through,
                                               std::vector<std::string>{key, key + ":other"});
}

std::unique_ptr<lockable> of_permits(client& through, const std::string& key,
                                     std::uint32_t number) {
    return std::make_unique<held<semaphore>>(through, key, number);
}

std::unique_ptr<lockable> of_counts(client& through, const std::string& key, std::uint32_t) {
    return std::make_unique<counted_down>(through, key);
}

const std::map<std::string, way_to_make>& ways() {
    static const std::map<std::string, way_to_make> all{
        {"reading", of_one_key<shared_mutex::reading>},
        {"writing", of_one_key<shared_mutex>},
        {"semaphore", of_permits},
        {"two-keys", of_two_keys},
        {"election", of_one_key<election>},
        {"latch", of_counts},
    };
    return all;
}

}  // namespace

std::vector<std::string> kinds() {
    std::vector<std::string> names;
    for (const auto& [name, way] : ways()) names.push_back(name);
    return names;
}

lock_maker open_kind(const std::string& variant, const std::vector<std::string>& urls) {
    const auto colon = variant.find(':');
    const auto way = ways().find(variant.substr(0, colon));
    if (way == ways().end()) return {};
    const auto number = colon == std::string::npos ? 0 : std::stoul(variant.substr(colon + 1));
    options settings;
    settings.urls = urls;
    auto through = std::make_shared<client>(settings);
    return [through, make = way->second, number](const std::string& key) {
        return make(*through, key, static_cast<std::uint32_t>(number));
    };
}

}  // namespace holdfast::bench
