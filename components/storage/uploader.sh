#!/bin/sh
# Carries checkpoints from the tier that a job writes to the one that keeps them and on to the archive, and back again.
# The layout and its rules: docs/guides/checkpoints.md.
#
#   uploader.sh run                            pass after pass until SIGTERM, then a last one
#   uploader.sh once                           one pass
#   uploader.sh newest JOB [BEFORE]            print the newest complete checkpoint, or the newest older than BEFORE
#   uploader.sh restore JOB CHECKPOINT [PART]  bring it, or one part of it, to where the job writes
#
# Exit status: 0 done; 1 trouble, so try again; 3 there is none, or it is not what its manifest says.
#
# Settings: GANGLINE_CHECKPOINT_DIR (folder where the job writes), GANGLINE_CHECKPOINT_KEEP (folder, or remote path of
# rclone), GANGLINE_CHECKPOINT_ARCHIVE (remote path, or empty), GANGLINE_CHECKPOINT_RETAIN (number),
# GANGLINE_CHECKPOINT_EVERY (seconds). Only a shell, the tools that busybox has too, and rclone are needed.
set -u
stop='' idle=''
trap 'stop=1; [ -z "$idle" ] || kill "$idle" 2>/dev/null' TERM INT
umask 0 # jobs run as any user, and what is restored is theirs

WRITE=${GANGLINE_CHECKPOINT_DIR:?} KEEP=${GANGLINE_CHECKPOINT_KEEP:?} ARCHIVE=${GANGLINE_CHECKPOINT_ARCHIVE:-}
RETAIN=${GANGLINE_CHECKPOINT_RETAIN:?} EVERY=${GANGLINE_CHECKPOINT_EVERY:?}
PAUSE=1 # seconds between two passes; without something to carry a pass only looks into folders
MISSING=3

export RCLONE_CONFIG=/notfound # all settings come by the environment

# What stands beside a part's own files: who seals, carries, brings back or refuses it writes these.
OURS='--exclude=/{complete,sealing,carried,restored,refused}'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

log() {
    printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" >&2
}

quietly() { # COMMAND...: what it says is told only when it fails
    "$@" >"$work/said" 2>&1 || trouble "$*"
}

trouble() { # WHAT: with the words of the last command
    log "failed: $1"
    sed 's/^/    /' "$work/said" >&2
    return 1
}

is_folder() { # ROOT: whether it is a folder of this machine, not a remote of rclone
    case $1 in /*) true ;; *) false ;; esac
}

# What there is. A part is `CHECKPOINT/PART`: STEP-ATTEMPT/NUMBER-of-NUMBER.

parts() { # ROOT JOB [CHECKPOINT]: the complete parts
    if is_folder "$1"; then
        if [ -n "${3:-}" ]; then set -- "$1/$2/$3"/*/complete; else set -- "$1/$2"/*/*/complete; fi
        printf '%s\n' "$@" | sed 's,.*/\([^/]*/[^/]*\)/complete$,\1,' | well_named
    else
        rclone lsf -R --files-only --include '/*/*/complete' "$1/$2" >"$work/listed" 2>"$work/said"
        case $? in
        0) sed 's,/complete$,,' "$work/listed" | well_named ;;
        "$MISSING") ;;
        *) trouble "listing $1/$2" ;;
        esac
    fi
}

well_named() {
    grep -Ex '[0-9]{12}-[0-9]+/(0|[1-9][0-9]*)-of-[1-9][0-9]*' | awk -F'[/-]' '$3 + 0 < $5 + 0'
}

whole() { # the checkpoints of which all parts are complete, newest first, from a list of parts
    awk -F/ '{ split($2, of, "-of-"); have[$1 "/" of[2]]++ }
        END { for (name in have) { split(name, is, "/"); if (have[name] == is[2]) print is[1] } }' | newest_first
}

newest_first() { # by attempt, then by step: who went back to an older one on purpose goes on from there
    sort -u -t- -k2,2nr -k1,1nr
}

