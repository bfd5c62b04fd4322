#include <algorithm>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <sstream>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"

/// The sets of rights in doc/acl.md: each is enough for its use, and would not be without any one
/// of them.
namespace holdfast::test {
namespace {

using rules = std::vector<std::string>;

constexpr auto key = "jobs:nightly";
constexpr auto queue = "holdfast:{jobs:nightly}:queue";

/// The rights in the code of each section, by its title. What is not a right makes the user.
std::map<std::string, rules> documented() {
    std::ifstream page(HOLDFAST_SOURCE "/doc/acl.md");
    std::map<std::string, rules> result;
    std::string title;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) title = line.substr(3);
        if (!line.starts_with("ACL SETUSER ")) continue;
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            if (std::string("+~&").find(word.front()) != std::string::npos)
                result[title].push_back(word);
        }
    }
    return result;
}

/// Rights that a lock can be waited for without: nobody calls then.
bool is_of_the_queue(const std::string& right) {
    static const rules all{"+lpop", "+rpush",   "+lrem",      "+llen",
                           "+lpos", "+publish", "+subscribe", "&holdfast:*"};
    return std::find(all.begin(), all.end(), right) != all.end();
}

class acl_rules : public testing::Test {
  protected:
    using use = std::function<bool(client&)>;

    options as_user(const rules& rights, bool guarded) {
        rules command{"ACL", "SETUSER", "app", "reset", "on", ">pw", "resetkeys", "-@all"};
        if (has_rights_to_channels()) command.push_back("resetchannels");
        command.insert(command.end(), rights.begin(), rights.end());
        server_.command(command);
        auto settings = settings_for("redis://app:pw@127.0.0.1:" + std::to_string(server_.port()));
        settings.restart_guard = guarded;
        settings.patience = 100ms;
        return settings;
    }

    /// The whole of it was done. A server without scripts and keys, so that nothing is left over.
    bool done(const rules& rights, const use& work, bool guarded) {
        server_.command({"FLUSHALL"});
        server_.command({"SCRIPT", "FLUSH"});
        auto administrator = settings_for(server_.url());
        administrator.restart_guard = guarded;
        client vouching(administrator);
        if (guarded) (void)enlist(vouching, true);
        settings_ = as_user(rights, guarded);
        client through(settings_);
        bool whole = false;
        const auto error = error_of([&] { whole = work(through); });
        return whole && !error.code;
    }

    bool has_rights_to_channels() const {
        return !server_.query({"ACL", "SETUSER", "probe", "resetchannels"}).is_error();
    }

    /// Of this section, as far as the server knows them.
    rules documented_for(const std::string& title) const {
        auto all = documented()[title];
        if (!has_rights_to_channels()) std::erase(all, "&holdfast:*");
        return all;
    }

    void expect_enough_and_each_needed(const std::string& title, const use& work,
                                       bool guarded = false) {
        const auto all = documented_for(title);
        ASSERT_GT(all.size(), 3U) << "no rights for " << title;
        EXPECT_TRUE(done(all, work, guarded)) << title;
        for (const auto& left_out : all) {
            auto fewer = all;
            std::erase(fewer, left_out);
            EXPECT_FALSE(done(fewer, work, guarded)) << title << " without " << left_out;
        }
    }

    bool locks(client& through) {
        auto held = mutex(through, key).try_acquire();
        if (!held) return false;
        held->extend(20s);
        const bool released = held->release() == release_result::released;
        return released && server_.exists("holdfast:record");
    }

    redis_server server_;
    options settings_;  // of the user
};

TEST_F(acl_rules, of_every_use_are_tested_here) {
    rules titles;
    for (const auto& [title, rights] : documented()) titles.push_back(title);
    EXPECT_EQ(titles, (rules{"Examine", "Force", "Guard", "Latch", "Lead", "Lock", "Look", "Permit",
                             "Read", "Renew", "Wait"}));
}

TEST_F(acl_rules, of_a_lock_are_enough_and_each_is_needed) {
    expect_enough_and_each_needed("Lock", [&](client& through) { return locks(through); });
}

TEST_F(acl_rules, of_a_guarded_lock_are_enough_and_each_is_needed) {
    expect_enough_and_each_needed(
        "Guard", [&](client& through) { return locks(through); }, true);
}

