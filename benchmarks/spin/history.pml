/* The workload `any` and the causality oracle: what antecede keeps in its history, and no more.

   Without -DKNOWLEDGE the encoding `clocks`: vector clocks of actors and the stamps of undelivered
   messages. With it the encoding `knowledge`: which undelivered messages happened before which.
   What is forgotten is set to 0, so that equal states have equal state vectors. */

byte destination[ACTORS * MESSAGES];  /* of an undelivered message: the actor + 1; otherwise 0 */

#define undelivered(i, k) || destination[message(i, k)]
#define SOME_UNDELIVERED (false EACH_MESSAGE(undelivered))

#if ACTORS * MESSAGES < 16
#define SET short
#else
#define SET int
#endif

/* A clock is a vector with an entry for each actor. */
#if ACTORS * WIDTH <= 8
#define CLOCK byte
#elif ACTORS * WIDTH < 16
#define CLOCK short
#else
#define CLOCK int
#endif

#define larger_entry(k) \
    | (entry(mine, k) > entry(its, k) -> entry(mine, k) : entry(its, k))
inline merge(mine, its) {
    mine = 0 EACH_ACTOR(larger_entry)
}

#ifdef KNOWLEDGE

byte sent[ACTORS];
SET knows[ACTORS];               /* the undelivered messages that the actor causally knows of */
SET before[ACTORS * MESSAGES];   /* those that happened before this one */

#define number_sent(i) sent[i]
#define forget_at(i) knows[i] = knows[i] & ~only(m);
#define forget_before(i, k) before[message(i, k)] = before[message(i, k)] & ~only(m);

inline record_send(i) {
    before[message(i, sent[i])] = knows[i];
    knows[i] = knows[i] | only(message(i, sent[i]));
    sent[i]++
}

inline record_delivery(i, m, j) {
    assert(!(knows[j] & only(m)));  /* causal delivery */
    knows[j] = knows[j] | before[m];
    EACH_ACTOR(forget_at)
    EACH_MESSAGE(forget_before)
    before[m] = 0;
    destination[m] = 0
}

#else

CLOCK clock[ACTORS];
CLOCK stamp[ACTORS * MESSAGES];

#define number_sent(i) (entry(clock[i], i) >> ((i) * WIDTH))

inline record_send(i) {
    clock[i] = clock[i] + one(i);
    stamp[message(i, number_sent(i) - 1)] = clock[i]
}

inline record_delivery(i, m, j) {
    assert(entry(clock[j], i) < entry(stamp[m], i));  /* causal delivery */
    merge(clock[j], stamp[m]);
    stamp[m] = 0;
    destination[m] = 0
}

#endif
