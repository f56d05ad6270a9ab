/* Messages between two processes over a fabric: short ones take slots of the receiver, for which
 * credits come back; for a long one the receive shows its memory, and the sender writes there.
 * src/transport/fabric_channel.cpp, fabric_peer.cpp, shown_receives.cpp; decision 0046.
 *
 * Process 0 sends short messages and one long one, process 1 sends one short message. Messages may
 * overtake each other; the wire may be full. A long message goes by one write that says its length.
 * No more messages may be under way than the receiver has slots, no write may come before its
 * memory is shown or after it is hidden, and all messages must come to their end.
 *
 * fault 1 (assertion): a message is posted though all slots are taken.
 * fault 2 (end state): a message with nothing but credits waits for a slot.
 * fault 3 (end state): the last credits count, not the most.
 * fault 4 (end state): credits are told only when more than all slots were taken.
 * fault 5 (end state): memory that is shown before its send has started is forgotten.
 * fault 6 (assertion): a receive that has shown its memory is over when its sender asks for it.
 * fault 7 (assertion): a message is credited to the peer though it is still in its slot.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef SHORT              /* Messages of process 0 that go whole. */
#define SHORT 2
#endif
#ifndef SLOTS              /* slots_of_peer_least */
#define SLOTS 2
#endif
#ifndef CREDITED_AT        /* credited_at_once(): SLOTS divided by this. */
#define CREDITED_AT 2
#endif
#define WIRE 3             /* Messages of one direction that are under way at most. */
#define AT_ONCE (FAULT == 4 -> SLOTS + 1 : (SLOTS / CREDITED_AT > 0 -> SLOTS / CREDITED_AT : 1))

#define none 0
mtype = { whole, ready, waiting, refused, credits };
mtype kind[2 * WIRE];      /* On the wire, in no order; by sender. */
byte credit[2 * WIRE];
byte in_slots[2];          /* By receiver: messages on their way to a slot, or in it. */
byte sent[2], credited[2], taken[2], told[2];  /* FabricChannel, by process. */
byte short_to_go[2], short_to_come[2];
bit write_under_way, is_shown, is_hidden, long_sent, long_came, early_ready;
bit owed_ready, owed_refused, owed_waiting;    /* FabricChannel::told_ */

#define WIRE_HAS_ROOM(me) (kind[me * WIRE] == none || kind[me * WIRE + 1] == none || \
    kind[me * WIRE + 2] == none)

#define HAS_SLOT(me) (sent[me] - credited[me] < SLOTS + (FAULT == 1))
/* FabricChannel::post: whether it takes the message. */
#define HAS_ROOM(me) (HAS_SLOT(me) && WIRE_HAS_ROOM(me))
#define HAS_ROOM_FOR_CREDITS(me) ((FAULT != 2 || HAS_SLOT(me)) && WIRE_HAS_ROOM(me))
#define OWES(me) (me == 0 -> owed_waiting : owed_ready || owed_refused)  /* has_told_all() */

inline post(what) {
    at = me * WIRE;
    do
    :: kind[at] != none -> at++
    :: else -> break
    od;
    kind[at] = what;
    credit[at] = taken[me];
    told[me] = taken[me];
    at = 0;
    if
    :: what != credits ->
        sent[me]++;
        in_slots[1 - me]++;
        assert(in_slots[1 - me] <= SLOTS)
    :: else
    fi
}

/* FabricPeer::take of one message, which any may be the next of. */
inline take(from) {
    atomic {
        at = (from) * WIRE;
        if
        :: kind[at] != none
        :: kind[at + 1] != none -> at = at + 1
        :: kind[at + 2] != none -> at = at + 2
        fi;
        what = kind[at];
        if                              /* FabricChannel::take */
        :: credit[at] > credited[me] || FAULT == 3 -> credited[me] = credit[at]
        :: else
        fi;
        taken[me] = taken[me] + (what != credits);
        kind[at] = none; credit[at] = 0; at = 0;
#if FAULT != 7
        in_slots[me] = in_slots[me] - (what != credits)
#endif
    }
    atomic {
        if
        :: what == whole -> short_to_come[me]--
        :: what == ready ->             /* begin_writes, or kept until the send starts */
            if
            :: long_sent -> long_sent = 0; write_under_way = 1
            :: !long_sent && FAULT != 5 -> early_ready = 1
            :: else
            fi
        :: what == waiting ->           /* take_waiting */
            if
            :: is_shown && FAULT != 6   /* The two have passed each other. */
            :: is_shown && FAULT == 6 -> is_shown = 0; is_hidden = 1; long_came = 1
            :: !is_shown && !is_hidden  /* Kept: its receive shows memory. */
            :: !is_shown && is_hidden -> owed_refused = 1
            fi
        :: what == refused -> long_sent = 0
        :: what == credits
        fi;
        what = 0
    }
#if FAULT == 7
    in_slots[me] = in_slots[me] - 1
#endif
}

#define CAME(from) (kind[(from) * WIRE] != none || kind[(from) * WIRE + 1] != none || \
                    kind[(from) * WIRE + 2] != none)

proctype Process(byte me) {
    byte at;
    mtype what;
    bit has_begun, has_asked;
end:
    do
    :: CAME(1 - me) -> take(1 - me)
    :: atomic { taken[me] - told[me] >= AT_ONCE && HAS_ROOM_FOR_CREDITS(me) ->  /* move() */
           post(credits) }
    :: atomic { short_to_go[me] > 0 && HAS_ROOM(me) && !OWES(me) ->
           post(whole); short_to_go[me]-- }
    :: atomic { me == 0 && !has_begun ->  /* send: waits for `ready`, which may be here */
           has_begun = 1;
           if :: early_ready -> early_ready = 0; write_under_way = 1 :: else -> long_sent = 1 fi }
    :: atomic { me == 0 && long_sent && !has_asked ->  /* look_after: after ready_seconds */
           has_asked = 1; owed_waiting = 1 }
    :: atomic { me == 0 && owed_waiting && HAS_ROOM(me) -> owed_waiting = 0; post(waiting) }
    :: atomic { me == 1 && !has_begun ->  /* receive, show */
           has_begun = 1; is_shown = 1; owed_ready = 1 }
    :: atomic { me == 1 && owed_ready && HAS_ROOM(me) -> owed_ready = 0; post(ready) }
    :: atomic { me == 1 && owed_refused && !owed_ready && HAS_ROOM(me) ->
           owed_refused = 0; post(refused) }
    :: atomic { me == 1 && write_under_way ->  /* take_write: end_receive, hide */
           assert(is_shown && !is_hidden);
           write_under_way = 0; is_shown = 0; is_hidden = 1; long_came = 1 }
    od
}

init {
    atomic {
        short_to_go[0] = SHORT; short_to_come[1] = SHORT;
        short_to_go[1] = 1; short_to_come[0] = 1;
        run Process(0); run Process(1)
    }
    long_came && !long_sent && short_to_come[0] == 0 && short_to_come[1] == 0
}
