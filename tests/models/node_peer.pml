/* Large messages between two ranks of a node: the sender sends fragments from the front, and the
 * receiver, where nothing comes, copies stretches from the end out of the sender's memory.
 * src/transport/node_peer.cpp; decision 0021.
 *
 * Each rank looks only while it expects something, and a queue may
 * be full. Every byte must come to its place, none may be read of memory that its sender has again,
 * and both ranks must come to their end. Where the system refuses to copy, fragments must do.
 *
 * fault 1 (assertion): a send is over when all of its fragments went.
 * fault 2 (end state): a receive is over before its sender was told.
 * fault 3 (end state): after a refused copy the sender is not asked for the rest again.
 * fault 4 (assertion): fragments are taken for the message that was begun first.
 * fault 5 (assertion): a fragment that crossed a `shorten` is not cut.
 * fault 6 (end state): a receive whose front and copies have met goes on waiting.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef LENGTH             /* Of a message. */
#define LENGTH 6
#endif
#ifndef BODY               /* Of a fragment. */
#define BODY 2
#endif
#ifndef COPY_MAX           /* What is copied at once. */
#define COPY_MAX 3
#endif
#ifndef ROOM               /* Cells of a queue. */
#define ROOM 1
#endif

mtype = { offer, fragment, grant, shorten, done };
chan out = [ROOM] of { mtype, byte, byte, byte }; /* To the receiver: message, from, until. */
chan back = [ROOM] of { mtype, byte, byte };      /* To the sender: message, up to where. */
bit is_ended[MESSAGES];    /* Of sends: the program has its memory again. */

/* Of the two messages. */
#define WANTS(m) (granted[m] && front[m] < until[m] && !is_ended[m])

active proctype Sender() {
    byte offered, ended, m, k;
    byte front[MESSAGES], until[MESSAGES];        /* NodeSend::front, NodeSend::back */
    bit granted[MESSAGES];
    mtype kind;
    do
    :: ended == MESSAGES -> break                 /* It expects nothing, and looks no more. */
    :: offered < MESSAGES && nfull(out) ->        /* NodePeer::try_send */
        atomic { out!offer(offered, 0, 0); until[offered] = LENGTH; offered++ }
    :: atomic { nfull(out) && (WANTS(0) || WANTS(MESSAGES - 1)) ->  /* send_fragments */
           m = (WANTS(0) -> 0 : MESSAGES - 1);
           k = (until[m] - front[m] > BODY -> front[m] + BODY : until[m]);
           out!fragment(m, front[m], k);
           front[m] = k;
#if FAULT == 1
           is_ended[m] = (k == LENGTH);
#endif
           m = 0; k = 0 }
    :: atomic { back?kind(m, k) ->                /* NodePeer::take_answer */
           if
           :: is_ended[m] -> ended = ended + (kind == done)
           :: !is_ended[m] && kind == grant -> granted[m] = 1
           :: !is_ended[m] && kind == shorten -> until[m] = k
           :: !is_ended[m] && kind == done -> is_ended[m] = 1; ended++
           fi;
           kind = 0; m = 0; k = 0 }
    od
}

/* NodePeer::tell: now, or before all that is told later. */
inline tell(what, message, number) {
    if
    :: empty(told) && nfull(back) ->
        back!what(message, number);
        if :: what == done -> ended++ :: else fi
    :: (len(told) > 0) || full(back) -> assert(nfull(told)); told!what(message, number)
    fi
}

inline end_large(message) {
    begun[message] = 0;
#if FAULT == 2
    ended++;
    if
    :: empty(told) && nfull(back) -> back!done(message, 0)
    :: (len(told) > 0) || full(back) -> told!done(message, 0)
    fi
#else
    tell(done, message, 0)
#endif
}

inline begin_large(message) {
    begun[message] = 1;
    until[message] = LENGTH;
    tell(grant, message, 0)
}

#define MAY_COPY(m) (begun[m] && front[m] < until[m])

active proctype Receiver() {
    chan told = [8] of { mtype, byte, byte };     /* NodePeer::told_ */
    byte started, ended, m, k, end;
    byte front[MESSAGES], until[MESSAGES];        /* NodeReceive::front, NodeReceive::back */
    byte came[MESSAGES * LENGTH];              /* How often the bytes were stored. */
    bit early[MESSAGES], begun[MESSAGES], readable = 1;
    mtype kind;
    do
    :: ended == MESSAGES -> break                 /* It expects nothing, and looks no more. */
    :: started < MESSAGES ->                      /* NodePeer::receive */
        atomic {
            m = started;
            started++;
            if :: early[m] -> begin_large(m) :: else fi;
            m = 0 }
    :: atomic { (len(told) > 0) && nfull(back) ->    /* NodePeer::send_waiting */
           told?kind(m, k);
           back!kind(m, k);
           if :: kind == done && FAULT != 2 -> ended++ :: else fi;
           kind = 0; m = 0; k = 0 }
    :: atomic { (started > ended || (len(told) > 0)) && (len(out) > 0) ->  /* take_cells, deliver */
           out?kind(m, k, end);
#if FAULT == 4
           if :: kind == fragment && begun[0] -> m = 0 :: else fi;
#endif
           if
           :: kind == offer && m >= started -> early[m] = 1
           :: kind == offer && m < started -> begin_large(m)
           :: kind == fragment && !begun[m]               /* deliver_fragment: dropped. */
           :: kind == fragment && begun[m] ->
               assert(k == front[m]);
               do
               :: k < end && (k < until[m] || FAULT == 5) ->
                   came[m * LENGTH + k]++; k++
               :: else -> break
               od;
               front[m] = k;
               if :: front[m] >= until[m] -> end_large(m) :: else fi
           fi;
           kind = 0; m = 0; k = 0; end = 0 }
    :: atomic { readable && empty(out) && (MAY_COPY(0) || MAY_COPY(MESSAGES - 1)) ->  /* copy */
           m = (MAY_COPY(0) -> 0 : MESSAGES - 1);
           k = (until[m] - front[m] > COPY_MAX -> until[m] - COPY_MAX : front[m]);
           tell(shorten, m, k) }
       atomic {
           if
           :: true ->                             /* read_memory(): of the sender. */
               assert(!is_ended[m]);
               end = k;
               do
               :: k < until[m] -> came[m * LENGTH + k]++; k++
               :: else -> break
               od;
               until[m] = end;
               if :: front[m] == end && FAULT != 6 -> end_large(m) :: else fi
           :: true ->                             /* The system refuses. */
               readable = 0;
#if FAULT != 3
               tell(shorten, m, until[m])
#endif
           fi;
           m = 0; k = 0; end = 0 }
    od;
    for (k : 0 .. MESSAGES * LENGTH - 1) { assert(came[k] == 1) }
}
