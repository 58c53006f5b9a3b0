"""A local web page to step through the state space by hand.

`tree` says where a path of numbers leads, `judgement` what the properties say there, `ahead` what a
bounded search finds from there, `page` shows it, `site` answers requests, and `server` speaks HTTP.
Between two requests nothing is remembered, except to be quicker: the address says where one stands.
"""
