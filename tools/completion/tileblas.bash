# bash completion for tileblas

# Where the program's name stands, or would, after `tileblas run`.
_tileblas_program_position() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --output | --record | --report | --preload) ((i++)) ;;
            --) ((i++)) && break ;;
            -*) ;;
            *) break ;;
        esac
    done
    echo "$i"
}

_tileblas() {
    local word=${COMP_WORDS[COMP_CWORD]} subcommand=${COMP_WORDS[1]} words='' position=$COMP_CWORD
    ((COMP_CWORD > 1)) || subcommand=''
    [[ $subcommand != run ]] || position=$(_tileblas_program_position)
    if ((position < COMP_CWORD)); then # the words are the program's
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    fi
    case $subcommand:${COMP_WORDS[COMP_CWORD - 1]}:$word in
        :*) words='run show info explain forecast bench tune --help --version' ;;
        *:--output:* | *:--record:* | *:--report:* | *:--preload:* | *:--library:*)
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        *:--routine:*) words='sgemm dgemm ssyrk dsyrk sgemmt dgemmt sgemmtr dgemmtr cgemm zgemm ssymm dsymm csymm zsymm chemm zhemm csyrk zsyrk cherk zherk cgemmt zgemmt cgemmtr zgemmtr ssyr2k dsyr2k csyr2k zsyr2k cher2k zher2k strmm dtrmm ctrmm ztrmm strsm dtrsm ctrsm ztrsm sgemm_batch dgemm_batch cgemm_batch zgemm_batch sgemm_batch_strided dgemm_batch_strided cgemm_batch_strided zgemm_batch_strided' ;;
        *:--uplo:*) words='L U' ;;
        *:--diag:*) words='N U' ;;
        *:--transa:* | *:--transb:*) words='N T C' ;;
        *:--pointers:*) words='host pinned managed device' ;;
        *:--assume:*) words='h200 h100 l40s rtx4090 none' ;;
        run:*:-*) words='--json --output --record --report --preload --help' ;;
        run:*)
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
            return
            ;;
        show:*:-*) words='--output --help' ;;
        show:*)
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        info:*) words='--all --json --help' ;;
        explain:*)
            words='--routine --side --uplo --diag --transa --transb --alpha --beta --lda --ldb --ldc --products --pointers --assume --cores --all --json --help'
            ;;
        forecast:*:-*) words='--assume --json --help' ;;
        forecast:*)
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        bench:*) words='--rounds --seconds --library --json --help' ;;
        tune:*) words='--seconds --largest --output --remove --help' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o filenames -F _tileblas tileblas
