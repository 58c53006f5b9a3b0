"""Text for people: sentences, diagrams in characters, explanations."""
