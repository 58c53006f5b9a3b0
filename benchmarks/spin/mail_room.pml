/* The mail room of RST and SES, as in protocols/mail_room.py.

   Each option of the loop is one transition of antecede. A message is in flight from its send until
   it is received; then it is held back until it is deliverable. If a receive makes several messages
   deliverable, the state after it does not depend on the order of their deliveries. */

SET held_back;  /* messages that were received, but not delivered */

byte at, next;  /* a receiver and a message; 0 between transitions, as they distinguish no states */

inline deliver_all() {
    do
    :: !(held_back >> next) -> break
    :: (held_back & only(next)) && destination[next] == at + 1 && deliverable ->
        held_back = held_back & ~only(next);
        after_delivery(sender(next), next, at);
        record_delivery(sender(next), next, at);
        next = 0
    :: else -> next++
    od
}

#define causal_send(i, j) \
    :: d_step { number_sent(i) < MESSAGES -> \
        destination[message(i, number_sent(i))] = j + 1; \
        attach(i, j, message(i, number_sent(i))); record_send(i) }

#define receive(i, k) \
    :: d_step { destination[message(i, k)] && !(held_back & only(message(i, k))) -> \
        at = destination[message(i, k)] - 1; next = message(i, k); \
        held_back = held_back | only(next); deliver_all(); at = 0; next = 0 }

active proctype system() {
end:
    do
    EACH_PAIR(causal_send)
    EACH_MESSAGE(receive)
    :: timeout && SOME_UNDELIVERED -> assert(false)  /* all-delivered at final states */
    od
}
