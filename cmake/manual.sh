#!/bin/sh
# manual.sh PROGRAM FOLDER: writes the manual pages of the program and its commands, which help2man makes from --help.
# cmake --install and the packages run this.
set -eu
command -v help2man >/dev/null || {
    echo "no manual pages: Debian's help2man is missing"
    exit 0
}
program=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$folder"
cat >"$scratch/more" <<'END'
[EXIT STATUS]
0: done; 1: the run failed; 2: wrong usage; 3: bad input (a file, a text, a model folder or a tokenizer);
4: training diverged; 5: a check failed; 130 and 143: Ctrl-C or SIGTERM ended it.
[SEE ALSO]
.BR inkling (1),
and
.B inkling help
.I COMMAND
END

# page DESCRIPTION WORDS...: the page of a command, such as inkling-tokenize-train.1 of `inkling tokenize train`.
page() {
    about=$1 name=inkling help=--help
    shift
    for word in "$@"; do name=$name-$word; done
    [ "$*" != train ] || help=--help-all
    printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$program" "$*" >"$scratch/$name"  # help2man names the page as its program
    chmod +x "$scratch/$name"
    COLUMNS=80 help2man --no-info --include="$scratch/more" --help-option=$help --name="$about" \
        --version-string="$("$program" --version | cut -d ' ' -f 2)" --output="$scratch/$name.1" "$scratch/$name"
    gzip -9n <"$scratch/$name.1" >"$folder/$name.1.gz"
}

page "train, run and look into small language models"
tab=$(printf '\t')
"$program" __complete '' | while IFS=$tab read -r command about; do
    [ "$command" != help ] || continue
    page "$about" "$command"
    "$program" __complete "$command" '' | while IFS=$tab read -r part more; do
        case $part in :*) ;; *) page "$more" "$command" "$part" ;; esac
    done
done
