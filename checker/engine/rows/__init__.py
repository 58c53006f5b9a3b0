"""A state as a row of numbers: components, composites, layout, symmetry."""
