# Completion of inkling for fish: the program itself offers the words.
function __inkling_complete
    set -l token (commandline -ct)
    set -l words (commandline -opc) "$token"
    set -l flag (string match -r -- '^--[^=]*=' $token)  # of --flag=value
    set -l value (string replace -- "$flag" '' $token)
    for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
        switch $line
            case :file
                __fish_complete_path "$value"
            case :directory
                __fish_complete_directories "$value"
            case '*'
                echo $line
        end
    end | string replace -r '^' -- "$flag"
end
complete -c inkling -f -a '(__inkling_complete)'
