"""The search on a Spark cluster.

The *driver* is the process that the user started. It divides the states into *partitions*, the
share of the states that one task works on, and sends *jobs* to the workers, which expand them. The
*owner* of a state is the partition that its hash selects; it decides whether the state is new, and
owners have the numbers of their partitions.

Each process numbers composites as it meets them, so its rows mean nothing elsewhere. A row that
travels has one of two forms:

    flat row      | local words of all actors, bit by bit |         `codec`; any state
    numbered row  | number of part 0 | number of part 1 | ...     `numbering`; the driver's numbers

With a row goes a *note*, a word: its link to the parent, or its mark if levels are sums of weights:

    in a shipment  | number of the parent - base | place |             8 or 16 bits for the place
    link           | partition | index of the parent | place |         from bit 48, 16 and 0 on
    mark           | lead | depth |                                   from bit 16 and 0 on

The *place* is the index of the transition among those of the parent. A *lead* is -1 in the current
level, 0 in the next one, 1 in the level after it, and so on.

Question: How does a cluster expand a level? `transport` on the driver, `tasks` on executors,
`distinct` for states that two of them found.
"""
