import type { SourceLanguage } from './languages.ts';

/**
 * Syntax that a grammar does not support yet. Each match is replaced by the same number of characters: blanks, or
 * letters of a name. Patterns only inspect the surroundings of a word, because a text of blanks would take forever
 * otherwise.
 */
type Repair = readonly [pattern: RegExp, by: ' ' | 'x'];

const GAP = String.raw`(?:\s|\/\/[^\n]{0,400}\n|\/\*(?:[^*]|\*(?!\/)){0,400}\*\/)`;
const VARIANCE = String.raw`(?:in\s+out|in|out)`;

const TYPES: readonly Repair[] = [
  // `<in out A, out B>`
  [
    new RegExp(
      String.raw`\b${VARIANCE}(?=\s{1,80}[A-Za-z_$][\w$]*\s{0,80}(?:extends\b|[=,>]))(?<=[<,]${GAP}{0,80}(?:const\s+)?${VARIANCE})`,
      'g',
    ),
    ' ',
  ],
  [/\btype(?=\s{1,80}\*)(?<=^export[ \t]+type)/gm, ' '],
  [/\baccessor(?=\s)(?<=\babstract[ \t]+accessor)/g, ' '],
  // A type named `type`, in parentheses.
  [/\btype(?=\s{1,80}extends\b)(?<=\(\s{0,80}type)/g, 'x'],
  // `` `a \`b\`` `` as a type
  [/\\`/g, 'x'],
  // A member named `in`, after a member without a semicolon.
  [/\bin(?=\??:)(?<=\n[ \t]{1,80}in)/g, 'x'],
  // `import('./a').B` as the type of a parameter
  [/\bimport\(['"][^'"\n]{1,400}['"]\)\.(?=[A-Z])(?<=[:<|&,]\s{0,80}import\([^\n]{1,400})/g, 'x'],
];

const REPAIRS: Partial<Record<SourceLanguage, readonly Repair[]>> = { tsx: TYPES, typescript: TYPES };

/** The possible ends of a type member that is followed by another one without a semicolon. */
const MEMBER_END = /[\w$\])}"'>]/;
/** Comments between two members, and characters of one. */
const MOST_COMMENTS = 8;
const MOST_COMMENT = 6000;
/** Maximum per text. */
const MOST_SIGNATURES = 5000;

/** Returns the last character before a position that is neither blank nor in a comment on separate lines; -1 for none. */
function findBefore(text: string, from: number): number {
  let at = from;
  for (let comments = 0; comments <= MOST_COMMENTS && at > 0; comments += 1) {
    while (at > 0 && /\s/.test(text[at - 1]!)) at -= 1;
    const line = text.slice(Math.max(text.lastIndexOf('\n', at - 1) + 1, at - 400), at);
    if (text.startsWith('*/', at - 2)) {
      const from = Math.max(0, at - MOST_COMMENT);
      const begin = text.slice(from, at - 2).lastIndexOf('/*');
      if (begin < 0) return -1;
      at = from + begin;
    } else if (/^\s*\/\//.test(line)) at -= line.length;
    else return at - 1;
  }
  return -1;
}

/** Repairs a call signature after a member without a semicolon, which would be parsed as type arguments. */
function repairCallSignatures(text: string): string {
  let found = 0;
  return text.replace(/(?<=\n[ \t]{0,200})[ \t](?=<\s{0,80}[A-Za-z_$])/g, (blank, at: number) => {
    found += 1;
    if (found > MOST_SIGNATURES) return blank;
    const before = findBefore(text, at);
    const ends = MEMBER_END.test(text[before] ?? '') && !text.startsWith('=>', before - 1);
    return ends ? ';' : blank;
  });
}

/** Replaces unsupported syntax in a text and keeps all positions; null if there is none. */
export function repairText(language: SourceLanguage, text: string): string | null {
  let repaired = language === 'typescript' ? repairCallSignatures(text) : text;
  for (const [pattern, by] of REPAIRS[language] ?? [])
    repaired = repaired.replace(pattern, (found) => by.repeat(found.length));
  return repaired === text ? null : repaired;
}
