#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "holdfast/operate.hpp"

/// What can be said of a client without a server: a client connects to nothing by itself.
namespace holdfast {
namespace {

using urls = std::vector<std::string>;

TEST(client, is_made_of_any_kind_of_string) {
    const char* const given = "redis://a";
    const std::string text = given;
    const std::string_view view = text;
    EXPECT_EQ(client{"redis://a"}.settings().urls, urls{"redis://a"});
    EXPECT_EQ(client("redis://a").settings().urls, urls{"redis://a"});
    EXPECT_EQ(client{given}.settings().urls, urls{"redis://a"});
    EXPECT_EQ(client{text}.settings().urls, urls{"redis://a"});
    EXPECT_EQ(client(text).settings().urls, urls{"redis://a"});
    EXPECT_EQ(client{view}.settings().urls, urls{"redis://a"});
    static_assert(!std::is_convertible_v<const char*, client>, "one string is not yet a client");
}

TEST(client, is_made_of_several_urls) {
    const urls three{"redis://a", "redis://b", "redis://c"};
    const std::string last = "redis://c";
    const client assigned = {"redis://a", "redis://b", "redis://c"};
    EXPECT_EQ(assigned.settings().urls, three);
    EXPECT_EQ((client{"redis://a", "redis://b", "redis://c"}.settings().urls), three);
    EXPECT_EQ(client({"redis://a", "redis://b", "redis://c"}).settings().urls, three);
    EXPECT_EQ((client{"redis://a", std::string_view("redis://b"), last}.settings().urls), three);
    EXPECT_EQ(client{three}.settings().urls, three);
    EXPECT_EQ(client(three).settings().urls, three);
    EXPECT_EQ((client{urls{"redis://a", "redis://b", "redis://c"}}.settings().urls), three);
}

TEST(client, is_made_of_options_that_are_written_on_the_spot) {
    const char* const given = "redis://a";
    const std::string text = given;
    EXPECT_EQ(client({.urls = {given}, .label = "x"}).settings().label, "x");
    EXPECT_EQ((client{{.urls = {given}, .label = "x"}}.settings().label), "x");
    EXPECT_EQ((client{{.urls = {text}, .label = text}}.settings().label), text);
    EXPECT_EQ(client({.urls = {given}}).settings().urls, urls{text});
    EXPECT_EQ(client({.urls = {text}}).settings().urls, urls{text});
    EXPECT_EQ((client{{.urls = {given}}}.settings().urls), urls{text});
    EXPECT_EQ((client{{.urls = {text}}}.settings().urls), urls{text});
    EXPECT_EQ(client({.urls = urls{text}}).settings().urls, urls{text});
    EXPECT_EQ(client({.urls = {"redis://a", "redis://b", text + "c"}}).settings().urls.size(), 3U);
    EXPECT_EQ((client{options{.urls = {given}}}.settings().urls), urls{text});
    const options kept{.urls = {given}, .label = "y"};
    EXPECT_EQ(client{kept}.settings().label, "y");
    EXPECT_EQ(client(kept).settings().label, "y");
}

template <typename Work>
std::error_code error_of(Work&& work) {
    try {
        std::forward<Work>(work)();
    } catch (const std::system_error& thrown) {
        return thrown.code();
    }
    return {};
}

TEST(client, of_several_servers_refuses_to_be_fair_and_says_why) {
    client quorum{"redis://a", "redis://b", "redis://c"};
    try {
        (void)quorum.try_acquire("k", {.fair = true});
        FAIL() << "there is no common order";
    } catch (const std::system_error& thrown) {
        EXPECT_EQ(thrown.code(), errc::invalid_option);
        EXPECT_NE(std::string_view(thrown.what()).find("no common order"), std::string_view::npos)
            << thrown.what();
    }
}

TEST(client, that_was_moved_from_is_closed_until_it_is_assigned_to) {
    client first{"unix:///nonexistent"};
    client second(std::move(first));
    client& gone = first;
    std::error_code error;
    gone.connect(error);
    EXPECT_EQ(error, errc::closed);
    EXPECT_EQ(error_of([&] { gone.connect(); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)gone.acquire("k"); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)gone.try_acquire("k"); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)gone.try_acquire_for("k", std::chrono::seconds(1)); }),
              errc::closed);
    EXPECT_EQ(error_of([&] { gone.with_lock("k", [] {}); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)gone.statistics(); }), errc::closed);
    EXPECT_EQ(error_of([&] { mutex(gone, "k"); }), errc::closed);
    EXPECT_TRUE(gone.settings().urls.empty());
    gone = std::move(second);
    gone.connect(error);
    EXPECT_EQ(error, errc::unreachable);
}

TEST(client, that_was_moved_from_cannot_be_looked_through) {
    client gone{"unix:///nonexistent"};
    const client second(std::move(gone));
    const auto visit = [](const lock_status&) {};
    EXPECT_EQ(error_of([&] { (void)inspect(gone, "k"); }), errc::closed);
    EXPECT_EQ(error_of([&] { list(gone, "*", visit); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)quarantine(gone); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)server_names(gone); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)unlock(gone, "k", "o"); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)force_unlock(gone, "k", "o", "why"); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)last_forced(gone, "k"); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)renew(gone, "k", "o", min_ttl); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)linger(gone, "k", "o", min_ttl); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)examine(gone); }), errc::closed);
    EXPECT_EQ(error_of([&] { (void)enlist(gone, false); }), errc::closed);
}

}  // namespace
}  // namespace holdfast