oldest_first() { # of checkpoints or parts
    sort -t- -k2,2n -k1,1n
}

older() { # ONE OTHER: whether the first checkpoint is older than the second
    [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | newest_first | head -n 1)" = "$2" ]
}

jobs_of() { # ROOT
    for folder in "$1"/*/; do
        [ -d "$folder" ] && basename "$folder"
    done
}

# One part is what its manifest says, or it is not. A line of a manifest: SHA256 BYTES PATH.

content() { # FILE
    if is_folder "$1"; then cat "$1"; else rclone cat "$1"; fi
}

manifest() { # PART: fetch its manifest to $work/manifest; 3 when it is not the one that was sealed
    exists "$1/manifest" || return
    { content "$1/complete" >"$work/seal" && content "$1/manifest" >"$work/manifest"; } 2>"$work/said" ||
        trouble "reading $1" || return
    [ "$(sha256sum <"$work/manifest" | cut -c1-64)" = "$(cat "$work/seal")" ] || return "$MISSING"
}

sizes() { # PART: whether its files have the names and sizes of $work/manifest, which is soon said of an archive
    rclone lsf -R --files-only --format ps --separator ' ' "$OURS" --exclude /manifest "$1" >"$work/listed" 2>"$work/said" ||
        trouble "listing $1" || return
    sed 's/^[0-9a-f]* \([0-9]*\) \(.*\)$/\2 \1/' "$work/manifest" | sort >"$work/should"
    sort "$work/listed" | cmp -s - "$work/should" || return "$MISSING"
}

contents() { # PART: whether its files, in a folder, are those of $work/manifest, no more, with their checksums
    sed 's/^\([0-9a-f]*\) [0-9]* /\1  /' "$work/manifest" >"$work/sums"
    : >"$work/report"
    rclone checksum sha256 "$work/sums" "$1" "$OURS" --exclude /manifest --combined "$work/report" >"$work/said" 2>&1 && return
    # `!` is a file that could not be read, which says nothing about what is in it.
    if grep -q '^[*+-]' "$work/report" && ! grep -q '^!' "$work/report"; then
        return "$MISSING"
    fi
    trouble "reading $1"
}

as_sealed() { # PART, in a folder: all of these
    manifest "$1" && contents "$1"
}

refuse() { # PART: it no longer counts as complete; nobody takes anything from an archive, so there it stays
    log "refused: $1 is not what its manifest says"
    if is_folder "$1"; then
        mv "$1/complete" "$1/refused" || return 1
    fi
    return "$MISSING"
}

sealed() { # PART: whether it is complete; 3 when it is not
    exists "$1/complete"
}

exists() { # FILE: 3 when it does not
    if is_folder "$1"; then
        [ -f "$1" ] || return "$MISSING"
        return
    fi
    rclone lsf "$1" >"$work/listed" 2>"$work/said"
    case $? in
    0) [ -s "$work/listed" ] || return "$MISSING" ;; # a store has no folders, so none is missing
    "$MISSING") return "$MISSING" ;;
    *) trouble "looking at $1" ;;
    esac
}

carry() { # PART PART: copy, verify, then mark. What is complete is never touched again.
    { manifest "$1" && { is_folder "$1" || sizes "$1"; }; } || {
        [ $? = "$MISSING" ] && refuse "$1"
        return
    }
    sealed "$2"
    case $? in
    0)
        content "$2/complete" 2>"$work/said" | cmp -s - "$work/seal" && return
        log "failed: $2 is complete and is not $1: a job used the number of an attempt twice"
        return 1
        ;;
    "$MISSING") ;;
    *) return 1 ;;
    esac
    if is_folder "$2"; then
        into_folder "$1" "$2" || return
    else
        into_remote "$1" "$2" || return
    fi
    log "complete: $2"
}

into_folder() { # PART FOLDER
    quietly mkdir -p "$2" || return
    # `sync`, as it also takes away what a killed run left half-written.
    quietly rclone sync --checksum --ignore-checksum "$OURS" "$1" "$2" || return
    # Otherwise a node that dies takes with it what it has only promised to write.
    find "$2" -type f -exec sync {} + || return 1
    contents "$2" || {
        [ $? = "$MISSING" ] && blame "$1"
        return
    }
    cp "$work/seal" "$2/sealing" && sync "$2/sealing" && mv "$2/sealing" "$2/complete"
}

blame() { # PART: a copy of it is not what its manifest says. Is it?
    if is_folder "$1"; then
        contents "$1" && log "failed: a copy of $1 is not what its manifest says" && return 1
        [ $? = "$MISSING" ] || return 1
    fi
    refuse "$1"
}

into_remote() { # FOLDER PART: the store checks each upload by its MD5, as it knows no SHA256 of rclone's
    contents "$1" || {
        [ $? = "$MISSING" ] && refuse "$1"
        return
    }
    quietly rclone copy --checksum "$OURS" "$1" "$2" && quietly rclone check "$OURS" "$1" "$2" &&
        quietly rclone copyto "$1/complete" "$2/complete"
}

# One pass.

flush() { # JOB: from where it is written to where it is kept, oldest first
    kept=''
    if is_folder "$KEEP"; then
        kept=$(parts "$KEEP" "$1")
    fi
    latest=$(printf '%s\n' "$kept" | whole | head -n 1)
    result=0
    for part in $(parts "$WRITE" "$1" | oldest_first); do
        # What is older than the newest that is kept can never be needed: no checkpoint becomes complete by it.
        if has "$kept" "$part" || { [ -n "$latest" ] && older "${part%/*}" "$latest"; }; then
            touch "$WRITE/$1/$part/carried" || result=1
        elif is_folder "$KEEP" || [ ! -f "$WRITE/$1/$part/carried" ]; then
            { carry "$WRITE/$1/$part" "$KEEP/$1/$part" && touch "$WRITE/$1/$part/carried"; } || result=1
        fi
    done
    return "$result"
}

waiting() { # JOB: whether something complete is not carried on; so long as there is nothing, only this node is looked at
    for mark in "$WRITE/$1"/*/*/complete; do
        [ -f "$mark" ] && [ ! -f "${mark%/complete}/carried" ] && return
    done
    return 1
}

