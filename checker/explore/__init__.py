"""A local web page to step through the state space by hand.

`tree` maps a path of numbers to a state, `judgement` evaluates the properties there, `page` renders
the page, `where` reads expressions about states, `search` searches in another process, `site`
answers requests, and `server` speaks HTTP. The server has no session state except for caches and
searches. The address contains the position.
"""
