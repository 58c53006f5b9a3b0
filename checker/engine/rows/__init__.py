"""A state as a row of numbers: components, composites, layout, symmetry.

A *component* is a piece of a state, such as an actor's state, given as a number. A *composite* is a
number for all components of one actor, and a *row* packs the composites of all actors into one or a
few words of 64 bits. `geometry` describes the arrays.

Question: What do the places of an array such as `geo` or `control` mean? `geometry`.
"""
