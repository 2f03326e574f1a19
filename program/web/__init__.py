"""The pages: what a person sees. They read the same snapshots and call the same actions as the API, and decide nothing."""
