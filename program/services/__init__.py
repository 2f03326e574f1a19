"""What talks to the outside, and the flows that use it."""
