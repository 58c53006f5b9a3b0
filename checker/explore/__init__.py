"""A local web page to walk through the state space by hand.

`tree` says where a path of numbers leads, `judgement` what the properties say there, `ahead` what a
bounded search finds from there, `page` shows it, and `server` hands the page to a browser. No part
remembers anything between two requests: where somebody stands is in the address.
"""
