"""One file per queue of the pipeline: what each job does."""
