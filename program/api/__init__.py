"""The JSON API: it reads snapshots, calls the actions and says no in sentences; it decides nothing."""
