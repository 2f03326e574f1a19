"""From names to verdicts: what a release or a file says of itself, whether it is what is wanted, and how good it is.

Pure functions on plain values, so that they can run in another process and be tested to the last rule. Only here the
parsers `PTT` and `RTN` are used.
"""
