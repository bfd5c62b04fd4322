# fish completion for holdfast(1)

set -l commands run lock renew unlock elect status ls limit doctor enlist local bench lab version
set -l talking run lock renew unlock elect status ls limit doctor enlist

# The command that `run` or `elect` is to run, as far as it is typed: what follows the key, and a `--`. Fails
# where the key is not there yet.
function __holdfast_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] run elect; or return 1
    set -e words[1..2]
    while set -q words[1]
        switch $words[1]
            case --
                set -e words[1]
                break
            case -n --nonblock -s --shared -x --exclusive --fair --wait-all --watch --json -v --verbose --insecure --allow-eviction -h --help '--*=*'
                set -e words[1]
            case '-*'
                set -e words[1..2]
            case '*'
                break
        end
    end
    set -q words[1]; or return 1
    set -e words[1]
    test "$words[1]" = --; and set -e words[1]
    test (count $words) -gt 0; and string escape -- $words
    return 0
end

function __holdfast_complete_command
    complete -C (string join ' ' -- (__holdfast_command) (commandline -ct))
end

complete -c holdfast -f
complete -c holdfast -n '__holdfast_command >/dev/null' -a '(__holdfast_complete_command)'
complete -c holdfast -n __fish_use_subcommand -l help -d 'Overview'
complete -c holdfast -n __fish_use_subcommand -s V -l version -d 'Print the version'
complete -c holdfast -n __fish_use_subcommand -a run -d 'Run a command while holding a lock'
complete -c holdfast -n __fish_use_subcommand -a lock -d 'Take a lock and print its owner token'
complete -c holdfast -n __fish_use_subcommand -a renew -d 'Let a lock live longer'
complete -c holdfast -n __fish_use_subcommand -a unlock -d 'Release a lock'
complete -c holdfast -n __fish_use_subcommand -a elect -d 'Run a command while leading, or watch who leads'
complete -c holdfast -n __fish_use_subcommand -a status -d 'Say who holds a lock, and who waits for it'
complete -c holdfast -n __fish_use_subcommand -a ls -d 'List the locks that Holdfast took'
complete -c holdfast -n __fish_use_subcommand -a limit -d 'Change how many permits a semaphore has'
complete -c holdfast -n __fish_use_subcommand -a doctor -d 'Check whether a server is fit'
complete -c holdfast -n __fish_use_subcommand -a enlist -d 'Let servers vote again'
complete -c holdfast -n __fish_use_subcommand -a local -d "This machine's own server"
complete -c holdfast -n __fish_use_subcommand -a bench -d 'Run the benchmarks'
complete -c holdfast -n __fish_use_subcommand -a lab -d 'Watch the classic mistakes'
complete -c holdfast -n __fish_use_subcommand -a version -d 'Print the version'
complete -c holdfast -n __fish_use_subcommand -a help -d 'Explain a command'
complete -c holdfast -n '__fish_seen_subcommand_from help' -a "$commands"

complete -c holdfast -n "__fish_seen_subcommand_from $commands" -s h -l help -d 'Explain the command'

complete -c holdfast -n "__fish_seen_subcommand_from $talking" -l url -x -a 'redis:// rediss:// valkey:// valkeys:// unix:// redis+sentinel:// rediss+sentinel:// redis+cluster:// rediss+cluster:// local:' -d 'Server'
complete -c holdfast -n "__fish_seen_subcommand_from $talking" -l user -x -d 'User name'
complete -c holdfast -n "__fish_seen_subcommand_from $talking" -l password-file -r -F -d 'File with the password'
complete -c holdfast -n "__fish_seen_subcommand_from $talking" -l cacert -r -F -d 'Certificates to trust'
complete -c holdfast -n "__fish_seen_subcommand_from $talking" -l cert -r -F -d 'Our certificate'
complete -c holdfast -n "__fish_seen_subcommand_from $talking" -l key -r -F -d 'Its private key'
complete -c holdfast -n "__fish_seen_subcommand_from $talking" -l sni -x -d 'Expect this server name'
complete -c holdfast -n "__fish_seen_subcommand_from $talking" -l insecure -d 'Do not verify the certificate'
complete -c holdfast -n "__fish_seen_subcommand_from $talking" -l prefix -x -d 'Put before every key'
complete -c holdfast -n "__fish_seen_subcommand_from $talking" -l allow-eviction -d 'Use servers that may evict locks'

complete -c holdfast -n '__fish_seen_subcommand_from run lock' -s n -l nonblock -d 'Do not wait'
complete -c holdfast -n '__fish_seen_subcommand_from run lock' -s w -l wait -x -d 'Wait at most so long'
complete -c holdfast -n '__fish_seen_subcommand_from run lock renew elect' -l ttl -x -d 'Lease'

