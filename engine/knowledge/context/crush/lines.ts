import { indentOf } from './shape.ts';

/** The lines of a text, and the same lines without a build server's prefixes. */
export interface CleanedLines {
  lines: readonly string[];
  bodies: readonly string[];
  /** The starts of all nonempty bodies as one text, for searching it in one pass. */
  body: string;
}

/** Prefixes of every line in a log that another program recorded. */
const PREFIXES: readonly RegExp[] = [
  // GitHub Actions, docker logs -t, kubectl logs --timestamps
  /^\uFEFF?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d) /,
  // GitLab with timestamps
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z \d\d[OE][ +]?/,
  // Jenkins
  /^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\] ?/,
  // timestamper of several servers
  /^\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:? /,
  // docker compose
  /^[\w.-]+\s+\| /,
  // BuildKit
  /^#\d+ \d+\.\d+ /,
  // Valgrind
  /^==\d+== ?/,
];

/** Splits off the prefixes, each if most lines have it or, inside a build, per line. */
export function readBodies(lines: readonly string[]): CleanedLines {
  let bodies = lines;
  const filled = lines.filter((line) => line !== '').length;
  for (const prefix of PREFIXES) {
    const having = bodies.reduce((count, line) => count + (prefix.test(line) ? 1 : 0), 0);
    const isInner = prefix.source.startsWith('^#');
    if (having > 3 && (isInner || having > filled * 0.6))
      bodies = bodies.map((line) => line.replace(prefix, ''));
  }
  // Without empty lines: a pattern that starts with blanks would try each run of them from every line of it.
  const beginnings = bodies.map(beginOf).filter((line) => line.trim() !== '');
  return { lines, bodies, body: beginnings.join('\n') };
}

const BEGINNING = 300;

/** Patterns only inspect this much of a line: programs' own messages are short. */
export const beginOf = (line: string): string => (line.length > BEGINNING ? line.slice(0, BEGINNING) : line);

/** Returns the lines that belong to a line: the following lines with more indentation. */
export function endOfBlock(bodies: readonly string[], at: number): number {
  const indent = indentOf(bodies[at] as string);
  let end = at + 1;
  while (end < bodies.length && bodies[end] !== '' && indentOf(bodies[end] as string) > indent) end += 1;
  return end;
}
