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
