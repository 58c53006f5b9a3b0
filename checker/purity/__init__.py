"""Are the handlers of a protocol pure functions?"""
