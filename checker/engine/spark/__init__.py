"""The search on a Spark cluster.

The *driver* is the process that the user started. It divides the states into *partitions* and sends
*jobs* to the workers, which expand them.
"""
