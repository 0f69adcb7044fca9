import { redactSecrets } from '../../core/base/redact.ts';

/** The replacement for a stored text in a context. */
export interface StubFacts {
  id: string;
  bytes: number;
  lines: number;
  kind: string;
  exitCode: number | null;
  /** Milliseconds without a read after which it expires; 0 for never. */
  idleMs: number;
}

/** Characters shown of the start, and of the end. */
const SHOWN = 700;
const LONGEST_LINE = 240;

const EXIT_CODES: readonly RegExp[] = [
  /\bexit(?:ed)?(?: with)?(?: code| status)?(?: is)?[:= ] ?\(?(\d{1,3})\b/gi,
  /\b(?:exit|return|status)[ _-]?code[:= ]+(\d{1,3})\b/gi,
  /\bnon-zero code: (\d{1,3})\b/gi,
  /^make(?:\[\d+\])?: \*\*\* .* Error (\d{1,3})$/gm,
];
/** Lines in which a program reports its end. */
const ENDING = 2000;

/** Returns the exit code in the end of a program's output; null if there is none. */
export function findExitCode(text: string): number | null {
  const end = text.slice(-ENDING);
  let found: { at: number; code: number } | null = null;
  for (const pattern of EXIT_CODES)
    for (const match of end.matchAll(pattern)) {
      const code = Number(match[1]);
      if (code <= 255 && (found === null || match.index > found.at)) found = { at: match.index, code };
    }
  return found?.code ?? null;
}

/** Explains how to get the whole stored text back. */
export const explainRetrieval = (id: string): string => `context_retrieve ${id}`;

/** Describes a text, how to get it back, and its start and end. `shown` may be crushed; its secrets are removed. */
export function composeStub({ id, bytes, lines, kind, exitCode, idleMs }: StubFacts, shown: string): string {
  const facts = [
    `${bytes} bytes`,
    `${lines} ${lines === 1 ? 'line' : 'lines'}`,
    ...(kind === 'text' ? [] : [kind]),
    ...(exitCode === null ? [] : [`exit code ${exitCode}`]),
  ];
  const until = idleMs === 0 ? '' : `, until it has been unread for ${Math.round(idleMs / 60_000)} min`;
  const head = `[svc-stored: ${id}, ${facts.join(', ')}; all: ${explainRetrieval(id)}${until}]`;
  return `${head}\n${takeEnds(redactSecrets(shown).text)}`;
}

/** Returns the text, or its first and last lines. */
function takeEnds(text: string): string {
  const lines = text.replace(/\s+$/, '').split('\n');
  const cutLine = (line: string): string =>
    line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE).toWellFormed()}…` : line;
  const first = countFitting(lines, cutLine);
  const rest = lines.slice(first);
  const last = countFitting(rest.toReversed(), cutLine);
  const between = rest.length - last;
  return [
    ...lines.slice(0, first).map(cutLine),
    ...(between > 0 ? [`[${between} ${between === 1 ? 'line' : 'lines'} not shown]`] : []),
    ...rest.slice(between).map(cutLine),
  ].join('\n');
}

/** Returns the number of shown lines from the first one. */
function countFitting(lines: readonly string[], cut: (line: string) => string): number {
  let left = SHOWN;
  let count = 0;
  for (const line of lines) {
    left -= cut(line).length + 1;
    if (left < 0) break;
    count += 1;
  }
  return count;
}
