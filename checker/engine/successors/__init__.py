"""From a row to its successors: the memo, and how it learns what it does not know yet.

A *memo* is a cache of transitions. A transition changes the parts of one or two actors, and the
same changes occur in very many states. So the memo stores each change once, by the numbers of the
parts that it depends on, and a successor is a copy of its parent's row with a few numbers replaced.

A worked example: `mfss`, two actors, one message each, history `clocks`, no symmetry. A row has one
word: the composite of actor 0 in bits 31 to 62, the composite of actor 1 in bits 0 to 30.

**A send.** The initial row is 0: both actors have their composite 0. Actor 0 may send, which
depends on its composite alone. The memo has a list for (actor 0, composite 0, own transitions). The
list has one entry: composite 1 follows, by a transition of kind 0 (`causal-send`). So the successor
is the row with 1 in the place of 0 for actor 0: 1 << 31.

**A receipt.** In the row 7 << 31 | 3, actor 0 has composite 7: its message is on the way to actor
1, and so is the acknowledgement of the message that it has delivered. Actor 1 has composite 3: it
has sent its message, which was delivered. The memo has a list for (actor 0, composite 7, channel to
actor 1). The list has an *offer* for each packet in this channel:

* event 3: the acknowledgement is received. Actor 0 has composite 10 then: its channel loses the
  packet. The kind is 2 (`receive Ack`);
* event 5: the message is received. Actor 0 has composite 9 then: its channel loses the packet, and
  no receiver is missing any more. The kind is 1 (`receive Data`).

An *event* is all that the receiver's part learns: the channel, the packet, whether the packet stays
in the channel, and what the sender's history says about a delivered message. The receiver has a
table of *steps*, in which an event leads to a composite. For actor 1, composite 3 and event 5, the
table has composite 10. So the successor is 9 << 31 | 10: two numbers are replaced.

All rows with actor 0 at composite 7 use the same offers, and all rows with actor 1 at composite 3
use the same steps. The first time, `derive_kernels` finds the numbers: it decodes the row into
columns, looks up the effect of the handler, and numbers the columns that result. `learning_kernels`
stores the numbers, and `recall_kernels` uses them from then on. With three actors and three
messages each, 95 to 99 % of the successors come from the memo.

Question: How does the compiled engine compute the successors of a state? `recall_kernels`,
`learning_kernels`, `derive_kernels`.
"""
