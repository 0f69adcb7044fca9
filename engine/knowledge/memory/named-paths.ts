import type { NamedPath } from '../../core/workspace/workspace-path.ts';

/** `src/a.ts`, `./x/y`, `README.md`: with a folder, or with a file extension of code. */
const PATH =
  /(?<![\w:/.@-])(?:\.{0,2}\/)?(?:[\w@.+-]+\/)+[\w@.+-]+|(?<![\w:/.@-])[\w-]+\.(?:[cm]?[jt]sx?|json|ya?ml|toml|md|py|rs|go|java|kt|rb|php|cs|cpp|[ch]|sh|sql|html|css|lock)\b/g;
const MOST = 12;

/**
 * Returns paths in a text that no longer exist in the workspace; at most twelve are checked.
 * @param resolve throws for a path that the reader may not access
 */
export function listMissingPaths(
  text: string,
  resolve: (path: string) => NamedPath,
  statOf: (absolute: string) => object | null,
): string[] {
  const named = new Set(
    (text.slice(0, 8192).match(PATH) ?? []).map((each) => each.replace(/[.:]+$/, '')).filter(looksLikeFile),
  );
  return [...named].slice(0, MOST).filter((each) => {
    try {
      return statOf(resolve(each).absolute) === null;
    } catch {
      return false;
    }
  });
}

/** Reports whether a text looks like a path with a dot, or more than one folder: `and/or` and `n/a` are not files. */
const looksLikeFile = (path: string): boolean =>
  /\.[A-Za-z]\w*$/.test(path) || (path.match(/\//g)?.length ?? 0) > 1 || path.startsWith('./');