has() { # LIST LINE
    printf '%s\n' "$1" | grep -qxF -e "$2"
}

clear_written() { # JOB: take away what is carried on, but for the newest; and what an attempt that is over left half-written
    mine=$(parts "$WRITE" "$1" | cut -d/ -f1 | newest_first)
    newest=$(printf '%s\n' "$mine" | head -n 1)
    attempt=$(folders "$WRITE/$1" | sed 's/.*-//' | sort -n | tail -n 1)
    for checkpoint in $(folders "$WRITE/$1"); do
        if ! has "$mine" "$checkpoint"; then
            [ "${checkpoint##*-}" -lt "$attempt" ] && remove "$WRITE/$1/$checkpoint"
        elif [ "$checkpoint" != "$newest" ] && all_carried "$WRITE/$1/$checkpoint" && ! in_use "$WRITE/$1/$checkpoint"; then
            remove "$WRITE/$1/$checkpoint"
        fi
    done
}

all_carried() { # CHECKPOINT, in a folder
    for mark in "$1"/*/complete; do
        [ -f "${mark%/complete}/carried" ] || return 1
    done
}

in_use() { # CHECKPOINT: it was brought back, and the job has written none since
    for mark in "$1"/*/restored; do
        [ -f "$mark" ] || continue
        for later in "${1%/*}"/*/*/complete; do
            [ "${later%/*/complete}" != "$1" ] && [ "$later" -nt "$mark" ] && return 1
        done
        return 0
    done
    return 1
}

folders() { # FOLDER: the checkpoints in it, complete or not
    for folder in "$1"/*/; do
        [ -d "$folder" ] && basename "$folder"
    done | grep -Ex '[0-9]{12}-[0-9]+'
}

remove() { # CHECKPOINT, in a folder: first it is no longer complete, then it is gone
    { rm -f "$1"/*/complete && rm -rf "$1"; } || log "failed: $1 is still there"
}

