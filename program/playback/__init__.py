"""Files of the library for players that have no mount: as they are, and put into another form by ffmpeg."""
