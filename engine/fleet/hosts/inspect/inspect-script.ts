import { quoteForShell } from '../../../core/base/text.ts';

/** An agent program to look for. */
export interface WantedAgent {
  name: string;
  /** The program, by name or absolute. */
  program: string;
  /** Files or folders of its login, relative to the home. */
  loginFiles: readonly string[];
}

const PATH_MARK = 'svc-path:';

/** Reports the search path as the marked line of any shell: this text means the same in all of them. */
const PATH_COMMAND = `/bin/sh -c 'printf "\\n${PATH_MARK}%s:${PATH_MARK}\\n" "$PATH"'`;

/** Facts that need no programs of the person's. */
const SYSTEM_FACTS = `LC_ALL=C
export LC_ALL
tell() { printf '%s\\t%s\\n' "$1" "$2"; }
first() { head -n 1 | cut -c 1-200 | tr -d '\\t\\r'; }
if timeout -k 1 5 true >/dev/null 2>&1
then limit() { timeout -k 1 "$@"; }
else limit() { shift; "$@"; }
fi
tell system "$(uname -s)"
tell processor "$(uname -m)"
case $(getconf GNU_LIBC_VERSION 2>/dev/null) in
glibc*) tell libc glibc ;;
*) for file in /lib/ld-musl-*; do [ -e "$file" ] && tell libc musl && break; done ;;
esac
: "\${HOME:=$(cd ~ 2>/dev/null && pwd)}"
tell home "$HOME"
me=$(id -un 2>/dev/null)
shell=\${SHELL:-}
if [ ! -x "$shell" ]; then
  entry=$(getent passwd "$(id -u)" 2>/dev/null || grep "^$me:" /etc/passwd 2>/dev/null | head -n 1)
  shell=\${entry##*:}
fi
[ -x "$shell" ] || shell=/bin/sh
tell shell "$shell"
place=\${XDG_DATA_HOME:-}
case $place in /*) ;; *) place=$HOME/.local/share ;; esac
while [ ! -d "$place" ] && [ -n "$place" ]; do place=\${place%/*}; done
free=$(df -Pk "\${place:-/}" 2>/dev/null | { read -r _; read -r _ _ _ free _; printf %s "$free"; })
[ -n "$free" ] && tell freeKilobytes "$free"
if [ -d /run/systemd/system ] && [ -n "$me" ]
then if [ -e "/var/lib/systemd/linger/$me" ]; then tell linger yes; else tell linger no; fi
fi
tell processors "$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc)"
while read -r key value _; do [ "$key" = MemTotal: ] && tell memoryKilobytes "$value" && break; done </proc/meminfo 2>/dev/null`;

/**
 * Sets the search path of the person's shell: version managers set it in the start files of one kind of shell or the
 * other. A shell that fails, hangs or runs another one is tried as a login shell only, then left out.
 */
const SEARCH_PATH = `ask=${quoteForShell(PATH_COMMAND)}
pick() { sed -n 's/^${PATH_MARK}\\(.*\\):${PATH_MARK}.*$/\\1/p' | head -n 1; }
found=
case $shell in
*csh)
  found=$(printf '%s\\n' "$ask" | limit 10 "$shell" -l 2>/dev/null | pick)
  [ -n "$found" ] || found=$(limit 10 "$shell" -c "$ask" 2>/dev/null | pick)
  ;;
*)
  found=$(limit 10 "$shell" -l -i -c "$ask" 2>/dev/null | pick)
  [ -n "$found" ] || found=$(limit 10 "$shell" -l -c "$ask" 2>/dev/null | pick)
  ;;
esac
[ -n "$found" ] && PATH=$found
tell searchPath "$PATH"`;

/** Programs of the person's. */
const PROGRAM_FACTS = `find() { case $(command -v "$1" 2>/dev/null) in /*) command -v "$1" ;; *) return 1 ;; esac; }
node=$(limit 10 node -p 'process.execPath + ":" + process.version' 2>/dev/null | first)
[ -n "$node" ] && tell node "$node"
git=$(limit 10 git --version 2>/dev/null | first)
[ -n "$git" ] && tell git "$git"
if svc=$(find svc); then tell svc "$svc"; tell svcVersion "$(limit 10 "$svc" --version 2>/dev/null | first)"; fi
if find bwrap >/dev/null; then
  tell bubblewrap yes
  limit 10 bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts --ro-bind / / --dev /dev --proc /proc -- /bin/sh -c : 2>/dev/null && tell sandbox yes
fi
login() {
  for file do
    if [ -d "$HOME/$file" ]; then [ -n "$(ls -A "$HOME/$file" 2>/dev/null)" ] && { printf yes; return; }
    elif [ -s "$HOME/$file" ]; then printf yes; return
    fi
  done
  [ "$#" -gt 0 ] && printf no
}
agent() {
  number=$1
  path=$(find "$2") || return 0
  shift 2
  version=$(limit 15 "$path" --version 2>/dev/null | first)
  printf 'agent\\t%s\\t%s\\t%s\\t%s\\n' "$number" "$(login "$@")" "$version" "$path"
}`;

/** Builds the script that reports facts as lines `key<TAB>value`, and agents by their number in the list. */
export function buildInspectScript(agents: readonly WantedAgent[]): string {
  const calls = agents.map(
    ({ program, loginFiles }, number) =>
      `agent ${[String(number), program, ...loginFiles].map(quoteForShell).join(' ')} &`,
  );
  return [SYSTEM_FACTS, SEARCH_PATH, PROGRAM_FACTS, ...calls, 'wait', 'exit 0'].join('\n');
}
