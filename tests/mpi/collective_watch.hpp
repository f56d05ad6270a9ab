// Names what runs when a run hangs: after a time, and when it is ended from outside.
#pragma once
#include "check.hpp"

#include <csignal>

namespace collective_test {

class Watch {
public:
    /// Of each batch: usually they take milliseconds.
    static constexpr unsigned seconds = 30;

    static void begin(std::string const& what) {
        static bool const ready = prepare();
        std::snprintf(text(), room, "rank %d: running %s\n", check::rank(), what.c_str());
        if (check::state().options.verbose && check::rank() == 0) tell();
        alarm(ready ? seconds : 0);
    }
    static void end() {
        alarm(0);
        text()[0] = '\0';
    }

private:
    static constexpr std::size_t room = 2048;
    static char* text() {
        static char all[room];
        return all;
    }
    /// In a signal handler, too.
    static void tell() {
        std::size_t length = 0;
        while (length < room && text()[length]) ++length;
        if (::write(STDERR_FILENO, text(), length) < 0) return;
    }
    static void handle(int signal) {
        tell();
        if (signal == SIGALRM) return;
        std::signal(signal, SIG_DFL);
        ::raise(signal);
    }
    static bool prepare() {
        struct sigaction action{};
        action.sa_handler = handle;
        action.sa_flags = SA_RESTART;
        return ::sigaction(SIGALRM, &action, nullptr) == 0 &&
               ::sigaction(SIGTERM, &action, nullptr) == 0;
    }
};

}  // namespace collective_test
