"""The objectives of a file of expectations, as Sloth, Pyrra, OpenSLO and plain rules of Prometheus have them."""
