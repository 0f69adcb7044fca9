import type { Language } from './languages.ts';

/**
 * Syntax that a grammar does not know yet. What is found is replaced by as many characters: blanks, or a semicolon in place
 * of the end of a line. No pattern looks further than what stands around a word, or a text of blanks would take for ever.
 */
type Repair = readonly [pattern: RegExp, by: ' ' | ';'];

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
];

const REPAIRS: Partial<Record<Language, readonly Repair[]>> = {
  tsx: TYPES,
  typescript: [
    ...TYPES,
    // A call signature below a member that ends without a semicolon.
    [/\n(?=[ \t]*<\s{0,80}[A-Za-z_$])(?<=[\w$>\])}"'/][ \t]*\r?\n)/g, ';'],
  ],
};

/** A text in which what the grammar cannot read is replaced, in the same places; null when there is nothing of the kind. */
export function repairText(language: Language, text: string): string | null {
  let repaired = text;
  for (const [pattern, by] of REPAIRS[language] ?? [])
    repaired = repaired.replace(pattern, (found) => by.repeat(found.length));
  return repaired === text ? null : repaired;
}
