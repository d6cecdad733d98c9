"""Orders of a map whose filling is not known: OpenJDK 17 filled one in every order."""

from __future__ import annotations

from itertools import permutations

from monitor.assignors.java.bucket_orders import bucket_orders
from monitor.assignors.java.hash import string_hashes
from monitor.assignors.java.hash_map import iterate


def test_all_orders_are_those_that_java_has_when_it_fills_the_map_in_every_order():
    orders = {"".join(order) for order in bucket_orders("aqbrc", 100)}
    assert orders == {"aqbrc", "aqrbc", "qabrc", "qarbc"}


def test_orders_are_those_of_maps_that_were_filled_in_every_order():
    keys = ["m-1", "m-12", "m-3", "m-50", "m-7", "m-88"]
    filled = {
        tuple(order[position] for position in iterate(string_hashes(order)).positions) for order in permutations(keys)
    }
    assert len(filled) > 1
    assert set(map(tuple, bucket_orders(keys, 1_000))) == filled


def test_no_more_orders_come_than_are_wanted():
    assert len(list(bucket_orders([f"key-{number}" for number in range(200)], 50))) == 50
