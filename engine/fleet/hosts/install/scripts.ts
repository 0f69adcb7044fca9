import { quoteForShell } from '../../../core/base/text.ts';

/** The last entry of an archive. */
export const COMPLETE_FILE = 'complete';

/** The input of the scripts of an installation. */
export interface InstallFacts {
  /** The folder's name: version and digest. */
  name: string;
  version: string;
  /** Node on the host; null for the carried one. */
  node: string | null;
  carriedNode: string;
  isCompressed: boolean;
}

/** Finds the folder of all programs, `$root`; the same one whichever shell the person uses. */
const FIND_ROOT = `umask 077
LC_ALL=C
export LC_ALL
tell() { printf '%s\\t%s\\n' "$1" "$2"; }
data=\${XDG_DATA_HOME:-}
case $data in /*) ;; *) data=\${HOME:-}/.local/share ;; esac
case $data in /.local/share) tell failed home; exit 1 ;; esac
root=$data/svc/runner/programs`;

const setFacts = ({ name, version, node, carriedNode }: InstallFacts): string =>
  Object.entries({ name, version, other: node ?? '', carried: carriedNode, complete: COMPLETE_FILE })
    .map(([key, value]) => `${key}=${quoteForShell(value)}`)
    .join('\n');

/**
 * Checks if a folder holds a program that runs: all of it has arrived, Node fits, and so does the native code. Without
 * a home it keeps no compiled code there.
 */
const CHECK_PROGRAM = `node_of() { if [ -n "$other" ]; then printf %s "$other"; else printf %s "$1/$carried"; fi; }
holds() { [ "$(cat "$1/$complete" 2>/dev/null)" = "$name" ]; }
runs() { [ "$(HOME= XDG_CACHE_HOME= "$(node_of "$1")" "$1/dist/bin/svc.js" --version </dev/null)" = "$version" ]; }
loads() {
  "$(node_of "$1")" -e 'const load = require("module").createRequire(process.argv[1]);
new (load("better-sqlite3"))(":memory:").close(); load("koffi")' "$1/package.json" </dev/null
}`;

const FREE_KILOBYTES = `free_kilobytes() {
  place=$root
  while [ ! -d "$place" ] && [ -n "$place" ]; do place=\${place%/*}; done
  df -Pk "\${place:-/}" 2>/dev/null | { read -r _; read -r _ _ _ free _; printf %s "$free"; }
}`;

/**
 * Removes what a cut copy has left. A copy's folder names its process: boot, namespace, pid and start time. One of
 * another boot or container may still run, on a machine that shares this home, so it is kept for a day.
 */
const REMOVE_LEFT_COPIES = `start_of() { stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1; set -- \${stat##*) }; printf %s "\${20}"; }
boot=$(cut -c 1-8 /proc/sys/kernel/random/boot_id 2>/dev/null)
space=$(readlink /proc/self/ns/pid 2>/dev/null | tr -dc 0-9)
is_left() {
  set -- "$1" $(printf %s "\${1##*/.new-}" | tr - ' ')
  if [ "$2" = "$boot" ] && [ "$3" = "$space" ]; then [ "$(start_of "$4")" != "$5" ]
  else [ -n "$(find "$1" -prune -mtime +0 2>/dev/null)" ]
  fi
}
for old in "$root"/.new-*; do
  if [ -d "$old" ] && is_left "$old"; then rm -rf "$old"; fi
done`;

/** Reports if the program is there, and what a copy would meet. */
export const buildPrepareScript = (facts: InstallFacts): string =>
  [
    setFacts(facts),
    FIND_ROOT,
    CHECK_PROGRAM,
    FREE_KILOBYTES,
    REMOVE_LEFT_COPIES,
    `tell folder "$root/$name"
if holds "$root/$name" && runs "$root/$name" 2>/dev/null && loads "$root/$name" 2>/dev/null; then tell there yes; fi
command -v tar >/dev/null 2>&1 && tell tar yes
command -v gzip >/dev/null 2>&1 && tell gzip yes
free=$(free_kilobytes)
[ -n "$free" ] && tell freeKilobytes "$free"
exit 0`,
  ].join('\n');

/** Takes the archive from stdin, and gives it its name once it has proven to run. */
export const buildPlaceScript = (facts: InstallFacts): string =>
  [
    setFacts(facts),
    FIND_ROOT,
    CHECK_PROGRAM,
    FREE_KILOBYTES,
    REMOVE_LEFT_COPIES,
    `new=$root/.new-$boot-$space-$$-$(start_of $$)
drop() { rm -rf "$new" "$new-old"; }
fail() { drop; tell failed "$1"; tell freeKilobytes "$(free_kilobytes)"; exit 1; }
trap 'drop; exit 1' HUP INT TERM PIPE
mkdir -p "$root" && mkdir "$new" || fail copy
${facts.isCompressed ? 'gzip -dc | ' : ''}tar -x -o -f - -C "$new" && holds "$new" || fail copy
"$(node_of "$new")" --version >/dev/null </dev/null || fail node
runs "$new" || fail program
loads "$new" || fail packages
rename() { "$(node_of "$1")" -e 'require("fs").renameSync(process.argv[1], process.argv[2])' "$1" "$2" </dev/null 2>/dev/null; }
works() { holds "$1" && runs "$1" && loads "$1"; }
tell folder "$root/$name"
if rename "$new" "$root/$name"; then tell placed new
elif works "$root/$name" 2>/dev/null; then drop; tell placed other
elif mv "$root/$name" "$new-old" && rename "$new" "$root/$name"; then drop; tell placed new
elif works "$root/$name" 2>/dev/null; then drop; tell placed other
else fail rename
fi
exit 0`,
  ].join('\n');

/** Removes all programs, and folders of ours that are empty then. */
export const buildRemoveScript = (): string =>
  `${FIND_ROOT}
rm -rf "$root" || { tell failed remove; exit 1; }
rmdir "$data/svc/runner" 2>/dev/null && rmdir "$data/svc" 2>/dev/null
exit 0`;
