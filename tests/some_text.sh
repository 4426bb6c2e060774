#!/usr/bin/env bash
# Writes lines of text for tests to train on: tests/some_text.sh LINES
for i in $(seq "$1"); do
    echo "Line $i: The cat and $((i * 7919 % 101)) quick brown foxes jump over $((i * 104729 % 97)) lazy dogs."
done
