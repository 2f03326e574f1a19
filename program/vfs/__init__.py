"""The library as files: a tree, readers that fetch ranges, and the mount that shows them."""
