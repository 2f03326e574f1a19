"""The doctor: small questions about the machine, the settings, the database, the providers and the work, with how to mend it."""
