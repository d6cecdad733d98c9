"""How bytes are read: a reader with bounds, schemas of messages, and the errors of what does not fit."""
