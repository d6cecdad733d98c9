"""What was recorded, judged again: the inputs of every verdict, and the verdict on a group at any instant of the past.

Tracking and judging are pure functions of events and time. So a recording has the events (monitor.history.recorded) and
now and then the states that they lead to; a verdict of the past is that of its state then (monitor.history.replay).
"""
