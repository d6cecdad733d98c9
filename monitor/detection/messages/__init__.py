"""What findings say to a person: sentences, advice, numbers with their units."""
