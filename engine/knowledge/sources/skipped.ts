/** Why a file with a source extension is skipped. */
export const SKIP_REASONS = {
  submodule: 'in a git submodule, which is a repository by itself',
  vendored: 'third-party code (vendor, third_party, node_modules, linguist-vendored)',
  generated: 'generated (a marker at its start, linguist-generated)',
  minified: 'minified',
  too_large: 'larger than 2 MiB',
  link: 'a symbolic link, or below one',
  binary: 'binary',
  special: 'not a regular file',
  unreadable: 'not readable',
  too_many: 'beyond the first 200,000 files',
} as const;

export type SkipReason = keyof typeof SKIP_REASONS;

/** Number of skipped files by reason. */
export type SkipCounts = Partial<Record<SkipReason, number>>;

export function countSkipped(counts: SkipCounts, reason: SkipReason): void {
  counts[reason] = (counts[reason] ?? 0) + 1;
}

const VENDORED =
  /(?:^|\/)(?:node_modules|bower_components|jspm_packages|vendors?|third[_-]party|site-packages|Pods|Carthage|\.yarn|\.venv|\.bundle)\//;
const MINIFIED_NAME = /[.-](?:min|bundle)\.[cm]?js$/;

/** Manifests next to which a `vendor` folder has the code of others. */
const FETCHES = ['go.mod', 'go.work', 'composer.json', 'Gemfile', 'package.json', 'Cargo.toml'];

/**
 * Reports whether a `vendor` folder in a path is the project's own: below the top, and not next to a manifest whose
 * tool fills it.
 */
export function isOwnVendor(path: string, isListed: (path: string) => boolean): boolean {
  const folder = /^(.+?)\/vendors?\//.exec(path)?.[1];
  if (folder === undefined || VENDORED.test(path.replace(/\/vendors?\//, '/'))) return false;
  return !FETCHES.some((each) => isListed(`${folder}/${each}`));
}

/** Returns why a path is skipped by its name alone; null if it is not. */
export function judgePath(path: string): SkipReason | null {
  if (VENDORED.test(path)) return 'vendored';
  return MINIFIED_NAME.test(path) ? 'minified' : null;
}

/** Characters at the start of a file that may contain a generator's marker. */
const HEAD = 2000;
const MARKERS =
  /@generated\b|^.{0,8}Code generated .{0,200} DO NOT EDIT|<auto-?generated>|DO NOT EDIT(?: THIS FILE| MANUALLY|[.!]|$)|(?:this|the) (?:file|code) (?:is|was|has been) (?:auto(?:matically)?[- ]?)?generated\b/im;
/** A marker only counts in a comment: generators contain it in a string. */
const COMMENT_LINE = /^\s*(?:\/\/|\/?\*|#|--|;|<!--|"""|''')/;

const LONG_LINE = 2000;
const LONG_TEXT = 5000;
const LONG_AVERAGE = 300;

/** Returns why a text is not a source of the project; null if it is. */
export function judgeText(text: string): SkipReason | null {
  const head = text.slice(0, HEAD);
  if (MARKERS.test(head) && head.split('\n').some((line) => COMMENT_LINE.test(line) && MARKERS.test(line)))
    return 'generated';
  return text.length > LONG_TEXT && isMinified(text) ? 'minified' : null;
}

/** Reports whether a text has long lines throughout: a single long line, such as a data table, does not make a file minified. */
function isMinified(text: string): boolean {
  let lines = 0;
  let inLongLines = 0;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const next = end < 0 ? text.length : end;
    lines += 1;
    if (next - at > LONG_LINE) inLongLines += next - at;
    at = next + 1;
  }
  return text.length / lines > LONG_AVERAGE && inLongLines > text.length / 2;
}
