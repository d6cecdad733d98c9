"""What answers the commands: a running job, the folder of a recording, or a saved snapshot."""
