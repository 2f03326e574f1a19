"""What clients get. Names follow the existing web client, with what the timeline and the states need beside them."""
