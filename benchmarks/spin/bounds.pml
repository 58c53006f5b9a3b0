/* Names for what depends on ACTORS (2 to 4) and MESSAGES (1 to 4), which -D gives.

   One option of one process is one transition of antecede, so every sender, receiver and number
   needs an option of its own: EACH_MESSAGE(F) writes F(i, k) for each actor i and number k, and
   EACH_PAIR(F) writes F(i, j) for each ordered pair of actors. */

#if MESSAGES == 1
#define EACH_NUMBER(F, i) F(i, 0)
#define WIDTH 1
#elif MESSAGES == 2
#define EACH_NUMBER(F, i) F(i, 0) F(i, 1)
#define WIDTH 2
#elif MESSAGES == 3
#define EACH_NUMBER(F, i) F(i, 0) F(i, 1) F(i, 2)
#define WIDTH 2
#elif MESSAGES == 4
#define EACH_NUMBER(F, i) F(i, 0) F(i, 1) F(i, 2) F(i, 3)
#define WIDTH 3
#else
#error "give -DMESSAGES=1 to -DMESSAGES=4"
#endif

#if ACTORS == 2
#define EACH_ACTOR(F) F(0) F(1)
#define EACH_MESSAGE(F) EACH_NUMBER(F, 0) EACH_NUMBER(F, 1)
#define EACH_PAIR(F) F(0, 1) F(1, 0)
#elif ACTORS == 3
#define EACH_ACTOR(F) F(0) F(1) F(2)
#define EACH_MESSAGE(F) EACH_NUMBER(F, 0) EACH_NUMBER(F, 1) EACH_NUMBER(F, 2)
#define EACH_PAIR(F) F(0, 1) F(0, 2) F(1, 0) F(1, 2) F(2, 0) F(2, 1)
#elif ACTORS == 4
#define EACH_ACTOR(F) F(0) F(1) F(2) F(3)
#define EACH_MESSAGE(F) EACH_NUMBER(F, 0) EACH_NUMBER(F, 1) EACH_NUMBER(F, 2) EACH_NUMBER(F, 3)
#define EACH_PAIR(F) F(0, 1) F(0, 2) F(0, 3) F(1, 0) F(1, 2) F(1, 3) \
                     F(2, 0) F(2, 1) F(2, 3) F(3, 0) F(3, 1) F(3, 2)
#else
#error "give -DACTORS=2 to -DACTORS=4"
#endif

#define only(i) (1 << (i))
#define message(i, k) ((i) * MESSAGES + (k))
#define sender(m) ((m) / MESSAGES)
#define other(j, k) (((j) + ACTORS - (k) - 1) % ACTORS)  /* 0, 1, … for the actors j other than k */

/* A vector is a number with WIDTH bits for each entry. */
#define one(at) only((at) * WIDTH)
#define entry(vector, at) ((vector) & ((only(WIDTH) - 1) << ((at) * WIDTH)))
