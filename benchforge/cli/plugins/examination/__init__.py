"""Questions of `plugins check` to a part, with damaged and hostile outputs."""
