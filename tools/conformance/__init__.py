"""What the specifications ask, statement by statement, and how it is known that the program does it.

`lines/` holds every statement in its order, by the hash of its words and in our own; `proofs/` the tests that show them, each
with a change of the program that they must notice. Whoever moves the place of such a change mends its proof.
`python -m tools.conformance --help` says what can be done with them.
"""
