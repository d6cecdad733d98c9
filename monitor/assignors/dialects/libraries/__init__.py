"""One module for the plain strategies of each library, and one for its sticky ones."""
