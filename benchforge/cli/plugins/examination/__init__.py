"""What `plugins check` asks of a part, with damaged and hostile outputs."""
