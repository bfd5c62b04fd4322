# bash completion for holdfast(1)

_holdfast_connecting='--url --user --password-file --cacert --cert --key --sni --insecure --prefix
                      --allow-eviction'

_holdfast_commands='run lock renew unlock elect status ls limit doctor enlist local bench lab version'

_holdfast_lab='exists-set setnx-expire getset lua-setnx set-nx get-del lua-del renewal redlock
               holdfast holdfast-guarded holdfast-quorum holdfast-sentinel holdfast-unacked
               crash race skew overwrite stranger overtime late-delete release-race failover
               restart lost-answer late-write clock-jump old-jump hang cut-off'

_holdfast_bench='a b c d e f g h i j server coroutines quorum votes held replication'

_holdfast_options() {
    case $1 in
        run) echo '-n --nonblock -w --wait -s --shared -x --exclusive --permits -k -E --conflict-exit-code
                   -c --command --ttl --at-least --at-most --kill-after --fair --wait-all --label --status-fd -v --verbose -h --help' \
                  "$_holdfast_connecting" ;;
        lock) echo "-n --nonblock -w --wait --ttl --label --json -h --help $_holdfast_connecting" ;;
        renew) echo "--owner --ttl -h --help $_holdfast_connecting" ;;
        unlock) echo "--owner --force --slot --reason --yes -h --help $_holdfast_connecting" ;;
        elect) echo '--value --ttl --label -c --command --kill-after --watch --json -v --verbose -h --help' \
                    "$_holdfast_connecting" ;;
        status) echo "--json -q --quiet -h --help $_holdfast_connecting" ;;
        ls | doctor) echo "--json -h --help $_holdfast_connecting" ;;
        limit) echo "--permits -h --help $_holdfast_connecting" ;;
        enlist) echo "--fresh --yes -h --help $_holdfast_connecting" ;;
        lab) echo '--json -h --help' ;;
        bench) echo '--quick --no-peers --only --match --beside --before --rounds --seconds --json
                     --output --picture --part -h --help' ;;
        local | version) echo '-h --help' ;;
    esac
}

# The place of the first word that is neither an option nor the value of one; none: no output.
_holdfast_first_positional() {
    local n
    for ((n = 2; n < COMP_CWORD; ++n)); do
        case ${COMP_WORDS[n]} in
            --) echo $((n + 1)); return ;;
            -n | --nonblock | -s | --shared | -x | --exclusive | --fair | --wait-all | --watch | --json | -v | --verbose | \
                --insecure | --allow-eviction | -h | --help) ;;
            -*) ((++n)) ;;
            *) echo "$n"; return ;;
        esac
    done
}

_holdfast() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} key
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$_holdfast_commands help --help --version -V" \
            -- "$current")
        return
    fi
    if [[ $command == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$_holdfast_commands" -- "$current")
        return
    fi
    if [[ $command == run || $command == elect ]]; then
        key=$(_holdfast_first_positional)
        if [[ -n $key ]] && ((COMP_CWORD > key)); then
            [[ ${COMP_WORDS[key + 1]} == -- ]] && ((++key))
            if declare -F _command_offset >/dev/null; then
                _command_offset $((key + 1))
            else
                mapfile -t COMPREPLY < <(compgen -c -f -- "$current")
            fi
            return
        fi
    fi
    case $previous in
        --password-file | --cacert | --cert | --key | --output | --picture | --before)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return ;;
        --json)
            if [[ $command == bench ]]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
                return
            fi ;;
        --url)
            mapfile -t COMPREPLY < <(compgen -W 'redis:// rediss:// valkey:// valkeys:// unix://
                redis+sentinel:// rediss+sentinel:// redis+cluster:// rediss+cluster:// local:' -- "$current")
            return ;;
        -k | -w | --wait | --ttl | --at-least | --at-most | --kill-after | -E | --conflict-exit-code | \
            -c | --command | --value | --label | --status-fd | --user | --sni | --prefix | --owner | --reason | \
            --permits | --slot | \
            --only | --match | --beside | --rounds | --seconds)
            return ;;
    esac
    if [[ $command == local && $current != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'start stop status' -- "$current")
    elif [[ $command == lab && $current != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$_holdfast_lab" -- "$current")
    elif [[ $command == bench && $current != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$_holdfast_bench" -- "$current")
    elif [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_holdfast_options "$command")" -- "$current")
    fi
}

complete -F _holdfast holdfast
