"""Numbers, ages and names as a person reads them."""
