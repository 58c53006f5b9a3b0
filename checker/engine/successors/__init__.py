"""From a row to its successors: the memo, and what it does not know yet."""
