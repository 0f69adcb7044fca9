/**
 * Reports from inside a sandbox which paths before `--` are writable, and which paths after it are visible. Nothing is
 * written and no file opened: the kernel only checks the access.
 */
export const TRIAL_SCRIPT = `while [ "$#" -gt 0 ] && [ "$1" != -- ]; do if [ -w "$1" ]; then printf 'open %s\\n' "$1"; fi; shift; done
for path; do if [ -e "$path" ]; then printf 'seen %s\\n' "$path"; fi; done
:`;

/** Returns what the lines of a trial's output say after a word. */
export const listTold = (told: string, word: string): string[] =>
  told.split('\n').flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));

/** Lists what `TRIAL_SCRIPT` found open, one sentence each. */
export const listOpenPaths = (told: string): string[] => [
  ...listTold(told, 'open').map((path) => `${path} is writable`),
  ...listTold(told, 'seen').map((path) => `${path} is visible`),
];
