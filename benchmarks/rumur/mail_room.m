/* The mail room of RST and SES, as in protocols/mail_room.py and in ../spin/mail_room.pml.

   One rule is one transition of antecede. A message is in flight from its send until it is received;
   then it is held back until it is deliverable. If a receive makes several messages deliverable, the
   state after it does not depend on the order of their deliveries.

   A message that is held back at its arrival changes nothing else at the receiver, so only a
   delivery asks again which messages are deliverable. In Promela, every receive asks. */

var
  held_back: SET;  /* messages that were received, but not delivered */

#define is_held_back(m) ((held_back & only(m)) != 0)
#define is_in_flight(i, k) (is_undelivered(i, k) & !is_held_back(message(i, k)))

#define deliver_if_possible(i, k) \
  if is_held_back(message(i, k)) & destination[message(i, k)] = j \
    & deliverable(i, message(i, k), j) \
  then \
    held_back := held_back & ~only(message(i, k)); \
    after_delivery(i, message(i, k), j); \
    record_delivery(i, message(i, k), j); \
    again := true; \
  end;

/* After a delivery at j, deliver there as long as possible. */
procedure deliver_all(j: actor);
var again: boolean;
begin
  again := true;
  while again do
    again := false;
    EACH_MESSAGE(deliver_if_possible)
  end;
end;

#define causal_send(i, j) \
  rule "causal send" may_send(i) ==> begin \
    attach(i, j, message(i, number_sent(i))); \
    record_send(i, j); \
  end;

#define receive_at(j) \
  case j: \
    if deliverable(sender, m, j) then \
      after_delivery(sender, m, j); \
      record_delivery(sender, m, j); \
      if held_back != 0 then deliver_all(j); end; \
    else \
      held_back := held_back | only(m); \
    end;
#define receive(i, k) \
  rule "receive" is_in_flight(i, k) ==> \
  const sender: i; m: message(i, k); \
  begin \
    switch destination[m] EACH_ACTOR(receive_at) end; \
  end;

startstate begin
  START_HISTORY
  EACH_ACTOR(start_protocol)
  EACH_MESSAGE(start_stamp)
  held_back := 0;
end;

EACH_PAIR(causal_send)
EACH_MESSAGE(receive)

rule "all-delivered at final states"
  true EACH_ACTOR(no_send) EACH_MESSAGE(no_packet) & SOME_UNDELIVERED
==> begin
  error "a message is never delivered";
end;
