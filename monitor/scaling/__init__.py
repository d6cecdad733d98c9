"""How many members a group needs, by its own assignor, by what comes in and by what its members were seen to read.

``loads`` is what partitions bring, ``capacity`` what members read, ``shares`` who would own what; ``plan`` compares
numbers of members, ``holds`` says when none of this counts, and ``signal`` is the number that an autoscaler reads.
"""
