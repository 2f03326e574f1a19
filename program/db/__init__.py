"""The database room: the only place that speaks SQL. Snapshots go out, facts come in."""
