/* RST, the matrix protocol of Raynal, Schiper and Toueg (1991), as in protocols/rst.py. */

#include "bounds.pml"
#include "history.pml"

/* A matrix is a vector with an entry for each ordered pair of actors, column by column. */
#if ACTORS * (ACTORS - 1) * WIDTH <= 8
#define MATRIX byte
#elif ACTORS * (ACTORS - 1) * WIDTH < 16
#define MATRIX short
#elif ACTORS * (ACTORS - 1) * WIDTH < 32
#define MATRIX int
#else
#error "a matrix needs more than 31 bits"
#endif
#define pair(j, k) ((k) * (ACTORS - 1) + other(j, k))
#define column(matrix, k) ((matrix) >> (k) * (ACTORS - 1) * WIDTH & (one(ACTORS - 1) - 1))

MATRIX SENT[ACTORS];               /* how many messages each actor sent to each other one */
CLOCK DELIV[ACTORS];               /* how many of each other actor are delivered here */
MATRIX SENT_m[ACTORS * MESSAGES];  /* of an undelivered message; otherwise 0 */

/* Sending messages, steps 1 and 2. */
inline attach(i, j, m) {
    SENT_m[m] = SENT[i];
    SENT[i] = SENT[i] + one(pair(i, j))
}

/* Delivering messages (or not). The last entry is 0 on both sides. */
#define all_delivered(k) && entry(DELIV[at], k) >= entry(column(SENT_m[next], at), k)
#define deliverable (true EACH_ACTOR(all_delivered))

/* After delivering a message, steps 1 to 3. */
#define larger_sent(i, k) \
    | (entry(SENT[j], pair(i, k)) > entry(SENT_m[m], pair(i, k)) \
        -> entry(SENT[j], pair(i, k)) : entry(SENT_m[m], pair(i, k)))
inline after_delivery(i, m, j) {
    DELIV[j] = DELIV[j] + one(other(i, j));
    SENT[j] = SENT[j] + one(pair(i, j));
    SENT[j] = 0 EACH_PAIR(larger_sent);
    SENT_m[m] = 0
}

#include "mail_room.pml"
