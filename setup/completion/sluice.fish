# Completion of fish for sluice: commands and options are those of `sluice help`.
function __sluice_commands
    sluice help 2>/dev/null | string replace -rf '^  sluice ([a-z-]+).*' '$1'
    echo help
end

function __sluice_options
    set -l words (commandline -opc)
    sluice $words[2] --help 2>/dev/null | string match -ra -- '--[a-z][a-z-]*' | sort -u
    echo --help
end

# The words of the program that sluice run starts, which completes them itself.
function __sluice_program
    set -l words (commandline -opc) (commandline -ct)
    set -e words[1..2]
    while string match -q -- '-*' "$words[1]"
        set -e words[1]
    end
    complete -C (string join ' ' -- $words)
end

set -l first 'test (count (commandline -opc)) = 1'
set -l option 'string match -q -- "-*" (commandline -ct)'
set -l command 'test (count (commandline -opc)) -gt 1'
complete -c sluice -n "$first" -f -a '(__sluice_commands)'
complete -c sluice -n "$first; and $option" -f -a '--help --version'
complete -c sluice -n '__fish_seen_subcommand_from help' -f -a '(__sluice_commands)'
complete -c sluice -n "$command; and $option" -f -a '(__sluice_options)'
complete -c sluice -n "__fish_seen_subcommand_from run record; and not $option" -f \
    -a '(__sluice_program)'
