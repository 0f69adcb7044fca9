import { extname } from 'node:path';
import type { HLJSApi, LanguageFn } from 'highlight.js';
import { type StyledSpan, span, type TextStyle } from '../text/theme.ts';

type Load = () => Promise<{ default: LanguageFn }>;

/** The languages that are coloured, each loaded when a diff has a file of it. */
const LANGUAGES: Readonly<Record<string, { load: Load; extensions: readonly string[] }>> = {
  bash: { load: () => import('highlight.js/lib/languages/bash'), extensions: ['.sh', '.bash', '.zsh'] },
  c: { load: () => import('highlight.js/lib/languages/c'), extensions: ['.c', '.h'] },
  cpp: { load: () => import('highlight.js/lib/languages/cpp'), extensions: ['.cc', '.cpp', '.hpp', '.cxx'] },
  csharp: { load: () => import('highlight.js/lib/languages/csharp'), extensions: ['.cs'] },
  css: { load: () => import('highlight.js/lib/languages/css'), extensions: ['.css', '.scss', '.less'] },
  go: { load: () => import('highlight.js/lib/languages/go'), extensions: ['.go'] },
  ini: { load: () => import('highlight.js/lib/languages/ini'), extensions: ['.toml', '.ini'] },
  java: { load: () => import('highlight.js/lib/languages/java'), extensions: ['.java'] },
  javascript: {
    load: () => import('highlight.js/lib/languages/javascript'),
    extensions: ['.js', '.jsx', '.mjs', '.cjs'],
  },
  json: { load: () => import('highlight.js/lib/languages/json'), extensions: ['.json'] },
  kotlin: { load: () => import('highlight.js/lib/languages/kotlin'), extensions: ['.kt', '.kts'] },
  lua: { load: () => import('highlight.js/lib/languages/lua'), extensions: ['.lua'] },
  markdown: { load: () => import('highlight.js/lib/languages/markdown'), extensions: ['.md'] },
  php: { load: () => import('highlight.js/lib/languages/php'), extensions: ['.php'] },
  python: { load: () => import('highlight.js/lib/languages/python'), extensions: ['.py'] },
  ruby: { load: () => import('highlight.js/lib/languages/ruby'), extensions: ['.rb'] },
  rust: { load: () => import('highlight.js/lib/languages/rust'), extensions: ['.rs'] },
  sql: { load: () => import('highlight.js/lib/languages/sql'), extensions: ['.sql'] },
  swift: { load: () => import('highlight.js/lib/languages/swift'), extensions: ['.swift'] },
  typescript: {
    load: () => import('highlight.js/lib/languages/typescript'),
    extensions: ['.ts', '.tsx', '.mts', '.cts'],
  },
  xml: {
    load: () => import('highlight.js/lib/languages/xml'),
    extensions: ['.html', '.xml', '.svg', '.vue'],
  },
  yaml: { load: () => import('highlight.js/lib/languages/yaml'), extensions: ['.yaml', '.yml'] },
};

const languageOf = new Map(
  Object.entries(LANGUAGES).flatMap(([name, { extensions }]) =>
    extensions.map((each) => [each, name] as const),
  ),
);
const findLanguage = (path: string): string | undefined => languageOf.get(extname(path).toLowerCase());

let highlighter: HLJSApi | null = null;

/** Loads what colours the files of a diff. Until then, and for other languages, they have no colours. */
export async function loadLanguages(paths: readonly string[]): Promise<void> {
  const wanted = new Set(paths.flatMap((path) => findLanguage(path) ?? []));
  if (wanted.size === 0) return;
  highlighter ??= (await import('highlight.js/lib/core')).default;
  const { getLanguage, registerLanguage } = highlighter;
  await Promise.all(
    [...wanted]
      .filter((name) => getLanguage(name) === undefined)
      .map(async (name) => registerLanguage(name, (await LANGUAGES[name]!.load()).default)),
  );
}

/** Styles by the first part of a token's class. */
const STYLES: Readonly<Record<string, TextStyle>> = {
  keyword: 'keyword',
  literal: 'keyword',
  built_in: 'name',
  type: 'name',
  title: 'name',
  attr: 'name',
  section: 'name',
  property: 'name',
  string: 'string',
  regexp: 'string',
  subst: 'plain',
  number: 'number',
  comment: 'comment',
  doctag: 'comment',
  meta: 'comment',
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

/** Reads the spans of one text from the library's markup, which has nothing but spans and entities. */
function* readMarkup(markup: string): Generator<StyledSpan> {
  const styles: (TextStyle | undefined)[] = [undefined];
  for (const [part] of markup.matchAll(/<span class="[^"]*">|<\/span>|&[^;]+;|[^<&]+/g)) {
    const [, name] = /^<span class="hljs-([\w]+)/.exec(part) ?? [];
    if (name !== undefined) styles.push(STYLES[name] ?? styles.at(-1));
    else if (part === '</span>') styles.pop();
    else yield span(ENTITIES[part] ?? part, styles.at(-1));
  }
}

/** Colours the lines of a part of a file; null if its language is not loaded. A part starts without knowing the lines above. */
export function highlightLines(
  path: string,
  lines: readonly string[],
): readonly (readonly StyledSpan[])[] | null {
  const language = findLanguage(path);
  if (highlighter === null || language === undefined || highlighter.getLanguage(language) === undefined)
    return null;
  const { value } = highlighter.highlight(lines.join('\n'), { language, ignoreIllegals: true });
  const coloured: StyledSpan[][] = [[]];
  for (const { text, style } of readMarkup(value)) {
    const [first = '', ...others] = text.split('\n');
    const line = coloured.at(-1)!;
    const last = line.at(-1);
    if (last !== undefined && last.style === style) line[line.length - 1] = span(last.text + first, style);
    else line.push(span(first, style));
    for (const other of others) coloured.push([span(other, style)]);
  }
  return coloured;
}
