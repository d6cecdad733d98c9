"""Would the suite notice a fault? The code is broken in places chosen by a seed, and the tests run on it."""
