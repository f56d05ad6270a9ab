/* Preloaded beside libsluice: ends one rank by SIGKILL at a chosen storage action on the tested
 * file, as a crash would, and notes all actions on that file in the order in which they ended:
 * "RANK action NAME", "RANK kill NAME". Beside what interposed.h knows:
 *
 *   SLUICE_TEST_KILL_RANK    the rank to end; without it nobody is ended
 *   SLUICE_TEST_KILL_ACTION  at which of its actions, from 1
 *   SLUICE_TEST_KILL_MOMENT  before, after, or middle: half of the bytes are written. Only
 *                            writes have a middle, so then only they are counted.
 *   SLUICE_TEST_KEEPER_ACTION  the same for each keeper, which is then ended, too
 *   SLUICE_TEST_SLOW         microseconds that each write takes longer
 *
 * A flush of a journal in a folder is an action as well. */
#include "interposed.h"

#include <signal.h>

static int moment_is(char const* moment) {
    return strcmp(setting("SLUICE_TEST_KILL_MOMENT"), moment) == 0;
}

/* Whether this is the action to end at. */
static int chosen(void) {
    static atomic_int actions;
    int const keeps = rank() == keeper;
    if (!keeps && strcmp(setting("SLUICE_TEST_KILL_RANK"), rank()) != 0) return 0;
    char const* const which = keeps ? "SLUICE_TEST_KEEPER_ACTION" : "SLUICE_TEST_KILL_ACTION";
    return atomic_fetch_add(&actions, 1) + 1 == atoi(setting(which));
}

static void end(char const* name) {
    if (rank() != keeper) note("kill", name);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* The first half of the bytes, however they are cut into pieces. */
static void write_half(int fd, struct iovec const* vector, int count, off_t offset) {
    size_t half = 0;
    for (int i = 0; i < count; ++i) half += vector[i].iov_len;
    half /= 2;
    for (int i = 0; i < count && half > 0; ++i) {
        size_t const length = vector[i].iov_len < half ? vector[i].iov_len : half;
        if (syscall(SYS_pwrite64, fd, vector[i].iov_base, length, offset) < 0) abort();
        offset += (off_t)length;
        half -= length;
    }
}

static long act(struct action const* action) {
    if (action->number == SYS_pwritev) usleep((useconds_t)atoi(setting("SLUICE_TEST_SLOW")));
    int const middle = moment_is("middle");
    int const ends = (!middle || action->number == SYS_pwritev) && chosen();
    if (ends && middle)
        write_half((int)action->a, (struct iovec const*)action->b, (int)action->c, action->d);
    if (ends && (middle || moment_is("before"))) end(action->name);
    long const result = perform(action);
    if (result >= 0 && rank() != keeper) note("action", action->name);
    if (ends) end(action->name);
    return result;
}