TEST_F(acl_rules, of_readers_are_enough_and_each_is_needed) {
    expect_enough_and_each_needed("Read", [&](client& through) {
        shared_mutex lock(through, key);
        auto one = lock.try_acquire_shared();
        auto two = lock.try_acquire_shared();
        auto three = lock.try_acquire_shared();
        if (!one || !two || !three) return false;
        two->extend(20s);
        bool released = true;
        for (auto* each : {&one, &two, &three}) {
            released = (*each)->release() == release_result::released && released;
        }
        return released && server_.exists("holdfast:record");
    });
}

TEST_F(acl_rules, of_permits_are_enough_and_each_is_needed) {
    expect_enough_and_each_needed("Permit", [&](client& through) {
        semaphore two(through, key, 2);
        auto first = two.try_acquire();
        auto second = two.try_acquire();
        if (!first || !second || two.try_acquire()) return false;
        first->extend(20s);
        bool released = first->release() == release_result::released;
        if (set_limit(through, key, 1) != 2) return false;
        if (semaphore(through, key, 1).try_acquire()) return false;
        released = second->release() == release_result::released && released;
        const auto last = semaphore(through, key, 1).try_acquire();
        return released && last && server_.exists("holdfast:record");
    });
}

TEST_F(acl_rules, of_a_candidate_are_enough_and_each_is_needed) {
    expect_enough_and_each_needed("Lead", [&](client& through) {
        election one(through, key, "value");
        auto held = one.try_campaign();
        if (!held) return false;
        held->extend(20s);
        const bool led = one.leader().value == "value";
        const bool resigned = one.resign() == release_result::released;
        return led && resigned && !one.leader() && server_.exists("holdfast:record");
    });
}

TEST_F(acl_rules, of_a_latch_are_enough_and_each_is_needed) {
    expect_enough_and_each_needed("Latch", [&](client& through) {
        latch one(through, key, 2);
        if (one.try_wait()) return false;
        const auto looks = [&] {
            const auto text = server_.command({"INFO", "commandstats"});
            const auto at = text.find("cmdstat_eval:calls=");
            return at == std::string::npos ? 0 : std::stoi(text.substr(at + 19));
        };
        std::error_code error;
        auto waits = std::async(std::launch::async, [&] { return one.try_wait_for(3s, error); });
        if (waits.wait_for(400ms) == std::future_status::ready) return false;
        const bool polls = looks() > 8;
        one.count_down();
        one.count_down();
        return waits.get() && !error && !polls && server_.exists("holdfast:record");
    });
}

class acl_rules_of_a_waiter : public acl_rules {
  protected:
    [[nodiscard]] std::size_t in_line() const {
        return std::stoul(server_.command({"LLEN", queue}));
    }

    /// Who comes while others stand in line is denied.
    bool keeps_to_the_line(client& through) {
        server_.command({"RPUSH", queue, "- 0 hf1:somebody"});
        const bool denied = !mutex(through, key).try_acquire();
        server_.command({"DEL", key, queue});
        return denied;
    }

    bool leaves_the_line(client& through) {
        server_.command({"SET", key, "somebody"});
        (void)mutex(through, key).try_acquire_for(50ms);
        const bool left = eventually(100ms * slowness, [&] { return in_line() == 0; });
        server_.command({"DEL", key, queue});
        return left;
    }

    /// It is called, and the next by it, before either would look by itself.
    bool is_called_in_turn(client& through) {
        client second(settings_);
        client third(settings_);
        const auto wait = [](client& by) {
            return std::async(std::launch::async, [&by] {
                auto held = mutex(by, key).try_acquire_for(3s);
                return held && held->release() == release_result::released;
            });
        };
        auto held = mutex(through, key).acquire();
        auto first = wait(second);
        if (!eventually(300ms * slowness, [&] { return in_line() == 1; })) return false;
        auto next = wait(third);
        if (!eventually(300ms * slowness, [&] { return in_line() == 2; })) return false;
        const stopwatch watch;
        held.release();
        const bool both = first.get() && next.get();
        return both && watch.elapsed() < 500ms;
    }

    /// By another library: it has asked no more than once a second, and has the lock soon after.
    bool is_told_of_releases(client& through) {
        server_.command({"SET", key, "somebody", "PX", "60000"});
        const auto denied = [&] { return through.statistics().denied; };
        const auto before = denied();
        auto waiter = std::async(std::launch::async, [&] {
            auto held = mutex(through, key).try_acquire_for(4s);
            return held && held->release() == release_result::released;
        });
        const bool waits = waiter.wait_for(1300ms) == std::future_status::timeout;
        const bool polls = denied() > before + 2;
        const stopwatch watch;
        server_.command({"DEL", key});
        return waiter.get() && waits && !polls && watch.elapsed() < 400ms;
    }
};

