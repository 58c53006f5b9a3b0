/* MFSS, the buffer protocol of Mattern and Fünfrocken (1995), as in protocols/mfss.py and in
   ../spin/mfss.pml. */

#include "packets.m"

var
  unacknowledged: array [actor] of flag;

/* With -DCRASHES=K, at most K actors crash, as with --crashes K. A crashed actor has no state. */
#ifdef CRASHES
var
  crashed: array [actor] of flag;
  crashes: 0 .. CRASHES;  /* their number */
#define and_live(i) & isundefined(crashed[i])
#define crash(i) \
  rule "crash" crashes < CRASHES and_live(i) ==> begin \
    crashed[i] := yes; \
    crashes := crashes + 1; \
    undefine unacknowledged[i]; \
  end;
#define START_CRASHES crashes := 0;
#else
#define and_live(i)
#define crash(i)
#define START_CRASHES
#endif

procedure post(i: actor);
begin
  if isundefined(unacknowledged[i]) & posted[i] < number_sent(i) then
    posted[i] := posted[i] + 1;
    unacknowledged[i] := yes;
  end;
end;

#define causal_send(i, j) \
  rule "causal send" may_send(i) and_live(i) ==> begin \
    record_send(i, j); \
    post(i); \
  end;

#define deliver_to(j) case j: acknowledge(sender, j); record_delivery(sender, m, j);
#define receive_data(i, k) \
  rule "receive data" is_in_flight(i, k) and_live(destination[message(i, k)]) ==> \
  const sender: i; m: message(i, k); \
  begin \
    switch destination[m] EACH_ACTOR(deliver_to) end; \
  end;

#define receive_ack(i, j) \
  rule "receive ACK" is_acknowledged(i, j) and_live(i) ==> begin \
    undefine acks[i][j]; \
    undefine unacknowledged[i]; \
    post(i); \
  end;

#define start_protocol(i) posted[i] := 0;

startstate begin
  START_HISTORY
  EACH_ACTOR(start_protocol)
  START_CRASHES
end;

EACH_PAIR(causal_send)
EACH_MESSAGE(receive_data)
EACH_PAIR(receive_ack)
EACH_ACTOR(crash)

#ifndef CRASHES
rule "all-delivered at final states"
  true EACH_ACTOR(no_send) EACH_MESSAGE(no_packet) EACH_PAIR(no_ack) & SOME_UNDELIVERED
==> begin
  error "a message is never delivered";
end;
#endif
