#!/usr/bin/env bash
# No two files of dispatch, kernels, lib and sequences call each other, directly or by way of others, whichever headers say what they have.
#
#   circles.sh NM LIST
#
# LIST is a file with the objects that the build has made of them, one a line.
set -euo pipefail

mapfile -t objects <"$2"
# A line is a file and one that has a name that the first asks for.
uses=$("$1" -A -P "${objects[@]}" | sed 's/^.*\.dir\///; s/\.o: / /' | awk '
    $3 == "U" { user[++count] = $1; name[count] = $2; next }
    $3 == toupper($3) { owner[$2] = $1 }
    END {
        for (i = 1; i <= count; i++)
            if (name[i] in owner && owner[name[i]] != user[i])
                print user[i], owner[name[i]]
    }')
if [[ -z $uses ]]; then
    echo "$1 has shown no file that uses another" >&2
    exit 1
fi
tsort <<<"$uses" >/dev/null # which says what is in a circle
