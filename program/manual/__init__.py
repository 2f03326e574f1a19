"""What a person does by hand: searches a title and sees everything, takes a torrent of their choice, says which file is what."""
