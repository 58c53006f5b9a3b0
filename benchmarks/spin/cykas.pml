/* Cykas (Tong, Liittschwager, Kuper: Can you keep a secret?), as in protocols/cykas.py; with
   -DSECRET_MODE the broken variant of protocols/cykas_secret_mode.py.

   Each option of the loop is one transition of antecede. The messages of an actor leave its output
   buffer in the order of their sends, so that how many it posted says which are still in it; a
   posted message is in flight until it is delivered. */

#include "bounds.pml"
#include "history.pml"

/* A queue of EAGER_SENT is a number: an element has a bit for each actor and, above them, one that
   is always set, so that 0 is the empty queue. The oldest element is the lowest. An actor has at
   most MESSAGES - 1 eager sends waiting, for the first message of several is a normal send. */
#define ELEMENT (ACTORS + 1)
#if ELEMENT * (MESSAGES - 1) <= 8
#define QUEUE byte
#elif ELEMENT * (MESSAGES - 1) < 16
#define QUEUE short
#else
#define QUEUE int
#endif
#define queue(i, j) EAGER_SENT[(i) * ACTORS + (j)]
#define in_every_element(bits) \
    ((bits) | (bits) << ELEMENT | (bits) << 2 * ELEMENT | (bits) << 3 * ELEMENT)
#define oldest(elements) ((elements) & (only(ELEMENT) - 1))

byte posted[ACTORS];               /* how many messages left the output buffer */
byte UNACK[ACTORS];                /* a set of receivers */
byte MODE[ACTORS];
QUEUE EAGER_SENT[ACTORS * ACTORS];
bool eager[ACTORS * MESSAGES];     /* an undelivered message in flight is an Eager Send */
byte acks[ACTORS];                 /* the actors whose ACK to this one is in flight */
byte ycts[ACTORS * ACTORS];        /* how many YCT are in flight from i to j */

#ifdef SECRET_MODE
byte confidant[ACTORS];            /* the actor + 1, or 0 */
#define may_send(i, j) (MODE[i] == 0 || confidant[i] == (j) + 1)
#define confide(j, i) confidant[j] = (i) + 1;
#define end_of_confidence(i) if :: MODE[i] == 0 -> confidant[i] = 0 :: else fi;
#else
#define may_send(i, j) (MODE[i] == 0)
#define confide(j, i)
#define end_of_confidence(i)
#endif

byte at, next, length;  /* scratch: 0 between transitions, so that it distinguishes no states */

inline enqueue(i, j) {
    do
    :: queue(i, j) >> length -> length = length + ELEMENT
    :: else -> break
    od;
    assert(length < ELEMENT * (MESSAGES - 1));
    queue(i, j) = queue(i, j) | (only(ACTORS) | UNACK[i]) << length;
    length = 0
}

/* Algorithm 2. */
#define head(i) (destination[message(i, posted[i])] - 1)
inline try_send_message(i) {
    do
    :: posted[i] < number_sent(i) && may_send(i, head(i)) && !(UNACK[i] & only(head(i))) ->
        next = head(i);
        if
        :: UNACK[i] == 0
        :: else -> eager[message(i, posted[i])] = true; enqueue(i, next)
        fi;
        UNACK[i] = UNACK[i] | only(next);
        posted[i]++
    :: else -> break
    od;
    next = 0
}

inline acknowledge(i, j) {
    assert(!(acks[i] & only(j)));  /* else a set would not do for the bag of packets */
    acks[i] = acks[i] | only(j)
}

/* Algorithm 4, TRY_SEND_YCT, after the bit of actor j was cleared in every element. */
#define forget_ack_of(i, j, r) \
    queue(i, r) = queue(i, r) & ~in_every_element(only(j));
#define try_send_yct(i, r) \
    do \
    :: oldest(queue(i, r)) == only(ACTORS) && !(UNACK[i] & only(r)) -> \
        ycts[(i) * ACTORS + (r)]++; queue(i, r) = queue(i, r) >> ELEMENT \
    :: else -> break \
    od;

inline try_send_ycts(i, j) {
    at = 0;
    do
    :: at < ACTORS -> forget_ack_of(i, j, at) try_send_yct(i, at) at++
    :: else -> break
    od;
    at = 0
}

/* Algorithm 1. */
#define causal_send(i, j) \
    :: d_step { number_sent(i) < MESSAGES -> \
        destination[message(i, number_sent(i))] = j + 1; record_send(i); try_send_message(i) }

/* Algorithm 3. */
#define receive_deliver(i, k) \
    :: d_step { k < posted[i] && destination[message(i, k)] -> \
        at = destination[message(i, k)] - 1; acknowledge(i, at); \
        if \
        :: eager[message(i, k)] -> \
            eager[message(i, k)] = false; MODE[at]++; confide(at, i) skip \
        :: else \
        fi; \
        end_of_confidence(at) \
        record_delivery(i, message(i, k), at); at = 0 }

/* Algorithm 4, with line 8 after the loop. */
#define receive_ack(i, j) \
    :: d_step { acks[i] & only(j) -> \
        acks[i] = acks[i] & ~only(j); UNACK[i] = UNACK[i] & ~only(j); \
        try_send_ycts(i, j); try_send_message(i); end_of_confidence(i) skip }

/* Algorithm 5. */
#define receive_yct(i, j) \
    :: d_step { ycts[(i) * ACTORS + (j)] -> \
        ycts[(i) * ACTORS + (j)]--; assert(MODE[j]); MODE[j]--; \
        try_send_message(j); end_of_confidence(j) skip }

active proctype system() {
end:
    do
    EACH_PAIR(causal_send)
    EACH_MESSAGE(receive_deliver)
    EACH_PAIR(receive_ack)
    EACH_PAIR(receive_yct)
    :: timeout && SOME_UNDELIVERED -> assert(false)  /* all-delivered at final states */
    od
}
