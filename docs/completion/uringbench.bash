# bash completion for uringbench
# Made from the table of flags: URINGBENCH_UPDATE_GOLDEN=1 build/dev/tests/unit_tests

_uringbench_values()
{
    # Offers what the flag $1 takes; fails when it takes nothing.
    case $1 in
    -b | --block-size) : ;;
    -R | --random) words='0 1' ;;
    -O | --direct) words='0 1' ;;
    -N | --nop) words='0 1' ;;
    -S | --sync) words='0 1' ;;
    -a | --aio) words='0 1' ;;
    -V | --vectored) words='0 1' ;;
    -u | --passthrough) words='0 1' ;;
    --scratch) : ;;
    --seed) : ;;
    -d | --depth) : ;;
    -s | --batch-submit) : ;;
    -c | --batch-complete) : ;;
    -n | --threads) words='auto' ;;
    -p | --polled) words='0 1' ;;
    --taskrun) words='defer coop plain' ;;
    --sqpoll) words='0 1' ;;
    --sqpoll-cpu) : ;;
    --sqpoll-idle) : ;;
    --sqthread-stats-bit) : ;;
    -B | --fixed-buffers) words='0 1' ;;
    -F | --register-files) words='0 1' ;;
    -X | --register-ring) words='0 1' ;;
    -e | --restrict) words='0 1' ;;
    -H | --hugetlb) words='anon' files=1 ;;
    --queue) words='iostats=0 nomerges=2 rq_affinity=2 scheduler=none' ;;
    -r | --runtime) : ;;
    --warmup) : ;;
    --repeats) : ;;
    --stall-timeout) : ;;
    -t | --latency) words='0 1' ;;
    -T | --tsc-rate) : ;;
    --cpus) words='local-core local-node' ;;
    -P | --numa) words='0 1' ;;
    --varies) words='kernel binary machine device' ;;
    --filter) : ;;
    --metrics) words='iops bw cpu sqpoll-cpu sqpoll-busy mean max p50 p99 p99.9' ;;
    --gate-metrics) words='iops bw cpu sqpoll-cpu sqpoll-busy mean max p50 p99 p99.9' ;;
    --min-effect) : ;;
    --baseline-of) words='first prev' ;;
    --bootstrap) : ;;
    --import-argv) : ;;
    --margin) : ;;
    --gate-file) files=1 ;;
    --expect) files=1 ;;
    --json) files=1 ;;
    --label) : ;;
    --format) case $verb in show) words='text md csv' ;; doctor) words='text json' ;; compare) words='text md csv json junit' ;; gate) words='text md csv json junit' ;; esac ;;
    --log-level) words='trace debug info warn error off' ;;
    *) return 1 ;;
    esac
}

_uringbench_flags()
{
    case $verb in
    show) words='--format --log-level --quiet -h --help --version' ;;
    doctor) words='--with-serials --format --log-level --quiet -h --help --version' ;;
    compare) words='--varies --filter --metrics --gate-metrics --min-effect --baseline-of
           --exit-verdict --explain --bootstrap --import-argv --json --format --log-level
           --quiet -h --help --version' ;;
    gate) words='--varies --filter --metrics --gate-metrics --explain --import-argv --margin
           --gate-file --expect --allow-inconclusive --warn-only --strict-env --json
           --format --log-level --quiet -h --help --version' ;;
    *) words='-b --block-size -R --random -O --direct -N --nop -S --sync -a --aio -V --vectored
           -u --passthrough --scratch --seed -d --depth -s --batch-submit -c
           --batch-complete -n --threads -p --polled --taskrun --hybrid-iopoll --sqpoll
           --sqpoll-cpu --sqpoll-idle --sqpoll-share --no-sqthread-stats
           --sqthread-stats-bit --force -B --fixed-buffers -F --register-files -X
           --register-ring -e --restrict -H --hugetlb --queue -r --runtime --warmup
           --repeats --stall-timeout -t --latency -T --tsc-rate --cpus -P --numa --json
           --label --with-serials --dry-run --allow-errors --log-level --quiet -h --help
           --version' ;;
    esac
}

_uringbench()
{
    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local verb='' flag='' attached='' words='' files='' only_files='' word i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -- ]] && only_files=1
    done
    if ((COMP_CWORD > 1)) && [[ ' run show doctor compare gate ' == *" ${COMP_WORDS[1]} "* ]]; then
        verb=${COMP_WORDS[1]}
    fi

    # "--taskrun=co" is one word or three, as COMP_WORDBREAKS has it.
    if [[ $cur == '=' ]]; then
        flag=$before cur=''
    elif [[ $before == '=' ]]; then
        flag=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $cur == --*=* ]]; then
        flag=${cur%%=*} attached=$flag= cur=${cur#*=}
    else
        case $before in
        --sqpoll | --bootstrap) ;;
        *) flag=$before ;;
        esac
    fi

    if [[ $only_files ]]; then
        files=1
    elif ! _uringbench_values "$flag"; then
        if [[ $cur == -* ]]; then
            _uringbench_flags
        else
            files=1
            ((COMP_CWORD == 1)) && words='run show doctor compare gate'
        fi
    fi
    while IFS= read -r word; do
        COMPREPLY+=("$attached$word")
    done < <(compgen -W "$words" -- "$cur"; [[ $files ]] && compgen -f -- "$cur")
    [[ $files ]] && compopt -o filenames 2> /dev/null
    return 0
}

complete -F _uringbench uringbench
