# What <tab> makes of each line, in a zsh of its own behind a pseudo-terminal; one line each in OUT.
# usage: zsh -f complete.zsh FOLDER-OF-_consm OUT LINE…
zmodload zsh/zpty || exit 1
folder=$1 out=$2
shift 2
: > $out
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($folder \$fpath); autoload -U compinit; compinit -u -D
tab() { zle complete-word; print -r -- \"\$BUFFER\" >> $out; BUFFER= }
zle -N tab; bindkey '^I' tab; print re''ady"
while zpty -r shell line; do [[ $line == *ready* ]] && break; done
wanted=0
for words in "$@"; do
    zpty -w -n shell "$words"$'\t'
    (( wanted++ ))
    for try in {1..10000}; do
        (( $(wc -l < $out) >= wanted )) && break
        sleep 0.05
    done
done
zpty -d shell
