"""What people read: sentences, diagrams in characters, explanations."""
