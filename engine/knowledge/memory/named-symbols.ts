/**
 * `parseTotal`, `open_tree`, `UserStore`, and names followed by `()`; no part of a path, and no name in capitals
 * only.
 */
const NAME = /(?<![\w/.$@-])(?:[A-Za-z_$][\w$]*\.)*([A-Za-z_$][\w$]*)(\(\))?(?![\w/$@-]|\.\w)/g;
const LOOKS_LIKE_CODE = /[a-z\d][A-Z]|[a-z\d]_[a-z\d]/;
const MOST = 12;

/** Returns names of code in a text, at most twelve. */
export function listNamedSymbols(text: string): string[] {
  const names = new Set<string>();
  for (const [, name = '', call] of text.slice(0, 8192).matchAll(NAME))
    if (name.length > 2 && (call !== undefined || LOOKS_LIKE_CODE.test(name))) names.add(name);
  return [...names].slice(0, MOST);
}
