"""Who owns which partition, who should, and how even that is."""
