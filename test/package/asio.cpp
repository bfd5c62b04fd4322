#include <boost/asio/io_context.hpp>
#include <holdfast/asio.hpp>
#include <holdfast/version.hpp>
#include <iostream>

int main() {
    boost::asio::io_context context;
    context.run();
    std::cout << "holdfast " << holdfast::version << '\n';
}