TEST_F(acl_rules_of_a_waiter, are_enough_and_each_is_needed) {
    expect_enough_and_each_needed("Wait", [&](client& through) {
        return locks(through) && keeps_to_the_line(through) && leaves_the_line(through) &&
               is_called_in_turn(through) && is_told_of_releases(through);
    });
}

TEST_F(acl_rules_of_a_waiter, are_what_an_examination_misses_for_the_queue) {
    const auto missing = [&](const rules& rights) {
        client through(as_user(rights, false));
        return examine(through).at(0).queue_rights;
    };
    const auto all = documented_for("Wait");
    EXPECT_EQ(missing(all), rules{});
    rules found;
    for (const auto& left_out : all) {
        auto fewer = all;
        std::erase(fewer, left_out);
        const auto without = missing(fewer);
        if (std::find(without.begin(), without.end(), left_out) != without.end()) {
            found.push_back(left_out);
        }
    }
    rules of_the_queue;
    std::copy_if(all.begin(), all.end(), std::back_inserter(of_the_queue), is_of_the_queue);
    EXPECT_EQ(found, of_the_queue);
}

TEST_F(acl_rules, of_renewing_by_the_owner_are_enough_and_each_is_needed) {
    expect_enough_and_each_needed("Renew", [&](client& through) {
        server_.command({"SET", key, "somebody", "PX", "1000"});
        return renew(through, key, "somebody", 30s) && server_.pttl(key) > 2000;
    });
}

TEST_F(acl_rules, of_looking_are_enough_and_each_is_needed) {
    expect_enough_and_each_needed("Look", [&](client& through) {
        client other(server_.url());
        server_.command({"SET", key, "former", "PX", "60000"});
        EXPECT_EQ(force_unlock(other, key, "former", "stuck"), release_result::released);
        const auto held = mutex(other, key).acquire();
        server_.command({"RPUSH", "holdfast:{jobs:nightly}:queue", "- 1 " + held.owner()});
        std::size_t seen = 0;
        list(through, "jobs:*", [&](const lock_status& each) {
            seen += each.key == key && each.held_by->remaining && each.token == held.token() &&
                    each.waiting == 1U;
        });
        const auto line = inspect(through, key).waiters;
        if (!line || line->empty() || !line->front().waited) return false;
        auto read = shared_mutex(other, "jobs:read").acquire_shared();
        const auto too = shared_mutex(other, "jobs:read").acquire_shared();
        const auto reading = inspect(through, "jobs:read");
        if (!reading.readers || reading.readers->size() != 2 || reading.reading != 2U) return false;
        const auto permit = semaphore(other, "jobs:permit", 2).acquire();
        const auto permits = inspect(through, "jobs:permit");
        if (!permits.permits || permits.permits->size() != 1 || permits.taken != 1U) return false;
        const auto last = last_forced(through, key);
        const std::string redisson = "285475da-9152-4c83-822a-67ee2f116a79:52";
        server_.command({"HSET", "jobs:theirs", redisson, "1"});
        const auto theirs = inspect(through, "jobs:theirs").held_by;
        const bool all = seen == 1 && last && theirs;
        return all && last->reason == "stuck" && theirs->owner == redisson;
    });
}

TEST_F(acl_rules, of_taking_a_lock_away_are_enough_and_each_is_needed) {
    expect_enough_and_each_needed("Force", [&](client& through) {
        server_.command({"SET", key, "somebody", "PX", "60000"});
        const auto shown = inspect(through, key).held_by;
        if (!shown) return false;
        const auto result = force_unlock(through, key, shown->owner, "stuck");
        client other(server_.url());
        return result == release_result::released && last_forced(other, key);
    });
}

TEST_F(acl_rules, of_examining_are_enough_and_each_is_needed) {
    expect_enough_and_each_needed("Examine", [&](client& through) {
        auto settings = through.settings();
        settings.prefix = "jobs:";
        client prefixed(settings);
        const auto report = examine(prefixed).at(0);
        const bool all = report.missing_rights.empty() && !report.run_id.empty();
        return all && report.trial && !report.trial->code && report.snapshots.has_value();
    });
}

}  // namespace
}  // namespace holdfast::test
