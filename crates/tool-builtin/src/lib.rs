//! Built-in tools: read, glob, grep, write, edit and shell.
