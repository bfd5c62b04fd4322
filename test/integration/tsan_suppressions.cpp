/// What the thread sanitizer cannot see: libstdc++ is not instrumented, and counts the references
/// to an exception with atomics of its own.
extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
    return "race:std::__exception_ptr::exception_ptr::_M_release\n";
}
