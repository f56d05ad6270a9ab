/* What ranks have delayed together, when one of them is killed: its keeper writes what is left, but
 * not what another rank knows to be complete, and that rank may then write newer bytes.
 * tools/keeper.cpp, tools/peer_journals.cpp, src/behind/journal.cpp (note_complete,
 * await_keepers_of_the_dead), journal_claim.cpp, journal_peers.cpp; decision 0057.
 *
 * Two ranks make collective writes, which all touch one byte: call c has it from rank c % 2. On a
 * rank an operation begins when those before it are complete. Both may be killed, each at any step.
 * Who sees the end of the other one goes on alone and writes what it owes; a third rank, without
 * bytes, may go on at any time. At last a rank writes something new. No keeper may write bytes that
 * are older than those in the file, where a rank has noted the older call or nobody has gone on;
 * none may write over the new ones; and what was in a journal must have reached the file.
 *
 * fault 1 (assertion): a keeper reads which calls are complete before it counts up.
 * fault 2 (assertion): a rank looks whether a keeper has counted before it notes a call.
 * fault 3 (assertion): a rank that sees that a keeper has counted does not wait for it.
 * fault 4 (assertion): a record goes before its bytes are in the file.
 * fault 5 (assertion): a keeper does not wait until the others have ended or go on.
 * fault 6 (end state): a rank that goes on does not say so.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef CALLS
#define CALLS 2
#endif
#define NEW (CALLS + 1)
#define IS_COMPLETE(call) (arrived[call] == 3)

byte file;                             /* The byte: of which call. */
bit record[NEW], kept[NEW], stored[NEW];  /* In the journal; has ever been; has reached the file. */
byte arrived[NEW];                     /* The agreement of a call: ranks that take part, as bits. */
byte noted[NEW];                       /* CompletedCalls: ranks that know it to be complete. */
byte counted[2];                       /* JournalHeader::peers_written */
bit goes_on[3], rank_ended[2], is_written[2], killed[2], locked;

/* Journal::await_keepers_of_the_dead */
inline await_keepers() {
#if FAULT != 6
    goes_on[self] = 1;
#endif
    !killed[1 - self] || is_written[1 - self]
}

inline put(call) {                     /* By a rank. */
    atomic { file = call; stored[call] = 1 }
}

proctype Rank(bit self) {
    byte call = 1, next = 1, seen;
    {
        do
        :: next <= CALLS && next <= call + 1 ->  /* WriteBehind::take: the call returns. */
            atomic {
                record[next] = (next % 2 == self -> 1 : record[next]);
                kept[next] = record[next];
                next++ }
        :: call < next ->              /* Operation::progress, of the oldest. */
            if
            :: call % 2 == self ->
#if FAULT == 4
                record[call] = 0;
#endif
                put(call)
            :: else
            fi;
            arrived[call] = arrived[call] | (1 << self);
            if
            :: killed[1 - self] && !IS_COMPLETE(call) -> goto lost  /* RankWatch */
            :: IS_COMPLETE(call) ->    /* Operation::finish, Journal::note_complete */
#if FAULT == 2
                seen = seen | (counted[self] << 4);
                noted[call] = noted[call] | (1 << self);
                if
                :: (seen >> 4) != (seen & 15) -> await_keepers(); seen = seen >> 4
                :: else -> seen = seen & 15
                fi;
#else
                noted[call] = noted[call] | (1 << self);
                if
                :: counted[self] != seen ->
#if FAULT != 3
                    await_keepers();
#endif
                    seen = counted[self]
                :: else
                fi;
#endif
                atomic {               /* Operation::end: keeps.reset() */
                    record[call] = (call % 2 == self -> 0 : record[call]);
                    call++ }
            fi
        :: call > CALLS -> break
        od;
        goto over;
lost:   await_keepers();
        do                             /* IndependentPart::start_owed */
        :: call < next ->
            if
            :: call % 2 == self && record[call] -> put(call); record[call] = 0
            :: else
            fi;
            call++
        :: else -> break
        od;
over:   file = NEW;                    /* An independent write behind all of these. */
        rank_ended[self] = 1           /* At its end its keeper has nothing to write. */
    } unless { killed[self] }
}

#define MAY_WRITE (rank_ended[1 - self] || goes_on[1 - self] || goes_on[2] || FAULT == 5)
#define ANY_GOES_ON (goes_on[0] || goes_on[1] || goes_on[2])
#define TAKES(call) (record[call] && (call % 2 == self || other_ended))

proctype Keeper(bit self) {            /* write_out, replay_with_peers */
    byte call, known;
    bit other_ended;
end:
    killed[self];                      /* await_end */
    if :: rank_ended[self] -> goto out :: else fi;
    rank_ended[self] = 1;
end_waits: MAY_WRITE;                      /* PeerJournals::wait */
    atomic { !locked -> locked = 1 }   /* PeerJournals::lock */
#if FAULT != 1
    counted[0]++; counted[1]++;        /* PeerJournals::take_ended */
#endif
    other_ended = rank_ended[1 - self];
    for (call : 1 .. CALLS) {          /* drop_complete */
        if
        :: TAKES(call) && noted[call] -> assert(stored[call]); record[call] = 0
        :: else
        fi
    }
#if FAULT == 1
    counted[0]++; counted[1]++;
#endif
    for (call : 1 .. CALLS) {          /* replay, in the order of the calls */
        if
        :: TAKES(call) ->
            atomic {
                assert(file != NEW);
                assert(file <= call || (!noted[call] && ANY_GOES_ON));
                put(call) }
            record[call] = 0
        :: else
        fi
    }
    for (call : 1 .. CALLS) { assert(!kept[call] || call % 2 != self || stored[call]) }
    locked = 0;
out:
    is_written[self] = 1               /* note_written */
}

active proctype Killer() {
    if :: killed[0] = 1 :: skip fi;
    if :: killed[1] = 1 :: skip fi
}

active proctype Third() {              /* RankWatch of a rank that waits for something else. */
end:
    killed[0] || killed[1];
    if :: goes_on[2] = 1 :: skip fi
}

init { atomic { run Rank(0); run Rank(1); run Keeper(0); run Keeper(1) } }
