"""Protocols, one file each, and their proofs. A registry maps a name to where it is defined."""

REGISTRY = {
    "unordered": "antecede.protocols.unordered:UNORDERED",
    "fifo": "antecede.protocols.fifo:FIFO",
    "mfss": "antecede.protocols.mfss:MFSS",
    "mfss-fifo": "antecede.protocols.mfss_fifo:MFSS_FIFO",
    "cykas": "antecede.protocols.cykas:CYKAS",
    "cykas-as-printed": "antecede.protocols.cykas_as_printed:CYKAS_AS_PRINTED",
    "cykas-secret-mode": "antecede.protocols.cykas_secret_mode:CYKAS_SECRET_MODE",
    "rst": "antecede.protocols.rst:RST",
    "rst-before": "antecede.protocols.rst_before:RST_BEFORE",
    "rst-no-deliv": "antecede.protocols.rst_no_deliv:RST_NO_DELIV",
    "rst-ghost-deliv": "antecede.protocols.rst_no_deliv:RST_GHOST_DELIV",
    "rst-no-step-2": "antecede.protocols.rst_no_step_2:RST_NO_STEP_2",
    "rst-column": "antecede.protocols.rst_column:RST_COLUMN",
    "rst-self": "antecede.protocols.rst_self:RST_SELF",
    "rst-on-request": "antecede.protocols.rst_on_request:RST_ON_REQUEST",
    "ses": "antecede.protocols.ses:SES",
    "ks": "antecede.protocols.ks:KS",
    "cbcast": "antecede.protocols.cbcast:CBCAST",
    "newtop": "antecede.protocols.newtop:NEWTOP",
    "newtop-null": "antecede.protocols.newtop:NEWTOP_NULL",
    "tree": "antecede.protocols.tree:TREE",
    "tree-star": "antecede.protocols.tree:TREE_STAR",
    "tree-figure-1": "antecede.protocols.tree:TREE_FIGURE_1",
    "tree-figure-2-left": "antecede.protocols.tree:TREE_FIGURE_2_LEFT",
    "tree-figure-2-right": "antecede.protocols.tree:TREE_FIGURE_2_RIGHT",
    "tree-ring": "antecede.protocols.tree:RING",
    "tree-one-way-ring": "antecede.protocols.tree:ONE_WAY_RING",
    "hybrid-basic": "antecede.protocols.hybrid_basic:HYBRID_BASIC",
    "hybrid-basic-as-printed": "antecede.protocols.hybrid_basic_as_printed:HYBRID_BASIC_AS_PRINTED",
    "hybrid-basic-no-timeout": "antecede.protocols.hybrid_basic_no_timeout:HYBRID_BASIC_NO_TIMEOUT",
    "hybrid-sps": "antecede.protocols.hybrid_sps:HYBRID_SPS",
    "hybrid-sps-as-printed": "antecede.protocols.hybrid_sps:HYBRID_SPS_AS_PRINTED",
    "hybrid-multicast": "antecede.protocols.hybrid_multicast:HYBRID_MULTICAST",
}

TWINS = {
    "cykas": "antecede.protocols.cykas_twin:CYKAS_TWIN",
    "rst": "antecede.protocols.rst_twin:RST_TWIN",
}
"""Protocol -> its twin for long simulated runs; see `antecede.checker.model.Twin`."""

PROOFS = {
    "unordered": "antecede.protocols.mfss_proof:UNORDERED",
    "mfss": "antecede.protocols.mfss_proof:MFSS",
}
"""Protocol -> its abstract model. The files import z3, so nothing imports them before `prove`."""
