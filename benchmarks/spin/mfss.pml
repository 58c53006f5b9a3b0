/* MFSS, the buffer protocol of Mattern and Fünfrocken (1995), as in protocols/mfss.py.

   Each option of the loop is one transition of antecede. The messages of an actor leave its output
   buffer in the order of their sends, so that how many it posted says which are still in it; a
   posted message is in flight until it is delivered. */

#include "bounds.pml"
#include "history.pml"

byte posted[ACTORS];          /* how many messages left the output buffer */
byte unacknowledged[ACTORS];  /* how many of them are not acknowledged */
byte acks[ACTORS];            /* the actors whose ACK to this one is in flight */

byte at;  /* scratch: 0 between transitions, so that it distinguishes no states */

inline post(i) {
    if
    :: unacknowledged[i] == 0 && posted[i] < number_sent(i) -> posted[i]++; unacknowledged[i]++
    :: else
    fi
}

inline acknowledge(i, j) {
    assert(!(acks[i] & only(j)));  /* else a set would not do for the bag of packets */
    acks[i] = acks[i] | only(j)
}

#define causal_send(i, j) \
    :: d_step { number_sent(i) < MESSAGES -> \
        destination[message(i, number_sent(i))] = j + 1; record_send(i); post(i) }

#define receive_data(i, k) \
    :: d_step { k < posted[i] && destination[message(i, k)] -> \
        at = destination[message(i, k)] - 1; acknowledge(i, at); \
        record_delivery(i, message(i, k), at); at = 0 }

#define receive_ack(i, j) \
    :: d_step { acks[i] & only(j) -> \
        acks[i] = acks[i] & ~only(j); unacknowledged[i]--; post(i) }

active proctype system() {
end:
    do
    EACH_PAIR(causal_send)
    EACH_MESSAGE(receive_data)
    EACH_PAIR(receive_ack)
    :: timeout && SOME_UNDELIVERED -> assert(false)  /* all-delivered at final states */
    od
}
