import { indentOf } from './shape.ts';

/** The lines of a text, and the same without what a build server puts before each. */
export interface CleanedLines {
  lines: readonly string[];
  bodies: readonly string[];
  /** The beginnings of all bodies that are not empty as one text, for looking through it at once. */
  body: string;
}

/** What stands before every line of a log that another program has taken down. */
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

/** Splits off the prefixes, each where most lines have it or, for what is inside of a build, where a line has it. */
export function readBodies(lines: readonly string[]): CleanedLines {
  let bodies = lines;
  const filled = lines.filter((line) => line !== '').length;
  for (const prefix of PREFIXES) {
    const having = bodies.reduce((count, line) => count + (prefix.test(line) ? 1 : 0), 0);
    const isInner = prefix.source.startsWith('^#');
    if (having > 3 && (isInner || having > filled * 0.6))
      bodies = bodies.map((line) => line.replace(prefix, ''));
  }
  // Without empty lines: a pattern that begins with blanks would try each run of them from every line of it.
  const beginnings = bodies.map(beginOf).filter((line) => line.trim() !== '');
  return { lines, bodies, body: beginnings.join('\n') };
}

const BEGINNING = 300;

/** Patterns look at this much of a line: what programs print of their own is short. */
export const beginOf = (line: string): string => (line.length > BEGINNING ? line.slice(0, BEGINNING) : line);

/** What belongs under a line: the lines below it that are indented further, to the next that is not. */
export function endOfBlock(bodies: readonly string[], at: number): number {
  const indent = indentOf(bodies[at] as string);
  let end = at + 1;
  while (end < bodies.length && bodies[end] !== '' && indentOf(bodies[end] as string) > indent) end += 1;
  return end;
}
