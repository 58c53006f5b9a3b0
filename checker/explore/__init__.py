"""A local web page to step through the state space by hand.

`tree` maps a path of numbers to a state, `judgement` evaluates the properties there, `page` renders
the page, `where` reads expressions about states, `code` traces the handler of a step, `near` draws
the states around, `export` writes tests and specs, `reload` reads a changed protocol again,
`search` searches in another process, `site` answers requests, and `server` speaks HTTP. The server
has no session state except for caches, searches, and the expressions that the user has agreed to
run. The address contains the position.
"""