complete -c holdfast -n '__fish_seen_subcommand_from run' -s s -l shared -d 'Share it with others who give -s'
complete -c holdfast -n '__fish_seen_subcommand_from run' -s x -l exclusive -d 'Share it with nobody: the default'
complete -c holdfast -n '__fish_seen_subcommand_from run' -l permits -x -d 'Take one of so many permits'
complete -c holdfast -n '__fish_seen_subcommand_from run' -s k -x -d 'Lock this key, too'
complete -c holdfast -n '__fish_seen_subcommand_from run' -s E -l conflict-exit-code -x -d 'Exit code if not acquired'
complete -c holdfast -n '__fish_seen_subcommand_from run elect' -s c -l command -x -d 'Run with /bin/sh -c'
complete -c holdfast -n '__fish_seen_subcommand_from run' -l at-least -x -d 'Keep the lock this long'
complete -c holdfast -n '__fish_seen_subcommand_from run' -l at-most -x -d 'Stop the command after this long'
complete -c holdfast -n '__fish_seen_subcommand_from run elect' -l kill-after -x -d 'Grace between TERM and KILL'
complete -c holdfast -n '__fish_seen_subcommand_from run' -l fair -d 'Serve in order of arrival'
complete -c holdfast -n '__fish_seen_subcommand_from run' -l wait-all -d 'Hold the lock until all descendants have ended'
complete -c holdfast -n '__fish_seen_subcommand_from run lock elect' -l label -x -d 'Shown to whoever asks'
complete -c holdfast -n '__fish_seen_subcommand_from run' -l status-fd -x -d 'Write one JSON line there'
complete -c holdfast -n '__fish_seen_subcommand_from run elect' -s v -l verbose -d 'Say what happens'

complete -c holdfast -n '__fish_seen_subcommand_from elect' -l value -x -d 'Shown to whoever asks who leads'
complete -c holdfast -n '__fish_seen_subcommand_from elect' -l watch -d 'Print who leads, and each change'
complete -c holdfast -n '__fish_seen_subcommand_from renew unlock' -l owner -x -d 'Owner token'
complete -c holdfast -n '__fish_seen_subcommand_from unlock' -l force -d 'Whoever holds it'
complete -c holdfast -n '__fish_seen_subcommand_from unlock' -l reason -x -d 'Why'
complete -c holdfast -n '__fish_seen_subcommand_from unlock' -l slot -x -d 'Whose permit'
complete -c holdfast -n '__fish_seen_subcommand_from limit' -l permits -x -d 'How many there are from now on'
complete -c holdfast -n '__fish_seen_subcommand_from unlock' -l yes -d 'Do not ask'
complete -c holdfast -n '__fish_seen_subcommand_from status' -s q -l quiet -d 'Only the exit code'
complete -c holdfast -n '__fish_seen_subcommand_from lock elect status ls doctor lab' -l json -d 'Print JSON'
complete -c holdfast -n '__fish_seen_subcommand_from enlist' -l fresh -d 'Vouch that the servers are new'
complete -c holdfast -n '__fish_seen_subcommand_from enlist' -l yes -d 'Do not look for locks that are held'
complete -c holdfast -n '__fish_seen_subcommand_from local' -a 'start stop status'
complete -c holdfast -n '__fish_seen_subcommand_from lab' -a 'exists-set setnx-expire getset lua-setnx set-nx get-del lua-del renewal redlock holdfast holdfast-guarded holdfast-quorum holdfast-sentinel holdfast-unacked crash race skew overwrite stranger overtime late-delete release-race failover restart lost-answer late-write clock-jump old-jump hang cut-off'

complete -c holdfast -n '__fish_seen_subcommand_from bench' -a 'a b c d e f g h i j server coroutines quorum votes held replication'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l quick -d 'One short round of each'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l no-peers -d 'Only Holdfast and its floor'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l only -x -d 'Contestants whose name begins so'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l match -x -d 'Tables with this in their title'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l beside -x -d 'Another build, as NAME=BUILD'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l before -r -F -d 'Another build, in many short turns'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l rounds -x -d 'Rounds that count'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l seconds -x -d 'How long a round takes'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l json -r -F -d 'Where the JSON goes'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l output -r -F -d 'Where the JSON goes'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l picture -r -F -d 'Where the picture goes'
complete -c holdfast -n '__fish_seen_subcommand_from bench' -l part -x -a 'a b c d e f g h i j server coroutines quorum votes held replication' -d 'What to measure'
