# Completion of inkling for bash: the program itself offers the words.
_inkling() {
    local word=${COMP_WORDS[COMP_CWORD]} line
    COMPREPLY=()
    [[ $word != '=' ]] || word=''  # --flag=value is three words
    while IFS= read -r line; do
        case $line in
        :*)
            compopt -o filenames 2>/dev/null
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -A "${line#:}" -- "$word")
            ;;
        *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _inkling inkling
