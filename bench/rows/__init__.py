"""The families of rows, one file each; `bench.registry` finds them."""
