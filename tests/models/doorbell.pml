/* The doorbell of a process: who announces that he sleeps, who rings, and who is woken.
 * src/system/event_count.cpp, src/system/wake_socket.cpp; decision 0023.
 *
 * Two senders have something for a process, in which a helper (long sleeps) and a caller (naps)
 * wait. A store of another process stays in its store buffer until that drains, as on x86. A nap
 * may end by itself; a long sleep never does here, though it takes at most a second in the library.
 * Nobody may be left asleep with something to take.
 *
 * fault 1 (end state): the helper sleeps long without the barrier in all processes.
 * fault 2 (end state): who has announced himself sleeps without looking once more.
 * fault 3 (end state): the number of events is loaded behind the look, not before it.
 * fault 4 (end state): a process that no barrier reaches looks without one of its own.
 * fault 5 (end state): a sender looks whether somebody sleeps before it stores its message.
 * fault 6 (end state): who took the letters of the socket leaves without another look.
 * fault 7 (assertion): who is woken does not withdraw what he has announced.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef MESSAGES
#define MESSAGES 1
#endif
#define ALL (taken[0] == MESSAGES && taken[1] == MESSAGES)

mtype = { reached, unreached, own };  /* By barriers of others; not; a thread of the process. */
mtype kind[2];
byte made[2], shown[2], taken[2];     /* Messages: stored by the sender, visible, taken. */
byte events, waiters, pollers, letters;
bit asleep[2];                        /* On the futex. */
byte gone;                            /* Waiters that have returned. */

proctype Sender(bit s) {
    bit found;
    do
    :: made[s] < MESSAGES ->
#if FAULT == 5
        found = waiters > 0;
#endif
        if
        :: atomic { kind[s] == own ->  /* WorkerPool, then notify() */
               made[s]++; shown[s] = made[s]; events++ }
           found = waiters > 0
        :: atomic { kind[s] != own -> made[s]++ }  /* OutQueue::post, then notify_waiters() */
#if FAULT != 5
           atomic {                /* To those whom barriers reach, a plain load: see above. */
               shown[s] = (kind[s] == unreached && FAULT != 4 -> made[s] : shown[s]);
               found = waiters > 0 }
#endif
           atomic { if :: found -> shown[s] = made[s]; events++ :: else fi }
        fi;
        d_step {                   /* wake() */
            asleep[0] = (found -> 0 : asleep[0]);
            asleep[1] = (found -> 0 : asleep[1]) }
        atomic {                   /* wake_socket_of() */
            letters = ((found || kind[s] == own) && pollers > 0 -> 1 : letters);
            found = 0 }
    :: else -> break
    od
}

active proctype StoreBuffers() {
end:
    do
    :: atomic { shown[0] < made[0] -> shown[0]++ }
    :: atomic { shown[1] < made[1] -> shown[1]++ }
    od
}

/* Progress::help (is_helper) and Progress::drive, with PollState and EventWaiter. */
proctype Waiter(bit self; bit is_helper) {
    byte seen, state;              /* PollState::State: polling, announced, announced_for_long. */
    bit announced, reached_all, is_long, moved, has_slept;
    do
    ::
#if FAULT == 6
        if :: !is_helper && has_slept -> break :: else fi;
#endif
#if FAULT != 3
        seen = events;
#endif
        d_step {                   /* Progress::make_attempt, under the mutex. */
            moved = taken[0] < shown[0] || taken[1] < shown[1];
            taken[0] = shown[0];
            taken[1] = shown[1]
        }
#if FAULT == 3
        seen = events;
#endif
        if
        :: ALL || (!is_helper && taken[1] == MESSAGES) -> break
        :: else
        fi;
        if
        :: moved ->                /* PollState::reset, EventWaiter::withdraw */
            d_step { waiters = waiters - announced; announced = 0; reached_all = 0;
                     state = 0; is_long = 0; moved = 0 }
        :: !moved && state < 1 + is_long ->  /* EventWaiter::announce */
            atomic { state = 1 + is_long; waiters = waiters + 1 - announced; announced = 1 }
#if FAULT != 1
            if
            :: is_long -> d_step {  /* membarrier(2) */
                if :: kind[0] == reached -> shown[0] = made[0] :: else fi;
                if :: kind[1] == reached -> shown[1] = made[1] :: else fi;
                reached_all = 1 }
            :: else
            fi
#else
            reached_all = is_long
#endif
#if FAULT == 2
            ; goto sleep
#endif
        :: !moved && state >= 1 + is_long ->
sleep:      if
            ::  waiters++;         /* wait_for_event */
                atomic { asleep[self] = (events == seen) }
                if :: !asleep[self] || ALL :: !reached_all fi;
                d_step { asleep[self] = 0; waiters-- }
            ::  pollers++;         /* WakeSocket::sleep */
                if
                :: events != seen
                :: events == seen -> if :: letters > 0 || ALL :: !reached_all fi
                fi;
                pollers--;
                letters = 0
            fi;
            d_step {               /* EventWaiter::withdraw, PollState::woke */
#if FAULT != 7
                waiters = waiters - announced;
#endif
                announced = 0; reached_all = 0; state = 0; seen = 0; is_long = is_helper }
#if FAULT == 6
            has_slept = 1
#endif
        fi
    od;
    atomic { waiters = waiters - announced; gone++ }  /* ~EventWaiter */
}

init {
    atomic {
        if :: kind[0] = unreached :: kind[0] = reached fi;
        if :: kind[1] = reached :: kind[1] = own fi;
        run Sender(0); run Sender(1); run Waiter(0, 1); run Waiter(1, 0)
    }
    gone == 2 -> assert(waiters == 0 && pollers == 0 && ALL)
}