settle() { # JOB: archive what is complete, oldest first, and keep no more than must be; what is settled is not looked at
    result=0 fresh='' settled=$(cat "$work/settled.$1" 2>/dev/null) || fresh=1
    for checkpoint in $(folders "$KEEP/$1" | oldest_first); do
        has "$settled" "$checkpoint" && continue
        has "$(parts "$KEEP" "$1" "$checkpoint" | whole)" "$checkpoint" || continue
        if [ -n "$ARCHIVE" ]; then
            archive "$1" "$checkpoint" || result=1
            all_carried "$KEEP/$1/$checkpoint" || continue
        fi
        fresh=1
        printf '%s\n' "$checkpoint" >>"$work/settled.$1"
    done
    if [ -n "$fresh" ]; then
        touch "$work/settled.$1"
        retain "$1" || result=1
    fi
    return "$result"
}

archive() { # JOB CHECKPOINT: of several who carry, each takes parts that no other has
    failed_parts=0
    for mark in "$KEEP/$1/$2"/*/complete; do
        part=$2/$(basename "${mark%/complete}")
        [ -f "$KEEP/$1/$part/carried" ] && continue
        claim "$1" "$part" || continue
        { carry "$KEEP/$1/$part" "$ARCHIVE/$1/$part" && touch "$KEEP/$1/$part/carried"; } || failed_parts=1
        rmdir "$(claimed "$1" "$part")" 2>/dev/null # who took it for over may have been faster
    done
    return "$failed_parts"
}

claimed() { # JOB PART
    printf '%s/%s/.claims/%s\n' "$KEEP" "$1" "$(printf '%s' "$2" | tr / .)"
}

claim() { # JOB PART: a claim is over when nobody ended it for two rounds: then who made it is dead
    place=$(claimed "$1" "$2")
    mkdir -p "${place%/*}" && mkdir "$place" 2>/dev/null && return
    made=$(stat -c %Y "$place" 2>/dev/null) || return
    [ $(($(date +%s) - made)) -gt $((2 * EVERY)) ] && touch "$place"
}

retain() { # JOB: take away the oldest complete ones, and what can no longer become complete
    kept=$(parts "$KEEP" "$1" | whole)
    latest=$(printf '%s\n' "$kept" | head -n 1)
    [ -n "$latest" ] || return 0
    for checkpoint in $(printf '%s\n' "$kept" | tail -n "+$((RETAIN + 1))"); do
        if [ -z "$ARCHIVE" ] || all_carried "$KEEP/$1/$checkpoint"; then
            log "more than $RETAIN are kept: $KEEP/$1/$checkpoint goes"
            remove "$KEEP/$1/$checkpoint"
        fi
    done
    for checkpoint in $(folders "$KEEP/$1"); do
        if ! has "$kept" "$checkpoint" && older "$checkpoint" "$latest"; then
            log "never became complete: $KEEP/$1/$checkpoint goes"
            remove "$KEEP/$1/$checkpoint"
        fi
    done
}

flush_all() {
    failed=0
    [ "$WRITE" != "$KEEP" ] || return 0
    for job in $(jobs_of "$WRITE"); do
        clear_written "$job"
        waiting "$job" || continue
        flush "$job" || failed=1
        clear_written "$job"
    done
    return "$failed"
}

settle_all() {
    failed=0
    is_folder "$KEEP" || return 0
    for job in $(jobs_of "$KEEP"); do
        settle "$job" || failed=1
    done
    return "$failed"
}

run() {
    log "carrying from $WRITE to $KEEP${ARCHIVE:+ and on to $ARCHIVE}"
    for question in "$WRITE"/.ask/*.taken.*; do # of one that was killed over it
        [ -f "$question" ] && mv "$question" "${question%.taken.*}.ask"
    done
    # Beside it, since a checkpoint that is written meanwhile must not wait for the archive.
    (
        trap '' TERM INT
        settling "$work/ending"
    ) &
    beside=$!
    while [ -z "$stop" ]; do
        kill -0 "$beside" || return 1
        flush_all
        answers
        [ -z "$stop" ] || break
        sleep "$PAUSE" &
        idle=$!
        wait "$idle"
        idle=''
    done
    flush_all
    result=$?
    : >"$work/ending"
    wait "$beside" && [ "$result" = 0 ] && log "done"
}

settling() { # FILE: until it is there, and then once more. Many nodes look at what they share, so each does it seldom.
    ending=$1 work=$work/settling
    mkdir "$work"
    while [ ! -f "$ending" ]; do
        settle_all
        left=$((EVERY / 60 < 1 ? 1 : EVERY / 60 > 60 ? 60 : EVERY / 60))
        while [ "$left" -gt 0 ] && [ ! -f "$ending" ]; do
            sleep "$PAUSE"
            left=$((left - PAUSE))
        done
    done
    settle_all
}

# Coming back.

newest() { # JOB [BEFORE]: what is written here already is kept first, so that the last who answers knows of all
    if [ "$WRITE" != "$KEEP" ]; then
        flush "$1" || return 1
    fi
    kept=$(parts "$KEEP" "$1") || return 1
    cold=
    if [ -n "$ARCHIVE" ]; then
        cold=$(parts "$ARCHIVE" "$1") || return 1
    fi
    for checkpoint in $({ printf '%s\n' "$kept" | whole; printf '%s\n' "$cold" | whole; } | newest_first); do
        if [ -z "${2:-}" ] || older "$checkpoint" "$2"; then
            printf '%s\n' "$checkpoint"
            return
        fi
    done
    return "$MISSING"
}

restore() { # JOB CHECKPOINT [PART]: what one tier no longer has as it was sealed, the other may have
    wanted=${3:-}
    if [ -z "$wanted" ]; then
        found=$(parts "$KEEP" "$1") || return 1
        if [ -n "$ARCHIVE" ]; then
            found="$found
$(parts "$ARCHIVE" "$1")" || return 1
        fi
        wanted=$(printf '%s\n' "$found" | sort -u | sed -n "s,^$2/,,p")
    fi
    [ -n "$wanted" ] || missing "$1/$2" || return
    for part in $wanted; do
        bring "$1/$2/$part" || return
    done
}

bring() { # JOB/PART: what is there already is looked at again
    if [ -f "$WRITE/$1/complete" ]; then
        as_sealed "$WRITE/$1" && touch "$WRITE/$1/restored" && return
        [ $? = "$MISSING" ] || return 1
        refuse "$WRITE/$1"
    fi
    for root in "$KEEP" "$ARCHIVE"; do
        [ -n "$root" ] || continue
        sealed "$root/$1" && carry "$root/$1" "$WRITE/$1" && touch "$WRITE/$1/restored" && return
        [ $? = "$MISSING" ] || return 1
    done
    missing "$1"
}

missing() { # WHAT
    log "refused: no tier has $1 as it was sealed"
    return "$MISSING"
}

answers() { # what jobs ask, in files: QUESTION.ask holds the words of a command, QUESTION.answer its status and output
    for question in "$WRITE"/.ask/*.ask; do
        mine=${question%.ask}.taken.$$
        { [ -f "$question" ] && mv "$question" "$mine" 2>/dev/null; } || continue
        read -r verb first second third <"$mine" || true
        case $verb in
        newest | restore)
            said=$("$verb" "$first" ${second:+"$second"} ${third:+"$third"})
            status=$?
            ;;
        *) said="there is no $verb" status=2 ;;
        esac
        printf '%s %s\n' "$status" "$said" >"${question%.ask}.new" &&
            mv "${question%.ask}.new" "${question%.ask}.answer" && rm -f "$mine"
    done
}

case ${1:-} in
run) run ;;
once) flush_all && settle_all ;;
newest) newest "${2:?JOB}" "${3:-}" ;;
restore) restore "${2:?JOB}" "${3:?CHECKPOINT}" ${4:+"$4"} ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
