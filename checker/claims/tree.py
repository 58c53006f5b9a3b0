"""The claims of the tree source."""

from __future__ import annotations

from antecede.checker.claims.claim import (
    Claim,
    Source,
    at_most,
    control_packets,
    holds,
    proved,
    reaches,
    violated,
)

CAUSAL = "causal-delivery"


def shopping(customer: int, shop: int, bank: int) -> str:
    """Return the example of section 2 as a workload."""
    return (
        f'reaction:[{{"name":"credit","from":{customer},"to":[{bank}]}},'
        f'{{"name":"buy","from":{customer},"to":[{shop}]}},'
        f'{{"name":"debit","from":{shop},"to":[{bank}],"after":["buy"]}}]'
    )


ON_FIGURE_1, ON_FIGURE_2_RIGHT = shopping(0, 3, 2), shopping(1, 2, 0)
"""Where the text puts the three actors: on both trees of Figure 2 it names other nodes; see
`protocols.tree`."""

FIGURES = {
    "tree-figure-1": ON_FIGURE_1,
    "tree-figure-2-left": ON_FIGURE_1,
    "tree-figure-2-right": ON_FIGURE_2_RIGHT,
}

SOURCE = Source(
    name="tree",
    citation="S. Blessing, S. Clebsch, S. Drossopoulou: Tree Topologies for Causal Message "
    "Delivery, 2017",
    claims=(
        Claim(
            "tree-section-2",
            "Section 2, Figures 1 and 2",
            "On each of the three trees the Bank receives the credit before the debit.",
            tuple(
                holds(name, (4, 2), network="fifo", workload=load, quick=None)
                for name, load in FIGURES.items()
            ),
        ),
        Claim(
            "tree-figure-1-prefix",
            "Section 2, on Figure 1",
            "There the credit even gets to the Bank before the Shop hears of anything.",
            (
                at_most(
                    0,
                    "overtaken",
                    "tree-figure-1",
                    (4, 2),
                    network="fifo",
                    workload=ON_FIGURE_1,
                    quick=None,
                ),
            ),
        ),
        Claim(
            "tree-figure-2-overtaken",
            "Section 2, on Figure 2",
            "There the Shop may hear of it before the Bank has the credit.",
            tuple(
                reaches(1, "overtaken", name, (4, 2), network="fifo", workload=load)
                for name, load in list(FIGURES.items())[1:]
            ),
        ),
        Claim(
            "tree-theorem-4-1",
            "Theorem 4.1",
            "On every tree messages are delivered in causal order.",
            (
                holds("tree", network="fifo"),
                holds("tree", (4, 1), network="fifo", quick=(3, 1)),
                holds("tree-star", (4, 1), network="fifo", quick=None),
            ),
            "A tree of three nodes is a line, one of four a line or a star; up to the names of "
            "the nodes these are all. " + proved("tree"),
        ),
        Claim(
            "tree-endless",
            "Theorem 4.1 and Lemma 4.3, where applications never stop",
            "Messages are delivered in causal order, and all of them are.",
            (
                holds("tree", (3, 1), network="fifo", workload="endless:1"),
                holds(
                    "tree",
                    (3, 1),
                    quick=None,
                    network="fifo",
                    workload="endless:2:[[1,2],[2],[0]]",
                ),
            ),
            "For every number of messages, of which each actor has at most one, or two, "
            "undelivered.",
        ),
        Claim(
            "tree-lemma-4-3",
            "Definition 3.5 and Lemma 4.3",
            "A message is received once, and where it was sent; all of them are.",
            (
                holds(
                    "tree",
                    network="fifo",
                    properties=("integrity", "all-delivered"),
                ),
            ),
        ),
        Claim(
            "tree-fifo",
            "Section 2, the assumption on links",
            "It is needed that links keep the order.",
            (violated("tree", CAUSAL, (3, 2), network="unordered"),),
        ),
        Claim(
            "tree-definition-3-2",
            "Definition 3.2",
            "It is needed that there is no cycle.",
            (violated("tree-ring", CAUSAL, (3, 2), network="fifo"),),
            "A cycle that is used one way round only holds within the same bounds: "
            "specs/protocols/tree-one-way-ring.toml.",
        ),
        Claim(
            "tree-metadata",
            "Abstract",
            "Messages need no control data, and there are no other packets.",
            (
                at_most(0, "packet_integers", "tree", network="fifo", quick=(3, 1)),
                control_packets("tree", network="fifo"),
                at_most(0, "packet_integers", "tree-star", (4, 1), network="fifo", quick=None),
            ),
        ),
        Claim(
            "tree-immediate",
            "Section 1, contributions",
            "A message is processed as soon as it is there: no actor keeps one back.",
            (at_most(0, "buffered", "tree", network="fifo", quick=(3, 1)),),
        ),
    ),
)
