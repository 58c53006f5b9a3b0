"""antecede: an explicit-state model checker for causal message delivery protocols."""
