#include "support/shifted_clock.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <filesystem>
#include <new>

#include "support/errors.hpp"
#include "support/file_descriptor.hpp"

namespace holdfast::test {

shifted_clock::shifted_clock() {
    const auto path = directory_ / "offset";
    file_descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    if (!file || ::ftruncate(file.get(), sizeof(shared_offset)) != 0)
        throw_errno("cannot create " + path.native());
    void* memory =
        ::mmap(nullptr, sizeof(shared_offset), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) throw_errno("cannot map " + path.native());
    offset_ = new (memory) shared_offset{0};
}

shifted_clock::~shifted_clock() { ::munmap(offset_, sizeof(shared_offset)); }

bool shifted_clock::available() { return std::filesystem::exists(HOLDFAST_CLOCK_SHIM_LIBRARY); }

environment_variables shifted_clock::environment() const {
    return {{"LD_PRELOAD", HOLDFAST_CLOCK_SHIM_LIBRARY},
            {"HOLDFAST_CLOCK_SHIM", (directory_ / "offset").native()}};
}

}  // namespace holdfast::test
