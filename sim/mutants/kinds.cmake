# Mutants of src/kinds: read by mutate.cmake.

mutate(absent_key_taken_for_a_grant kinds/exclusive.cpp
  [==[if (reply.is_null()) return denied{{}, core::duration{-1}};]==]
  [==[if (reply.is_null() && broken(absent_key_taken_for_a_grant)) return granted{};
    if (reply.is_null()) return denied{{}, core::duration{-1}};]==])

mutate(refusal_taken_for_not_ours kinds/answers.cpp
  [==[if (reply.is_error() && net::explain(reply).code == errc::wrong_type) {]==]
  [==[if (broken(refusal_taken_for_not_ours) && reply.is_error()) return ownership::not_ours;
    if (reply.is_error() && net::explain(reply).code == errc::wrong_type) {]==])

mutate(ttl_in_whole_seconds kinds/exclusive.cpp
  [==[const decimal life{milliseconds(what.ttl)};
        if (!what.of.fenced)]==]
  [==[const decimal life{broken(ttl_in_whole_seconds) ? milliseconds(what.ttl) / 1000 * 1000
                                                        : milliseconds(what.ttl)};
        if (!what.of.fenced)]==])

mutate(downgraded_under_other_digits kinds/shared.cpp
  [==[return std::string(shared_owner) + std::string(writer.substr(owner_start_bytes));]==]
  [==[const auto skipped = broken(downgraded_under_other_digits) ? 1U : 0U;
    return std::string(shared_owner) + std::string(writer.substr(owner_start_bytes + skipped));]==])

mutate(reader_comes_anew kinds/shared.cpp
  [==[what.in_line ? "1" : "0",]==]
  [==[what.in_line && !broken(reader_comes_anew) ? "1" : "0",]==])

mutate(slot_not_told kinds/semaphore.cpp
  [==[return granted{{static_cast<std::uint64_t>(*counter)}, static_cast<std::uint32_t>(*slot)};]==]
  [==[const auto told = broken(slot_not_told) ? 0 : *slot;
        return granted{{static_cast<std::uint64_t>(*counter)}, static_cast<std::uint32_t>(told)};]==])

mutate(permit_waiter_comes_anew kinds/semaphore.cpp
  [==[what.entry.empty() ? 5 : what.in_line ? 7 : 6;]==]
  [==[what.entry.empty() ? 5
                                  : what.in_line && !broken(permit_waiter_comes_anew) ? 7
                                                                                      : 6;]==])
