/* MFSS, the buffer protocol of Mattern and Fünfrocken (1995), as in protocols/mfss.py and in
   ../spin/mfss.pml.

   The messages of an actor leave its output buffer in the order of their sends, so that how many it
   posted says which are still in it; a posted message is in flight until it is delivered. */

#include "history.m"

var
  posted: array [actor] of count;  /* how many messages left the output buffer */
  unacknowledged: array [actor] of flag;
  acks: array [actor] of array [actor] of flag;  /* an ACK from the second to the first */

procedure post(i: actor);
begin
  if isundefined(unacknowledged[i]) & posted[i] < number_sent(i) then
    posted[i] := posted[i] + 1;
    unacknowledged[i] := yes;
  end;
end;

procedure acknowledge(i: actor; j: actor);
begin
  assert "one ACK at a time" isundefined(acks[i][j]);
  acks[i][j] := yes;
end;

#define may_send(i) (number_sent(i) < MESSAGES)
#define is_in_flight(i, k) (k < posted[i] & is_undelivered(i, k))
#define is_acknowledged(i, j) (!isundefined(acks[i][j]))

#define causal_send(i, j) \
  rule "causal send" may_send(i) ==> begin \
    record_send(i, j); \
    post(i); \
  end;

#define deliver_to(j) case j: acknowledge(sender, j); record_delivery(sender, m, j);
#define receive_data(i, k) \
  rule "receive data" is_in_flight(i, k) ==> \
  const sender: i; m: message(i, k); \
  begin \
    switch destination[m] EACH_ACTOR(deliver_to) end; \
  end;

#define receive_ack(i, j) \
  rule "receive ACK" is_acknowledged(i, j) ==> begin \
    undefine acks[i][j]; \
    undefine unacknowledged[i]; \
    post(i); \
  end;

#define start_protocol(i) posted[i] := 0;

startstate begin
  START_HISTORY
  EACH_ACTOR(start_protocol)
end;

EACH_PAIR(causal_send)
EACH_MESSAGE(receive_data)
EACH_PAIR(receive_ack)

#define no_send(i) & !may_send(i)
#define no_data(i, k) & !is_in_flight(i, k)
#define no_ack(i, j) & !is_acknowledged(i, j)

rule "all-delivered at final states"
  true EACH_ACTOR(no_send) EACH_MESSAGE(no_data) EACH_PAIR(no_ack) & SOME_UNDELIVERED
==> begin
  error "a message is never delivered";
end;
