// The whole public interface in one include, linked and run against a server that is not there.
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <system_error>

int main() {
    holdfast::client client{"unix:///nonexistent"};
    holdfast::mutex mutex{client, "package"};
    std::error_code error;
    client.connect(error);
    if (!error) return 1;
    std::cout << "holdfast " << holdfast::version << '\n';
}
