import { posix } from 'node:path';

// Separate from the check, because an engine loads its word lists only in the thread of the guard.

/** The languages of a project (ISO 639-1); null if any is fine. */
export interface WantedLanguages {
  /** Of documents: `workspace.locale`. */
  prose: string | null;
  /** Of comments, names and strings: `workspace.code_lang`. */
  code: string | null;
  /** `guard.language.exclude`: files, folders and patterns that are not checked. */
  exclude: readonly string[];
}

/** Reports whether a path, relative to its project, is a listed file, is below a listed folder or matches a pattern. */
export const isExcluded = (path: string, exclude: readonly string[]): boolean =>
  exclude.some(
    (each) => path === each || path.startsWith(each.replace(/\/*$/, '/')) || posix.matchesGlob(path, each),
  );

const DOCUMENT = /\.(?:md|mdx|markdown|rst|adoc|txt)$/i;

/** Reports whether a file is a document, by its name. */
export const isDocument = (path: string): boolean => DOCUMENT.test(path);

/** Returns the language of a locale, such as `de`, `de-DE` or `de_DE.UTF-8`; null if it names none. */
export function readLocale(locale: string): string | null {
  if (locale.trim() === '') return null;
  try {
    return new Intl.Locale(locale.replace(/[.@].*$/, '').replaceAll('_', '-')).language;
  } catch {
    return null;
  }
}
